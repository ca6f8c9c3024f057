"""Fragments of calls that move elements: reshapes, permutations, layouts, slices, casts."""

from relaxcheck.generators.core.dims import Dim
from relaxcheck.generators.core.draft import Draft, Value, shape_value
from relaxcheck.generators.core.fills.kinds import Literal
from relaxcheck.generators.core.polynomials import times
from relaxcheck.generators.graphs.choices import Choices
from relaxcheck.generators.graphs.fragments.calls import (
    begun,
    cast,
    concat,
    convolved,
    one,
    permuted,
    reshaped,
    rows,
    split,
    two,
    used_too,
    weight,
)
from relaxcheck.generators.graphs.fragments.fragment import fragment


@fragment("axes that differ", "one part as it is", "a part used twice", "another axis")
def concat_permuted(draft: Draft, choices: Choices, off: str) -> None:
    """A concatenation of permuted values, which may become one permutation."""
    count = rows(choices)
    parts = begun(draft, *[(choices.choice((3, 2)), count) for _ in range(choices.choice((2, 3)))])
    turned = [permuted(draft, part, 1, 0) for part in parts]
    if off == "a part used twice":
        used_too(draft, turned[0])
    if off == "axes that differ":
        (cube, other) = begun(draft, (2, 3, 4), (2, 4, 3))
        three = [permuted(draft, cube, 0, 2, 1), permuted(draft, other, 0, 1, 2)]
        concat(draft, three, choices.choice((1, -3)))
        return
    if off == "one part as it is":
        turned[0] = begun(draft, (count, 2))[0]
    if off == "another axis":
        turned = [turned[0], turned[0]]
    concat(draft, turned, 0 if off == "another axis" else choices.choice((1, -1)))


@fragment("the first used twice", "a sum in between", "a shape that only looks the same")
def redundant_reshape(draft: Draft, choices: Choices, off: str) -> None:
    """A reshape of a reshape, or to the shape that a value has."""
    count = rows(choices)
    (value,) = begun(draft, (count, 4, 3))
    first = reshaped(draft, value, *_shape(choices, value))
    if off == "the first used twice":
        used_too(draft, first)
    if off == "a sum in between":
        first = two(draft, "add", first, first)
    if off == "a shape that only looks the same":
        reshaped(draft, value, 3, 4, count) if count != "m" else reshaped(draft, value, "m", 3, 4)
        return
    if choices.below(2):
        reshaped(draft, first, *_shape(choices, value))
    else:
        one(draft, "nn.relu", reshaped(draft, first, *value.shape))


def _shape(choices: Choices, value: Value) -> tuple[Dim, ...]:
    """A shape for as many elements as ``value``, of (count, 4, 3)."""
    count = value.shape[0]
    shapes: tuple[tuple[Dim, ...], ...] = (
        *((count, 12), (times(4, count), 3), (times(12, count),)),
        *((count, 1, 12), (count, 4, 3)),
    )
    return choices.choice(shapes)


@fragment("an output itself", "an axis of 1 moved past another", "of an input")
def dataflow_reshape(draft: Draft, choices: Choices, off: str) -> None:
    """Calls that only change the shape, between others: reshape, expand, squeeze, flatten."""
    count = rows(choices)
    (value,) = begun(draft, (count, 4))
    if off != "of an input":
        value = one(draft, "exp", value)
    kind = choices.below(4)
    if off == "an axis of 1 moved past another":
        apart = draft.call("expand_dims", [value], (count, 1, 4), axis=(1,))
        value = permuted(draft, apart, *choices.choice(((1, 0, 2), (1, 2, 0), (2, 1, 0))))
    elif kind == 0:
        value = reshaped(draft, value, times(4, count))
    elif kind == 1:
        value = draft.call("expand_dims", [value], (count, 1, 4), axis=(1,))
        value = draft.call("squeeze", [value], (count, 4), axis=(1,))
    elif kind == 2:
        value = draft.call("flatten", [value], (times(4, count),))
    else:
        value = reshaped(draft, value, 2, times(2, count))
    if off != "an output itself":
        one(draft, "negative", value)


@fragment("not the inverse", "a value in between", "one of them used twice")
def permuted_back(draft: Draft, choices: Choices, off: str) -> None:
    """A permutation and its inverse, around an activation or not."""
    (value,) = begun(draft, (2, rows(choices), 3, 2))
    turned = permuted(draft, value, 0, 2, 3, 1)
    if off == "one of them used twice":
        used_too(draft, turned)
    if choices.below(2):
        turned = one(draft, "nn.relu", turned)
    if off == "a value in between":
        turned = two(draft, "add", turned, begun(draft, turned.shape[-1:])[0])
    back = (0, 2, 3, 1) if off == "not the inverse" else (0, 3, 1, 2)
    permuted(draft, turned, *back)


