"""The second operand of operators that broadcast two: how its shape relates to the first one's."""

from collections.abc import Sequence

from relaxcheck.generators.core.axes import Axis, Point
from relaxcheck.generators.core.dims import Dim, symbols
from relaxcheck.generators.core.draft import Draft, Value
from relaxcheck.generators.core.fills.kinds import Fill
from relaxcheck.generators.core.operand import FitsDims
from relaxcheck.generators.core.points import text, toggle

_OTHERS = (
    *("alike", "itself", "scalar", "rank zero", "trailing"),
    *("thin first", "thin last", "wide", "deeper"),
)

_NEW = ("alike", "trailing", "thin first", "thin last", "wide", "deeper")
"""Those that are an input with axes."""


def _possible(shape: Sequence[Dim], other: str) -> bool:
    match other:
        case "trailing":
            return len(shape) > 1
        case "thin first":
            return len(shape) > 0 and shape[0] != 1
        case "thin last":
            return len(shape) > 1 and shape[-1] != 1
        case "wide":
            return 1 in shape
        case "deeper":
            return len(shape) < 4
    return True


def _may_be_constant(shape: Sequence[Dim], other: str, constant: bool) -> bool:
    return not constant or (other in _NEW and not any(map(symbols, shape)))


def partner_axes(*, itself: bool = True) -> tuple[Axis, ...]:
    """The axes of the other operand: its shape, relative to the one at hand, and its constancy.

    ``trailing`` lacks the first axis, ``thin`` ones have size 1 along one axis, ``wide`` has size 3
    where the operand at hand has 1, ``deeper`` has one more axis in front.
    """
    others = tuple(other for other in _OTHERS if itself or other != "itself")
    return (
        Axis("other", others, "alike", FitsDims(_possible)),
        Axis(
            "other_constant", (False, True), False, FitsDims(_may_be_constant, ("other",)),
            default_weight=2, least=(False,),
        ),
    )  # fmt: skip


SWAPPED = toggle("swapped")
"""On where the operand at hand is the second one."""


def partner(
    draft: Draft, value: Value, point: Point, fill: Fill | None = None
) -> tuple[Value, tuple[Dim, ...]]:
    """The other operand at ``point``, filled by ``fill``, and the shape that both broadcast to.

    Raises:
        Unfit: a dimension is too long.
    """
    shape, joint = value.shape, value.shape
    match text(point, "other"):
        case "itself":
            return value, joint
        case "scalar":
            return draft.scalar(0.5 if "float" in value.dtype else 2, value.dtype), joint
        case "rank zero":
            shape = ()
        case "trailing":
            shape = shape[1:]
        case "thin first":
            shape = (1, *shape[1:])
        case "thin last":
            shape = (*shape[:-1], 1)
        case "wide":
            shape = joint = tuple(3 if dim == 1 else dim for dim in shape)
        case "deeper":
            shape = joint = (2, *shape)
    constant = bool(point["other_constant"])
    return draft.operand(shape, value.dtype, fill=fill, constant=constant), joint
