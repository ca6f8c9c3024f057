"""How PyTorch programs are exported, imported, compiled and fed: the axes that families share."""

from collections.abc import Mapping, Sequence

from relaxcheck.generators.core.axes import Axis, Point, meant_for, without_run
from relaxcheck.generators.core.case import Value
from relaxcheck.generators.core.program import USUAL_REGIMES
from relaxcheck.generators.torch.case import (
    BOUNDED,
    DYNAMO,
    FX,
    NAMED,
    Exporting,
    Importing,
    TorchCase,
)
from relaxcheck.generators.torch.program import Program

PREFIX = "torch"
"""The names of all families of PyTorch programs begin with it."""

EXPORT, IMPORT, DIMS = "export", "import", "dims"

STATIC = "static"
"""The value of the axis ``dims`` at which no dimension is symbolic."""

EXPORTING = {
    "decomposed": Exporting(),
    "undecomposed": Exporting(decomposed=False),
    "named": Exporting(NAMED),
    "bounded": Exporting(BOUNDED),
    "named-undecomposed": Exporting(NAMED, decomposed=False),
}
"""The settings of export, by the values of the axis ``export``; ``AUTO`` where none is named."""

IMPORTING = {
    "plain": Importing(),
    "keep-params": Importing(keep_params=True),
    "unwrap": Importing(unwrap=True),
    "no-bind": Importing(no_bind=True),
    "fx": Importing(FX),
    "dynamo": Importing(DYNAMO),
}
"""TVM's door and the arguments of its importer, by the values of the axis ``import``."""

PIPELINES = ("build", "default-pipeline", "fixes-pipeline")
"""The pipelines that programs are compiled by, where they are not chosen."""


def served(pipelines: Sequence[str]) -> tuple[str, ...]:
    """Those of ``pipelines`` that programs are compiled by; all, where none of them is."""
    return meant_for(PIPELINES, pipelines) or tuple(pipelines)


def running_axes(pipelines: Sequence[str], regimes: Sequence[str] = ()) -> tuple[Axis, ...]:
    """The axes of export, the importer's arguments, the pipelines, and the inputs' ``regimes``.

    Dimensions have names only where the earlier axis ``dims`` makes some symbolic, and the doors
    that take no exported program get static shapes.
    """
    own = tuple(regimes) or (*USUAL_REGIMES, "special")
    return (
        Axis(
            EXPORT,
            tuple(EXPORTING),
            "decomposed",
            _exports,
            default_weight=4,
            weights={"undecomposed": 2},
        ),
        Axis(IMPORT, tuple(IMPORTING), "plain", _imports, default_weight=6),
        Axis("pipeline", tuple(pipelines), pipelines[0], default_weight=2),
        Axis("opt_level", (0, 3), 0, default_weight=19, steered=False),
        Axis("regime", own, own[0], default_weight=4, weights={"exact": 4}),
    )


def _exports(point: Point, value: Value) -> bool:
    named = EXPORTING[str(value)].dynamic in (NAMED, BOUNDED)
    return not named or point.get(DIMS) != STATIC


def _imports(point: Point, value: Value) -> bool:
    other = IMPORTING[str(value)].door in (FX, DYNAMO)
    return not other or (
        point.get(DIMS, STATIC) == STATIC and point.get(EXPORT, "decomposed") == "decomposed"
    )


def case_at(
    name: str, point: Point, seed: int, program: Program, bindings: Sequence[Mapping[str, int]]
) -> TorchCase:
    """The case about ``program`` at ``point`` of the family ``name``."""
    return TorchCase(
        name,
        program,
        tuple(dict(row) for row in bindings),
        EXPORTING[str(point[EXPORT])],
        IMPORTING[str(point[IMPORT])],
        str(point["pipeline"]),
        int(str(point["opt_level"])),
        str(point["regime"]),
        seed=seed,
        at=without_run(point),
    )
