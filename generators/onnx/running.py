"""How models are imported, compiled and fed: the axes that all their families share."""

from collections.abc import Mapping, Sequence

from relaxcheck.generators.core.axes import Axis, Point, meant_for, without_run
from relaxcheck.generators.core.program import USUAL_REGIMES
from relaxcheck.generators.onnx.case import Importing, OnnxCase
from relaxcheck.generators.onnx.model import Model

PREFIX = "onnx"
"""The names of all families of models begin with it."""

IMPORT = "import"
IMPORTING = {
    "plain": Importing(),
    "keep-params": Importing(keep_params=True),
    "shapes": Importing(shapes=True),
    "opset": Importing(opset=True),
    "unsanitized": Importing(sanitize=False),
}
"""The arguments of the importer, by the values of the axis ``import``."""

PIPELINES = ("build", "default-pipeline", "fixes-pipeline")
"""The pipelines that models are compiled by, where they are not chosen."""


def served(pipelines: Sequence[str]) -> tuple[str, ...]:
    """Those of ``pipelines`` that models are compiled by; all, where none of them is."""
    return meant_for(PIPELINES, pipelines) or tuple(pipelines)


def running_axes(pipelines: Sequence[str], regimes: Sequence[str] = ()) -> tuple[Axis, ...]:
    """The axes of the importer's arguments, the pipelines, and the inputs' ``regimes``."""
    own = tuple(regimes) or (*USUAL_REGIMES, "special")
    return (
        Axis(IMPORT, tuple(IMPORTING), "plain", default_weight=2),
        Axis("pipeline", tuple(pipelines), pipelines[0], default_weight=2),
        Axis("opt_level", (0, 3), 0, default_weight=19, steered=False),
        Axis("regime", own, own[0], default_weight=4, weights={"exact": 4}),
    )


def case_at(
    name: str, point: Point, seed: int, model: Model, bindings: Sequence[Mapping[str, int]]
) -> OnnxCase:
    """The case about ``model`` at ``point`` of the family ``name``."""
    importing = IMPORTING[str(point[IMPORT])]
    rows = tuple(dict(row) for row in bindings)
    return OnnxCase(
        name,
        model,
        rows[:1] if importing.shapes else rows,
        importing,
        str(point["pipeline"]),
        int(str(point["opt_level"])),
        str(point["regime"]),
        seed=seed,
        at=without_run(point),
    )
