"""Calls that fragments are made of, with the rule for each result's shape."""

from collections.abc import Sequence

from relaxcheck.generators.core.dims import Dim
from relaxcheck.generators.core.draft import Draft, Unfit, Value, shape_value
from relaxcheck.generators.core.fills.kinds import Literal
from relaxcheck.generators.core.polynomials import minus, plus
from relaxcheck.generators.graphs.choices import Choices
from relaxcheck.generators.operators.choices import replaced

ROWS: tuple[Dim, ...] = (3, "m", 1, 8)
"""Sizes of an axis that a pattern leaves open; one is a symbol."""


def rows(choices: Choices, *, static: bool = False) -> Dim:
    """The size of an axis that a pattern leaves open."""
    return choices.choice(tuple(dim for dim in ROWS if not (static and isinstance(dim, str))))


def begun(draft: Draft, *shapes: Sequence[Dim]) -> list[Value]:
    """Operands of these shapes: values at hand where the draft supplies them, or inputs."""
    return [draft.operand(shape) for shape in shapes]


def weight(draft: Draft, choices: Choices, shape: Sequence[Dim]) -> Value:
    """A parameter of a layer: a run-time input, or a constant, which passes may fold."""
    return draft.operand(shape, constant=choices.rarely(2))


def one(draft: Draft, operator: str, value: Value) -> Value:
    """A call on each element of ``value``."""
    return draft.call(operator, [value], value.shape, value.dtype)


def joined(left: Sequence[Dim], right: Sequence[Dim]) -> tuple[Dim, ...]:
    """The broadcast of two shapes. Raises ``Unfit`` where they do not fit."""
    short, long = sorted((tuple(left), tuple(right)), key=len)
    short = (*((1,) * (len(long) - len(short))), *short)
    both = []
    for a, b in zip(short, long, strict=True):
        if a != b and 1 not in (a, b):
            raise Unfit(f"{a} and {b} do not broadcast")
        both.append(b if a == 1 else a)
    return tuple(both)


def two(draft: Draft, operator: str, left: Value, right: Value) -> Value:
    """A call on each pair of elements, broadcast."""
    return draft.call(operator, [left, right], joined(left.shape, right.shape), left.dtype)


def by(draft: Draft, operator: str, value: Value, number: float) -> Value:
    """A call on ``value`` and a constant without axes."""
    return two(draft, operator, value, draft.scalar(number, value.dtype))


def matmul(draft: Draft, left: Value, right: Value) -> Value:
    """A matrix product, its leading axes broadcast."""
    if left.shape[-1] != right.shape[-2]:
        raise Unfit("no product")
    lead = joined(left.shape[:-2], right.shape[:-2])
    return draft.call("matmul", [left, right], (*lead, left.shape[-2], right.shape[-1]))


def permuted(draft: Draft, value: Value, *axes: int) -> Value:
    """``value`` with its axes in another order."""
    return draft.call("permute_dims", [value], [value.shape[axis] for axis in axes], axes=axes)


def swapped(draft: Draft, value: Value) -> Value:
    """``value`` with its last two axes exchanged."""
    last = value.rank - 1
    return permuted(draft, value, *range(last - 1), last, last - 1)


def reshaped(draft: Draft, value: Value, *shape: Dim) -> Value:
    """``value`` in another shape."""
    return draft.call("reshape", [value], shape, shape=shape_value(shape))


def reduced(
    draft: Draft, operator: str, value: Value, axis: int = -1, *, keepdims: bool = True
) -> Value:
    """A reduction over one axis, which has an element at least."""
    draft.require(value.shape[axis], 1)
    at = axis % value.rank
    kept: list[Dim] = [*value.shape[:at], *((1,) if keepdims else ()), *value.shape[at + 1 :]]
    return draft.call(operator, [value], kept, axis=(axis,), keepdims=keepdims)


def concat(draft: Draft, parts: Sequence[Value], axis: int) -> Value:
    """``parts`` behind each other along ``axis``."""
    first, at = parts[0].shape, axis % parts[0].rank
    whole = plus(*(part.shape[at] for part in parts))
    return draft.call("concat", parts, replaced(first, at, whole), axis=axis)


def split(draft: Draft, value: Value, sizes: Sequence[int], axis: int) -> list[Value]:
    """Pieces of these ``sizes`` along ``axis``."""
    cuts = tuple(sum(sizes[: at + 1]) for at in range(len(sizes) - 1))
    shapes = [replaced(value.shape, axis % value.rank, size) for size in sizes]
    return draft.items("split", [value], shapes, indices_or_sections=cuts, axis=axis)


def sliced(draft: Draft, value: Value, axis: int, begin: int, end: int) -> Value:
    """The places from ``begin`` to before ``end`` of ``axis``, which is static."""
    return draft.call(
        "strided_slice",
        [value],
        replaced(value.shape, axis % value.rank, end - begin),
        axes=(axis % value.rank,),
        begin=(begin,),
        end=(end,),
        strides=(1,),
    )


def cast(draft: Draft, value: Value, dtype: str) -> Value:
    """``value`` in another dtype."""
    return draft.call("astype", [value], value.shape, dtype, dtype=dtype)


def convolved(draft: Draft, value: Value, kernel: Value, pad: int = 0, stride: int = 1) -> Value:
    """A convolution of (batch, channel, height, width)."""
    shape: list[Dim] = [value.shape[0], kernel.shape[0]]
    for at in (2, 3):
        free = minus(plus(value.shape[at], 2 * pad), kernel.shape[at])
        draft.require(free)
        assert isinstance(free, int)
        shape.append(free // stride + 1)
    return draft.call(
        "nn.conv2d",
        [value, kernel],
        shape,
        strides=(stride, stride),
        padding=(pad, pad, pad, pad),
    )


def indices(draft: Draft, values: Sequence[int]) -> Value:
    """A constant vector of places."""
    return draft.input((len(values),), "int64", fill=Literal(tuple(values)), constant=True)


def used_too(draft: Draft, value: Value) -> None:
    """Use ``value`` once more: its negative is a further output."""
    one(draft, "negative", value)
