"""The result of a check of a model, as data for people and programs."""

import enum
import math

import msgspec

from relaxcheck.generators.onnx.case import OnnxCase
from relaxcheck.harness.models.fault import Fault
from relaxcheck.harness.models.judging import Measured
from relaxcheck.harness.models.pieces.calls import TorchInput, TorchPiece


class Verdict(enum.StrEnum):
    """The end of a check."""

    RIGHT = "right"
    WRONG = "wrong"
    IMPORT = "import-fails"
    COMPILE = "compile-fails"
    RUN = "run-fails"
    DIED = "died"
    TIMEOUT = "timeout"
    EXPORTER = "exporter-differs"
    INTERRUPTED = "interrupted"
    BAD_INPUT = "bad-input"

    @property
    def is_fault(self) -> bool:
        """True if TVM is at fault."""
        return self in _FAULTS


_FAULTS = (
    Verdict.WRONG,
    Verdict.IMPORT,
    Verdict.COMPILE,
    Verdict.RUN,
    Verdict.DIED,
    Verdict.TIMEOUT,
)


class Blame(enum.StrEnum):
    """The part of TVM that makes a step wrong."""

    IMPORTER = "importer"
    LOWERING = "lowering"
    EITHER = "importer or lowering"
    COMPILER = "compiler"


class Ratio(msgspec.Struct, frozen=True):
    """An output, or a step, against the framework; see ``harness.models.judging``.

    ``ratio`` is None, which JSON can hold, where it is infinite.
    """

    name: str
    ratio: float | None
    error: float = 0.0
    own: float = 0.0
    scale: float = 0.0
    difference: str = ""

    @property
    def factor(self) -> float:
        """The ratio as a number."""
        return math.inf if self.ratio is None else self.ratio


def ratio(name: str, measured: Measured) -> Ratio:
    """``measured`` as a part of a report."""
    size = measured.ratio if math.isfinite(measured.ratio) else None
    return Ratio(name, size, measured.error, measured.own, measured.scale, measured.difference)


class Trial(msgspec.Struct, frozen=True):
    """A run of the whole model: the sizes, the ``inputs`` in words, and all outputs."""

    binding: dict[str, int]
    inputs: str
    outputs: tuple[Ratio, ...]
    right: bool


class Node(msgspec.Struct, frozen=True):
    """A wrong step: the framework's node, the Relax expression, and how far it is off.

    ``blame`` says which part of TVM makes it wrong; ``reason`` says how that is known. It
    ``differs`` in "shape", "dtype" or "value".
    """

    name: str
    operator: str
    text: str
    relax: str
    figures: Ratio
    blame: Blame | None = None
    reason: str = ""
    differs: str = "value"


class Lacking(msgspec.Struct, frozen=True):
    """An operator that the importer lacks, and its nodes."""

    operator: str
    count: int
    nodes: tuple[str, ...]


class Place(msgspec.Struct, frozen=True):
    """Where importing or compiling fails: a node, and the types of its operands."""

    node: str
    operator: str
    operands: tuple[str, ...] = ()
    message: str = ""


class Trap(msgspec.Struct, frozen=True):
    """A node that is known to go wrong, by the ``sentence``; ``fixes`` are made for it.

    ``followers`` counts the Relax bindings that have no shape because this one has none.
    """

    name: str
    node: str
    operator: str
    sentence: str
    fixes: tuple[str, ...] = ()
    followers: int = 0


class Failing(msgspec.Struct, frozen=True):
    """A node that does not compile by itself, and the telling line of the error.

    ``behind`` is the node at which the shape of an operand was lost, "" if none was.
    """

    node: str
    operator: str
    message: str
    behind: str = ""


class Piece(msgspec.Struct, frozen=True):
    """The smallest part of the model that fails as the model does.

    ``nodes`` of the framework's graph make it, of ``operators``. It is a ``case``, or ``calls``, if
    these nodes fail in the same way by themselves; ``module`` is the part as TVMScript, ``inputs``
    are the values of its parameters and ``expected`` the framework's of its outputs, where they are
    known and not too many. The search took ``tries``; without ``minimal`` it ended early.
    """

    nodes: tuple[str, ...]
    operators: tuple[str, ...]
    fault: Fault
    module: str
    tries: int = 0
    minimal: bool = True
    case: OnnxCase | None = None
    calls: TorchPiece | None = None
    inputs: tuple[TorchInput, ...] = ()
    expected: tuple[TorchInput, ...] = ()


class Near(msgspec.Struct, frozen=True):
    """A node near the piece, ``inside`` it or around: its operands by name, and its type in TVM."""

    node: str
    operator: str
    operands: tuple[str, ...] = ()
    type: str = ""
    inside: bool = False


class Cure(msgspec.Struct, frozen=True):
    """The ``fixes`` with which a piece is right, none of them idle; () where all do not cure it.

    ``faults`` and ``issues`` are what they mend, and the upstream reports of that. ``whole``: with
    them alone the whole model is right; None where that was not tried. ``entries`` are those of the
    corpus that fail in the same way, in an operator of the piece that these fixes mend.
    """

    fixes: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()
    issues: tuple[str, ...] = ()
    whole: bool | None = None
    entries: tuple[str, ...] = ()


class Report(msgspec.Struct, frozen=True):
    """The result for one release, with the fixes on or off.

    ``stage`` is the one that TVM was in: ``import``, a pass, ``codegen`` or ``run``. ``message``
    is its error, or a sentence. ``checked`` of the ``nodes`` of the framework's graph were run
    on their own; nothing is known of those ``behind``, which use the result of a node of wrong
    shape or dtype. ``region`` names the nodes of a part that is wrong only as a whole, and that is
    right without any one of the ``passes``. ``special`` says where NaN or infinity first arises.
    ``skipped`` are sizes at which the framework itself fails. ``seconds`` are by stage.
    """

    model: str
    framework: str
    verdict: Verdict
    release: str = ""
    fixes: bool = False
    pipeline: str = "default-pipeline"
    target: str = "llvm"
    stage: str = ""
    message: str = ""
    nodes: int = 0
    checked: int = 0
    behind: int = 0
    trials: tuple[Trial, ...] = ()
    wrong: tuple[Node, ...] = ()
    region: tuple[str, ...] = ()
    passes: tuple[str, ...] = ()
    special: str = ""
    lacking: tuple[Lacking, ...] = ()
    place: Place | None = None
    skipped: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    versions: dict[str, str] = msgspec.field(default_factory=dict)
    seconds: dict[str, float] = msgspec.field(default_factory=dict)
    traps: tuple[Trap, ...] = ()
    failing: tuple[Failing, ...] = ()
    piece: Piece | None = None
    near: tuple[Near, ...] = ()
    cure: Cure | None = None
