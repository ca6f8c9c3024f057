"""Gradients of operators that read elements: each element gets all that was made of it."""

from collections.abc import Sequence

from relaxcheck.generators.core import program
from relaxcheck.generators.core.axes import Axis, Point
from relaxcheck.generators.core.dims import Dim
from relaxcheck.generators.core.draft import Draft, Value
from relaxcheck.generators.core.fills.kinds import Below
from relaxcheck.generators.core.operand import Fits, at_least
from relaxcheck.generators.core.points import integer, text
from relaxcheck.generators.operators.choices import extent, extent_choice, replaced
from relaxcheck.generators.operators.faults import (
    PLAIN,
    argument_dtype,
    argument_grown,
    argument_rank,
    axis_out_of_range,
)
from relaxcheck.generators.operators.record import Attribute, Numerics, Operand, Operator

_TAKE = "grad.take_backward"
_INTEGERS = ("int64", "int32")


def _take_backward(draft: Draft, value: Value, point: Point) -> None:
    axis = None if point["axis"] is None else integer(point, "axis")
    at = (axis or 0) % value.rank
    draft.require(value.shape[at], 1)
    size = extent(draft, value, point, "count")
    shape: tuple[Dim, ...] = {"vector": (size,), "matrix": (2, size), "scalar": ()}[
        text(point, "indices")
    ]
    gradient = draft.operand(replaced(value.shape, at, *shape), value.dtype)
    places = draft.operand(shape, text(point, "index_dtype"), fill=Below(value.shape[at]))
    attributes: dict[str, program.Attribute] = {} if axis is None else {"axis": axis}
    draft.call(_TAKE, [gradient, value, places], value.shape, **attributes)


def _axis_fits(shape: Sequence[Dim], axis: int | None) -> bool:
    if axis is None:
        return len(shape) == 1 and at_least(shape[0], 1)
    return -len(shape) <= axis < len(shape) and at_least(shape[axis], 1)


_PINNED: Point = {**PLAIN, "rank": 2, "axis": 0, "indices": "vector", "count": 3}

OPERATORS = (
    Operator(
        _TAKE,
        meaning="The gradient of take in x, of which the dtype and shape alone count: each "
        "element is the sum of output_grad over all places that read it.",
        source=f"docstring of relax.op.{_TAKE}; torch.autograd; MEANINGS.md, Losses and gradients",
        operands=(
            Operand("output_grad", ranks=(1, 2, 3, 4, 5)),
            Operand("x", ranks=(2, 1, 3, 4)),
            Operand("indices", ranks=(0, 1, 2), dtypes=_INTEGERS),
        ),
        at_hand=1,
        attributes=(Attribute("axis", "axis", None),),
        axes=(
            Axis("axis", (0, -1, 1, 2, -2, -3, None), 0, Fits(_axis_fits), default_weight=4),
            Axis("indices", ("vector", "matrix", "scalar"), "vector", default_weight=4),
            extent_choice("count", (3, 1, 0, "first", "symbol")),
            Axis("index_dtype", _INTEGERS, "int64"),
        ),
        apply=_take_backward,
        numerics=Numerics.ACCUMULATES,
        requires="indices from 0 to the size of the axis less 1",
        operand_fits=lambda shape: any(at_least(dim, 1) for dim in shape),
        faults=(
            axis_out_of_range(_TAKE, pinned=_PINNED),
            argument_dtype(_TAKE, 2, "float32", kind="indices-dtype", pinned=_PINNED),
            argument_grown(_TAKE, 0, kind="gradient-differs", pinned=_PINNED),
            argument_grown(_TAKE, 2, kind="indices-differ", pinned=_PINNED),
            argument_rank(_TAKE, 0, kind="gradient-rank", pinned=_PINNED),
            argument_dtype(_TAKE, 0, "float16", kind="gradient-dtype", pinned=_PINNED),
        ),
    ),
)
