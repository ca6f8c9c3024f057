"""Idioms: steps of a few operators each, such as upsampling or a split and a concat."""

from relaxcheck.generators.core.dims import Dim
from relaxcheck.generators.core.draft import Draft, Unfit, Value, shape_value
from relaxcheck.generators.core.polynomials import minus, over, times
from relaxcheck.generators.core.program import ITEM
from relaxcheck.generators.graphs.growth import Growth, Step, match_cast
from relaxcheck.generators.operators.choices import replaced


def _tensor(draft: Draft) -> Value:
    """The last settled value of the program's dtype with an axis and no dimension that is 0."""
    for value in reversed(draft.settled):
        if value.rank and value.dtype == draft.dtype and 0 not in value.shape:
            return value
    raise Unfit("no tensor with axes")


def _against_itself(growth: Growth, draft: Draft) -> None:
    """Subtract a vector from itself, broadcast as a column and as a row."""
    value = _tensor(draft)
    down = draft.call("expand_dims", [value], (*value.shape, 1), axis=(-1,))
    right = draft.call("expand_dims", [value], (*value.shape[:-1], 1, value.shape[-1]), axis=(-2,))
    draft.call("subtract", [down, right], (*value.shape, value.shape[-1]))


def _upsample(growth: Growth, draft: Draft) -> None:
    """Repeat each element: broadcast along a new axis, and merge that axis."""
    value = _tensor(draft)
    count, at = growth.choices.choice((2, 3)), growth.choices.below(value.rank)
    thin = draft.call(
        "expand_dims", [value], replaced(value.shape, at, value.shape[at], 1), axis=(at + 1,)
    )
    wide = replaced(value.shape, at, value.shape[at], count)
    full = draft.call("broadcast_to", [thin], wide, shape=shape_value(wide))
    merged = replaced(value.shape, at, times(count, value.shape[at]))
    draft.call("reshape", [full], merged, shape=shape_value(merged))


def _scaled_by_shape(growth: Growth, draft: Draft) -> None:
    """Multiply a tensor by the sizes of its shape, along a new axis."""
    value = _tensor(draft)
    shape = draft.shape_of(value)
    whole = draft.call("shape_to_tensor", [shape], (value.rank,), "int64")
    sizes = draft.call("astype", [whole], (value.rank,), value.dtype, dtype=value.dtype)
    widened = draft.call("expand_dims", [value], (*value.shape, 1), axis=(-1,))
    draft.call("multiply", [widened, sizes], (*value.shape, value.rank))


def _halves_exchanged(growth: Growth, draft: Draft) -> None:
    """Split an axis in two, and concatenate the parts in reverse order."""
    value = _tensor(draft)
    at = growth.choices.below(value.rank)
    dim: Dim = value.shape[at]
    cut = growth.choices.choice((1, 2, 0))
    if cut:
        draft.require(dim, cut)
        sizes, by = [cut, minus(dim, cut)], (cut,)
        parts = _parts(draft, value, at, sizes, by)
    else:
        draft.require(dim, 0, 2)
        parts = _parts(draft, value, at, [over(dim, 2)] * 2, 2)
    draft.call("concat", parts[::-1], value.shape, axis=at)


def _parts(
    draft: Draft, value: Value, at: int, sizes: list[Dim], by: int | tuple[int, ...]
) -> list[Value]:
    return [
        draft.call(
            "split",
            [value],
            replaced(value.shape, at, size),
            **{"indices_or_sections": by, "axis": at, ITEM: item},
        )
        for item, size in enumerate(sizes)
    ]


def _broadcast_to_values(growth: Growth, draft: Draft) -> None:
    """Broadcast an input to the shape of a value, with a sum before TVM is told the shape."""
    value = _tensor(draft)
    shape = draft.shape_of(value)
    thin = draft.input([1 if growth.choices.rarely(2) else dim for dim in value.shape])
    result = draft.call("broadcast_to", [thin, shape], value.shape)
    draft.unsettled = (*draft.unsettled, result)
    if growth.choices.rarely(3):
        result = draft.call("add", [result, draft.input(result.shape)], result.shape)
        draft.unsettled = (*draft.unsettled, result)
    match_cast(draft, result)


def _chosen_by_comparison(growth: Growth, draft: Draft) -> None:
    """Select the larger of two values: ``greater``, then ``where``."""
    value = _tensor(draft)
    other = draft.operand(value.shape)
    condition = draft.call("greater", [value, other], value.shape, "bool")
    draft.call("where", [condition, value, other], value.shape, value.dtype)


IDIOMS: dict[str, Step] = {
    "broadcast": _against_itself,
    "upsample": _upsample,
    "scale by shape": _scaled_by_shape,
    "exchange halves": _halves_exchanged,
    "broadcast to values": _broadcast_to_values,
    "compare and choose": _chosen_by_comparison,
}
"""Steps by name."""

ABOUT = {
    "broadcast": "subtract",
    "upsample": "broadcast_to",
    "scale by shape": "shape_to_tensor",
    "exchange halves": "split",
    "broadcast to values": "broadcast_to",
    "compare and choose": "where",
}
"""An operator that each idiom calls."""
