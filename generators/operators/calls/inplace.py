"""Calls of functions that overwrite arguments.

An argument that is overwritten is a value that nothing reads afterwards: TVM's documentation
demands it, and no pass checks it.
"""

from relaxcheck.generators.core.axes import Axis, Point
from relaxcheck.generators.core.called.meanings import FRESH, INPLACE_PACKED, TIR_INPLACE
from relaxcheck.generators.core.draft import Draft, Value
from relaxcheck.generators.core.operand import DTYPE
from relaxcheck.generators.core.points import Given, text, toggle
from relaxcheck.generators.operators.calls.functions import (
    FUNCTION,
    SIGNED,
    arguments,
    call,
    function_axis,
)
from relaxcheck.generators.operators.faults import attribute_is
from relaxcheck.generators.operators.record import (
    FLOATS,
    Apply,
    Attribute,
    Numerics,
    Operand,
    Operator,
)

_INDICES = {
    "opposite": ("0",),
    "difference": ("0", "1"),
    "opposite_and_sum": ("0, fresh",),
    "sum_and_opposite": ("fresh, 0",),
    "opposites": ("0, 1", "0, fresh", "fresh, 1"),
}
"""By function, the arguments that its results overwrite."""

_CROSSED = "1, 0"
"""Each of two results overwrites the other one's argument."""

_NAMES = ("inplace_indices", "in-place", "index")


def _indices(chosen: str) -> tuple[int, ...]:
    return tuple(FRESH if each == "fresh" else int(each) for each in chosen.split(", "))


def _calling(operator: str) -> Apply:
    def apply(draft: Draft, value: Value, point: Point) -> None:
        indices = _indices(text(point, "overwritten"))
        operands = arguments(draft, value, point)
        for index in indices:
            if index != FRESH:
                floor = draft.operand(value.shape, value.dtype)
                operands[index] = draft.call("maximum", [operands[index], floor], value.shape)
        overwritten = operands[max(indices)]
        read = text(point, "read_before")
        doubled = draft.call("add", [overwritten] * 2, value.shape) if read != "no" else None
        results = call(draft, operator, operands, text(point, FUNCTION), inplace_indices=indices)
        result = results[indices.index(max(indices))]
        if point["computed_after"]:
            # A new tensor, while the result is in use.
            other = draft.call("add", [value, value], value.shape)
            result = draft.call("subtract", [result, other], value.shape)
        if read == "joined" and doubled is not None:
            draft.call("add", [result, doubled], value.shape)

    return apply


def _record(operator: str, what: str, indices: dict[str, tuple[str, ...]], form: str) -> Operator:
    every = tuple(dict.fromkeys(each for several in indices.values() for each in several))
    return Operator(
        operator,
        meaning=f"{what} that overwrites arguments, each by the result that has its index: of one "
        "tensor the elements negated, without and with the sums of its rows in a new tensor; of "
        "two the difference, in place of either, or the elements of both negated.",
        source=f"docstring of relax.op.{operator}; the functions mean operators of Relax",
        operands=(
            Operand(
                "args",
                ranks=(2, 0, 1, 3, 4),
                dtypes=(*FLOATS, *SIGNED, "uint8"),
                many=True,
            ),
        ),
        attributes=(
            Attribute("function", "text"),
            Attribute("of", "shape"),
            Attribute("dtype", "dtype"),
            Attribute("inplace_indices", "ints"),
        ),
        axes=(
            function_axis("difference", *(name for name in indices if name != "difference")),
            Axis(
                "overwritten",
                every,
                "0",
                Given((FUNCTION,), lambda function, chosen: chosen in indices[function]),
            ),
            # Reads before the call are allowed: a pass must keep the order.
            Axis("read_before", ("no", "alone", "joined"), "no", least=("no",)),
            toggle("computed_after"),
        ),
        apply=_calling(operator),
        numerics=Numerics.ACCUMULATES,
        requires="an argument that is overwritten is an intermediate value that nothing reads "
        "afterwards",
        faults=(
            attribute_is(
                "index-out-of-range", operator, "inplace_indices", (2,), _NAMES[1:], _ALONE
            ),
            attribute_is("index-below", operator, "inplace_indices", (-2,), _NAMES[1:], _ALONE),
            attribute_is(
                "nothing-overwritten", operator, "inplace_indices", (FRESH,), _NAMES[1:], _ALONE
            ),
            attribute_is("index-twice", operator, "inplace_indices", (0, 0), _NAMES[1:], _BOTH),
        ),
        form=form,  # type: ignore[arg-type]
        alone=True,
    )


_ALONE: Point = {FUNCTION: "difference", "overwritten": "0"}
_BOTH: Point = {DTYPE: "float32", FUNCTION: "opposites", "overwritten": "0, 1"}

OPERATORS = (
    _record(TIR_INPLACE, "A function of TIR", _INDICES, "tir"),
    _record(
        INPLACE_PACKED,
        "A packed function",
        {**_INDICES, "opposites": (*_INDICES["opposites"], _CROSSED)},
        "packed",
    ),
)
