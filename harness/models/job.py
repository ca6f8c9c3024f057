"""A check of a model as data, and the messages of the process that runs it."""

import msgspec

from relaxcheck.harness.models.report import Report


class Job(msgspec.Struct, frozen=True):
    """A check of one model, with the fixes on or off.

    ``model`` and ``data`` are as the user names them, an ``.npz`` of inputs or "". ``sizes`` are
    those of symbolic dimensions to run at. ``draws`` is how many inputs are drawn at the model's
    own sizes. With ``nodes`` every node is run on its own, even if the model is right.
    ``again``: an earlier check ended its process. Everything that may do so runs in children, and
    the part of the model that does is looked for.
    """

    model: str
    data: str = ""
    sizes: dict[str, tuple[int, ...]] = msgspec.field(default_factory=dict)
    fixes: bool = False
    pipeline: str = "default-pipeline"
    target: str = "llvm"
    seed: int = 0
    draws: int = 2
    nodes: bool = False
    again: bool = False


class Progress(msgspec.Struct, frozen=True, tag="progress"):
    """A stage begins: of the check, as in ``run the nodes``, or a pass of TVM's."""

    stage: str


class Known(msgspec.Struct, frozen=True, tag="known"):
    """The report as far as it is known; the last one counts."""

    report: Report
    complete: bool = False


Message = Progress | Known
