"""Named templates: whole programs of the kinds that use dynamic shapes in practice."""

from collections.abc import Callable
from math import prod

from relaxcheck.generators.core.dims import Dim
from relaxcheck.generators.core.draft import Draft, Value, shape_value
from relaxcheck.generators.core.polynomials import minus, over, plus, times
from relaxcheck.generators.core.program import CALL, Attribute, Input, Node, Program
from relaxcheck.generators.graphs.choices import Choices

Template = Callable[[Draft, Choices], None]


def _convolved(
    draft: Draft, value: Value, wide: int, window: int, stride: int = 1, pad: int = 0
) -> Value:
    kernel = draft.input((wide, value.shape[1], window))
    free = minus(plus(value.shape[2], 2 * pad), window)
    draft.require(free)
    size = plus(over(free, stride), 1)
    return draft.call(
        "nn.conv1d",
        [value, kernel],
        (value.shape[0], wide, size),
        strides=(stride,),
        padding=(pad, pad),
    )


def _spread(
    draft: Draft, value: Value, wide: int, window: int, stride: int, pad: int = 0, extra: int = 0
) -> Value:
    kernel = draft.input((value.shape[1], wide, window))
    size = plus(times(minus(value.shape[2], 1), stride), window - 2 * pad + extra)
    draft.require(value.shape[2], 1)
    draft.require(size, 1)
    return draft.call(
        "nn.conv1d_transpose",
        [value, kernel],
        (value.shape[0], wide, size),
        strides=(stride,),
        padding=(pad, pad),
        output_padding=(extra,),
    )


def _decoder(draft: Draft, choices: Choices) -> None:
    """An audio decoder: convolve, upsample by 2048, convolve with stride 5, then transpose that."""
    draft.most = 300_000
    draft.require("m", 1)
    value = _convolved(draft, draft.start((1, 3, "m")), 2, 5, pad=2)
    match choices.below(3):
        case 0:
            value = draft.call("repeat", [value], (1, 2, times(2048, "m")), repeats=2048, axis=2)
        case 1:
            apart = draft.call("expand_dims", [value], (1, 2, "m", 1), axis=(3,))
            wide: tuple[Dim, ...] = (1, 2, "m", 2048)
            value = draft.call("broadcast_to", [apart], wide, shape=shape_value(wide))
            long = (1, 2, times(2048, "m"))
            value = draft.call("reshape", [value], long, shape=shape_value(long))
        case _:
            flat = draft.call("expand_dims", [value], (1, 2, 1, "m"), axis=(2,))
            value = draft.call(
                "image.resize2d",
                [flat],
                (1, 2, 1, times(2048, "m")),
                size=shape_value((1, times(2048, "m"))),
                method="nearest_neighbor",
                coordinate_transformation_mode="asymmetric",
                rounding_method="floor",
            )
            value = draft.call("squeeze", [value], (1, 2, times(2048, "m")), axis=(2,))
    value = _convolved(draft, value, 2, 7, stride=5)
    value = draft.call("nn.leakyrelu", [value], value.shape, alpha=0.1)
    value = _spread(draft, value, 1, 5, stride=5)
    draft.call("tanh", [value], value.shape)


def _linear(draft: Draft, value: Value, wide: Dim) -> Value:
    weight = draft.input((value.shape[-1], wide))
    return draft.call("matmul", [value, weight], (*value.shape[:-1], wide))


def _normed(draft: Draft, value: Value) -> Value:
    scales = [draft.input((value.shape[-1],)) for _ in range(2)]
    return draft.call("nn.layer_norm", [value, *scales], value.shape, axes=(-1,))


def _encoder(draft: Draft, choices: Choices) -> None:
    """A transformer block: self-attention and a perceptron, each with a residual connection."""
    draft.require("s", 1)
    heads, dim = 2, 4
    value = draft.start(("b", "s", heads * dim))
    normed = _normed(draft, value)
    apart: tuple[Dim, ...] = ("b", "s", heads, dim)
    parts = []
    for _ in range(3):
        each = _linear(draft, normed, heads * dim)
        parts.append(draft.call("reshape", [each], apart, shape=shape_value(apart)))
    attributes: dict[str, Attribute] = {"causal_mask": "TopLeft"} if choices.rarely(2) else {}
    seen = draft.call("nn.attention", parts, apart, **attributes)
    joined = draft.call("reshape", [seen], value.shape, shape=shape_value(value.shape))
    value = draft.call("add", [value, _linear(draft, joined, heads * dim)], value.shape)
    inner = _linear(draft, _normed(draft, value), 12)
    inner = draft.call("nn.gelu", [inner], inner.shape)
    draft.call("add", [value, _linear(draft, inner, heads * dim)], value.shape)


def _unet(draft: Draft, choices: Choices) -> None:
    """A U-Net: upsample to 2m and 4m, downsample, and join each level by a skip connection."""
    draft.require("m", 1)
    first = draft.start((1, 2, "m"))
    second = _spread(draft, first, 2, 4, stride=2, pad=1)
    third = _spread(draft, second, 2, 3, stride=2, pad=1, extra=1)
    third = draft.call("nn.silu", [third], third.shape)
    down = _convolved(draft, third, 2, 3, stride=2, pad=1)
    beside = draft.call("add", [down, second], second.shape)
    down = _convolved(draft, beside, 2, 4, stride=2, pad=1)
    if choices.rarely(2):
        draft.call("concat", [down, first], (1, 4, "m"), axis=1)
    else:
        draft.call("add", [down, first], first.shape)


