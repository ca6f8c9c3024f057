"""Sums that undo a broadcast."""

from relaxcheck.generators.core.axes import Axis, Point
from relaxcheck.generators.core.dims import Dim
from relaxcheck.generators.core.draft import Draft, Value, shape_value
from relaxcheck.generators.core.points import Given, text
from relaxcheck.generators.operators.faults import (
    PLAIN,
    SHAPES,
    argument_grown,
    argument_rank,
    attribute_is,
)
from relaxcheck.generators.operators.record import FLOATS, Attribute, Numerics, Operand, Operator

_RANKS = (2, 1, 3, 4)
_DTYPES = (*FLOATS, "int32", "int64")

_SOURCE = "docstring of relax.op.collapse_sum_to; torch.Tensor.sum_to_size"
_MEANING = "The sum over the axes in front that the shape lacks, and over those where it has 1."

_TO = Axis(
    "to",
    ("fewer", "one first", "one last", "fewer and one", "ones", "scalar", "same"),
    "fewer",
    Given(("rank",), lambda rank, to: rank > 1 or to not in ("one last", "fewer and one")),
)
"""The shape: without the first axis; with 1 in place of the first or last one; both; all ones."""


def _target(value: Value, point: Point) -> tuple[Dim, ...]:
    shape = value.shape
    targets: dict[str, tuple[Dim, ...]] = {
        "fewer": shape[1:],
        "one first": (1, *shape[1:]),
        "one last": (*shape[:-1], 1),
        "fewer and one": (*shape[1:-1], 1),
        "ones": (1,) * value.rank,
        "scalar": (),
        "same": shape,
    }
    return targets[text(point, "to")]


def _collapse_to(draft: Draft, value: Value, point: Point) -> None:
    shape = _target(value, point)
    draft.call("collapse_sum_to", [value], shape, shape=shape_value(shape))


def _collapse_like(draft: Draft, value: Value, point: Point) -> None:
    like = draft.operand(_target(value, point), value.dtype)
    draft.call("collapse_sum_like", [value, like], like.shape)


_FAULTY: Point = {**PLAIN, "rank": 2, "to": "same"}

OPERATORS = (
    Operator(
        "collapse_sum_to",
        meaning=_MEANING,
        source=_SOURCE,
        operands=(Operand("data", ranks=_RANKS, dtypes=_DTYPES),),
        attributes=(Attribute("shape", "shape"),),
        axes=(_TO,),
        apply=_collapse_to,
        numerics=Numerics.ACCUMULATES,
        requires="a shape that broadcasts to the operand's",
        faults=(
            attribute_is("shapes-differ", "collapse_sum_to", "shape", (3, 7), SHAPES, _FAULTY),
            attribute_is("rank-too-large", "collapse_sum_to", "shape", (1, 3, 4), SHAPES, _FAULTY),
        ),
    ),
    Operator(
        "collapse_sum_like",
        meaning=f"{_MEANING} The shape is that of the second operand, whose elements are not read.",
        source=_SOURCE,
        operands=(
            Operand("data", ranks=_RANKS, dtypes=_DTYPES),
            Operand("collapse_target", dtypes=_DTYPES),
        ),
        axes=(_TO,),
        apply=_collapse_like,
        numerics=Numerics.ACCUMULATES,
        requires="a shape that broadcasts to the operand's",
        faults=(
            argument_grown("collapse_sum_like", 1, pinned={"rank": 2, "to": "same"}),
            argument_rank("collapse_sum_like", 1, kind="rank-too-large", pinned=_FAULTY),
        ),
    ),
)
