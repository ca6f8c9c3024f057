"""Make a piece of the framework's nodes, which fails as a part of the model does."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from msgspec.structs import replace

from relaxcheck.generators.core.values import Array
from relaxcheck.generators.onnx.case import OnnxCase
from relaxcheck.generators.onnx.reading import Unreadable
from relaxcheck.harness.models.compiling import Way
from relaxcheck.harness.models.fault import Fault
from relaxcheck.harness.models.faults import SECONDS, Died, asked
from relaxcheck.harness.models.pieces.calls import TorchPiece
from relaxcheck.harness.models.pieces.captured import Captured
from relaxcheck.harness.models.pieces.onnx import onnx_piece
from relaxcheck.harness.models.pieces.running import fault_of_piece
from relaxcheck.harness.models.pieces.torch import NoPiece, tensors_of, torch_piece
from relaxcheck.harness.models.sources import OnnxSource, Source, TorchSource
from relaxcheck.harness.onnx.execute import execute
from relaxcheck.harness.outcomes.errors import normalise
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.harness.triage.curing import Names
from relaxcheck.harness.workers.switching import only_fixes

WRONG = (Verdict.WRONG_VALUE, Verdict.WRONG_SHAPE, Verdict.WRONG_DTYPE)
"""Verdicts on programs that run."""

_WITH_FIXES = {"build": "fixes-build", "default-pipeline": "fixes-pipeline"}
"""The pipelines that have the passes of the fixes, where these are on."""


@dataclass(frozen=True, slots=True)
class Taken:
    """The nodes of a piece by name, those whose values it returns, and the inputs of the run.

    ``captured`` are the values, with dimensions, that it may start from, by the framework's name.
    """

    nodes: Sequence[str]
    outputs: Sequence[str]
    arrays: Sequence[Array]
    captured: Mapping[str, Captured]


def piece_of(
    source: Source, taken: Taken, fault: Fault, way: Way, seconds: float = SECONDS
) -> OnnxCase | TorchPiece | None:
    """The nodes of ``source`` as a case, or as calls, with the same ``fault``; None if none has it.

    Each candidate runs in a child process of at most ``seconds``.
    """
    try:
        if isinstance(source, OnnxSource):
            return _case(source, taken, fault, way, seconds)
        if isinstance(source, TorchSource):
            return _calls(source, taken, fault, way, seconds)
    except (Unreadable, NoPiece):
        # Neither a case nor plain calls can say what these nodes do.
        return None
    return None


def is_right(
    piece: OnnxCase | TorchPiece, way: Way, names: Names, seconds: float = SECONDS
) -> bool:
    """True if ``piece`` is right, in a child process, with the fixes ``names`` alone."""

    def question(progress: Callable[[str], None]) -> bool:
        with only_fixes(names):
            if isinstance(piece, OnnxCase):
                return execute(_with_fixes(piece), progress).verdict is Verdict.PASS
            fixed = Way(way.pipeline, True, way.target, way.plain)
            return fault_of_piece(piece, fixed, progress) is None

    try:
        return asked(question, seconds, bool)
    except Died:
        return False


def _case(
    source: OnnxSource, taken: Taken, fault: Fault, way: Way, seconds: float
) -> OnnxCase | None:
    def as_run(case: OnnxCase) -> OnnxCase:
        return _with_fixes(case) if way.fixes else case

    def alike(case: OnnxCase) -> bool:
        return _same(_outcome(as_run(case), seconds), fault)

    borders = {name: each for name, each in taken.captured.items() if name not in taken.nodes}
    piece = onnx_piece(source.model, taken.outputs, borders, alike, pipeline=way.pipeline)
    return None if piece is None else as_run(piece.case)


def _with_fixes(case: OnnxCase) -> OnnxCase:
    return replace(case, fixes=True, pipeline=_WITH_FIXES[case.pipeline])


def _outcome(case: OnnxCase, seconds: float) -> Outcome:
    try:
        return asked(lambda progress: execute(case, progress), seconds, Outcome)
    except Died as death:
        return Outcome(death.fault.verdict, death.fault.stage, None, death.fault.message)


def _same(outcome: Outcome, fault: Fault) -> bool:
    """True if ``outcome`` is the ``fault``: in verdict, and in words where TVM raised."""
    if fault.verdict in (*WRONG, Verdict.SILENT_BAIL, Verdict.PROCESS_DEATH, Verdict.TIMEOUT):
        return outcome.verdict is fault.verdict
    return outcome.verdict.is_failure and normalise(outcome.message) == fault.folded


def _calls(
    source: TorchSource, taken: Taken, fault: Fault, way: Way, seconds: float
) -> TorchPiece | None:
    graph = source.program().graph
    values = source.steps(taken.arrays, tensors_of(graph, taken.nodes)).own
    for static, keeps in product((False, True), (False, True)):
        piece = torch_piece(graph, taken.nodes, taken.outputs, values, keeps=keeps, static=static)
        if fault.alike(_fault(piece, way, seconds)):
            return piece
    return None


def _fault(piece: TorchPiece, way: Way, seconds: float) -> Fault | None:
    def question(progress: Callable[[str], None]) -> Fault | None:
        return fault_of_piece(piece, way, progress)

    try:
        return asked(question, seconds, Fault | None)  # type: ignore[arg-type]
    except Died as death:
        return death.fault