def _cache(draft: Draft, choices: Choices) -> None:
    """A key-value cache: append s new keys and values to p past ones, then attend over p + s."""
    draft.require("s", 1)
    draft.require("p")
    dim = 4
    query = draft.start((1, 2, "s", dim))
    both = []
    for _ in range(2):
        past, new = draft.input((1, 2, "p", dim)), draft.input((1, 2, "s", dim))
        both.append(draft.call("concat", [past, new], (1, 2, plus("p", "s"), dim), axis=2))
    keys, values = both
    turned = draft.call("permute_dims", [keys], (1, 2, dim, plus("p", "s")), axes=(0, 1, 3, 2))
    scores = draft.call("matmul", [query, turned], (1, 2, "s", plus("p", "s")))
    weights = draft.call("nn.softmax", [scores], scores.shape, axis=-1)
    draft.call("matmul", [weights, values], query.shape)


def _perceptron(draft: Draft, choices: Choices) -> None:
    """Merge two axes, apply a perceptron, and split the axes again."""
    value = draft.start(("m", "n", 4))
    rows = (times("m", "n"), 4)
    flat = draft.call("reshape", [value], rows, shape=shape_value(rows))
    inner = _linear(draft, flat, 6)
    inner = draft.call("nn.relu", [inner], inner.shape)
    out = _linear(draft, inner, 3)
    draft.call("reshape", [out], ("m", "n", 3), shape=shape_value(("m", "n", 3)))


def _tutorial(draft: Draft, choices: Choices) -> None:
    """TVM's tutorial: the product of (m, k) and (k, n), rectified."""
    value = _linear(draft, draft.start(("m", "k")), "n")
    draft.call("nn.relu", [value], value.shape)


def _function(draft: Draft, choices: Choices) -> None:
    """One function of k rows, called with m rows, with 2m rows, and with its own result."""
    rows, weights = Input("y", ("k", 4), draft.dtype), Input("w", (4, 4), draft.dtype)
    draft.functions["block"] = Program(
        (rows, weights),
        (
            Node("product", "matmul", ("y", "w")),
            Node("above", "nn.relu", ("product",)),
            Node("sum", "add", ("above", "y")),
        ),
        ("sum",),
    )
    value, weight = draft.start(("m", 4)), draft.input((4, 4))

    def called(operand: Value) -> Value:
        sizes = shape_value(operand.shape[:1])
        return draft.call(CALL, [operand, weight], operand.shape, function="block", sizes=sizes)

    first = called(value)
    twice = draft.call("concat", [first, value], (times(2, "m"), 4), axis=0)
    second = called(called(twice))
    draft.call("concat", [second, first], (times(3, "m"), 4), axis=0)


def _padded(draft: Draft, choices: Choices) -> None:
    """Slice the result of a padded, strided convolution to the length of a shorter one."""
    draft.require("m", 5)
    value = draft.start((1, 2, "m"))
    shorter = _convolved(draft, value, 2, 3, stride=2, pad=1)
    fifth = _convolved(draft, value, 2, 5, stride=5)
    cut = draft.call(
        "strided_slice",
        [shorter],
        (*shorter.shape[:2], fifth.shape[2]),
        axes=(2,),
        begin=(0,),
        end=shape_value((fifth.shape[2],)),
        strides=(1,),
    )
    draft.call("multiply", [cut, fifth], fifth.shape)


def _derived(*shapes: tuple[Dim, ...], least: tuple[Dim, ...] = ()) -> Template:
    """Rectify inputs of these shapes, where some symbol is no dimension by itself.

    ``least`` are dimensions that must have an element: where they are 0, that symbol is undefined.
    """

    def made(draft: Draft, choices: Choices) -> None:
        for dim in least:
            draft.require(dim, 1)
        for shape in shapes:
            for dim in shape:
                draft.require(dim)
            value = draft.start(shape)
            draft.call("nn.relu", [value], shape)
        if len(shapes) == 1 and prod(map(len, shapes)) == 1:
            draft.call("cumsum", [draft.last], shapes[0], axis=0)

    return made


TEMPLATES: dict[str, Template] = {
    "decoder": _decoder,
    "encoder": _encoder,
    "unet": _unet,
    "cache": _cache,
    "perceptron": _perceptron,
    "tutorial": _tutorial,
    "function": _function,
    "padded": _padded,
    "derived: twice": _derived(("2*m",)),
    "derived: one more": _derived(("m + 1",)),
    "derived: a fifth": _derived(("m//5 - 1",)),
    "derived: product": _derived(("m*n",), ("m",), least=("m",)),
    "derived: sum": _derived(("m + n",), ("m",)),
}
"""Templates by name. In a ``derived`` one, some symbol is no dimension by itself."""