@fragment("tiles of two sizes", "padded", "used twice in between")
def layouts(draft: Draft, choices: Choices, off: str) -> None:
    """A layout transform and one back, around an activation or not."""
    (value,) = begun(draft, (1, 6 if off == "padded" else 8, 3, 2))
    there = "n, c, h, w: n, c//4, h, w, c%4"
    inner = draft.call(
        "layout_transform", [value], (1, 2, 3, 2, 4), index_map=there,
        **({"pad_value": 1.0} if off == "padded" else {}),
    )  # fmt: skip
    if off == "used twice in between":
        used_too(draft, inner)
    if choices.below(2):
        inner = one(draft, "nn.relu", inner)
    if off == "tiles of two sizes":
        draft.call(
            "layout_transform",
            [inner],
            (1, 2, 3, 2, 2, 2),
            index_map="n, a, h, w, b: n, a, h, w, b//2, b%2",
        )
        return
    back = "n, c, h, w, b: n, c*4 + b, h, w"
    draft.call("layout_transform", [inner], (1, 8, 3, 2), index_map=back)


@fragment("a permutation in the way", "an operand of another layout")
def layout_chain(draft: Draft, choices: Choices, off: str) -> None:
    """Convolutions with other calls in between, for ConvertLayout to carry a layout through."""
    (value,) = begun(draft, (1, 3, 5, 5))
    value = convolved(draft, value, weight(draft, choices, (4, 3, 3, 3)), 1)
    kind = choices.below(4)
    if off == "a permutation in the way":
        value = permuted(draft, value, 0, 1, 3, 2)
    elif off == "an operand of another layout":
        value = two(draft, "add", value, begun(draft, (4, 5, 5))[0])
    elif kind == 0:
        value = two(draft, "add", value, weight(draft, choices, (1, 4, 1, 1)))
    elif kind == 1:
        value = draft.call("sum", [value], (1, 4, 5), axis=(-1,), keepdims=False)
        value = draft.call("expand_dims", [value], (1, 4, 5, 1), axis=(3,))
        value = draft.call("broadcast_to", [value], (1, 4, 5, 5), shape=shape_value((1, 4, 5, 5)))
    elif kind == 2:
        value = concat(draft, split(draft, value, (2, 2), 1)[::-1], 1)
    else:
        value = one(draft, "nn.relu", value)
    convolved(draft, value, weight(draft, choices, (2, 4, 2, 2)))


@fragment("scales that differ", "zero points that differ", "a maximum of integers in between")
def quantized(draft: Draft, choices: Choices, off: str) -> None:
    """Quantize, an activation or none, dequantize."""
    wide = "float16" if draft.dtype == "float16" else "float32"
    value = draft.operand((rows(choices), 4), wide)
    whole = choices.choice(("int8", "uint8"))

    def numbers(scale: float, zero: int) -> list[Value]:
        return [
            draft.input((), wide, fill=Literal((scale,)), constant=True),
            draft.input((), whole, fill=Literal((zero,)), constant=True),
        ]

    inner = draft.call(
        "quantize", [value, *numbers(0.25, 2)], value.shape, whole, axis=-1, out_dtype=whole
    )
    if choices.rarely(2):
        inner = one(draft, "nn.relu", inner)
    if off == "a maximum of integers in between":
        other = draft.operand(value.shape, whole)
        inner = two(draft, "maximum", inner, other)
    scale = 0.5 if off == "scales that differ" else 0.25
    zero = 3 if off == "zero points that differ" else 2
    back = draft.call(
        "dequantize", [inner, *numbers(scale, zero)], value.shape, wide, axis=-1, out_dtype=wide
    )
    one(draft, "nn.relu", back)


@fragment("through a narrower dtype", "through integers", "used twice in between")
def casts(draft: Draft, choices: Choices, off: str) -> None:
    """A cast to a wider dtype and back."""
    (value,) = begun(draft, (rows(choices), 3))
    wide = "float32" if draft.dtype == "float16" else "float64"
    to = {"through a narrower dtype": "float16", "through integers": "int32"}.get(off, wide)
    if off == "through integers":
        value = draft.call("clip", [value], value.shape, min=-100.0, max=100.0)
    inner = cast(draft, value, to)
    if off == "used twice in between":
        used_too(draft, inner)
    one(draft, "tanh", cast(draft, inner, draft.dtype))
