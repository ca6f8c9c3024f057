"""Fragments that are parts of layers, written out: attention, normalization, activations."""

from relaxcheck.generators.core.draft import Draft, Value
from relaxcheck.generators.core.fills.kinds import Positive
from relaxcheck.generators.core.program import ITEM
from relaxcheck.generators.graphs.choices import Choices
from relaxcheck.generators.graphs.fragments.calls import (
    begun,
    by,
    cast,
    convolved,
    matmul,
    one,
    permuted,
    reduced,
    rows,
    swapped,
    two,
    used_too,
    weight,
)
from relaxcheck.generators.graphs.fragments.fragment import fragment


def _softmax(draft: Draft, value: Value, axis: int) -> Value:
    top = reduced(draft, "max", value, axis)
    raised = one(draft, "exp", two(draft, "subtract", value, top))
    return two(draft, "divide", raised, reduced(draft, "sum", raised, axis))


@fragment("softmax over queries", "a scale for each query", "scores used twice", "a cast of scores")
def attention(draft: Draft, choices: Choices, off: str) -> None:
    """Attention from products, a scale, a mask and a softmax."""
    count, size = rows(choices), 4
    shapes = [(2, count, 2, size), (2, 5, 2, size), (2, 5, 2, size)]
    turned = [permuted(draft, each, 0, 2, 1, 3) for each in begun(draft, *shapes)]
    scores = matmul(draft, turned[0], swapped(draft, turned[1]))
    if off == "a scale for each query":
        scores = two(draft, "multiply", scores, begun(draft, (count, 1))[0])
    else:
        scores = by(draft, choices.choice(("multiply", "divide")), scores, 0.5)
    if choices.rarely(2):
        scores = two(draft, "add", scores, begun(draft, (count, 5))[0])
    if off == "scores used twice":
        used_too(draft, scores)
    if off == "a cast of scores":
        wide = "float64" if draft.dtype == "float32" else "float32"
        scores = cast(draft, cast(draft, scores, wide), draft.dtype)
    axis = -1
    if off == "softmax over queries":
        axis = -2
        draft.require(count, 1)
    if choices.rarely(2):
        weights = _softmax(draft, scores, axis)
    else:
        weights = draft.call("nn.softmax", [scores], scores.shape, axis=axis)
    permuted(draft, matmul(draft, weights, turned[2]), 0, 2, 1, 3)


@fragment("sum over another axis", "exponentials used twice", "a mean in place of the sum")
def softmax(draft: Draft, choices: Choices, off: str) -> None:
    """A softmax from max, subtract, exp, sum and divide."""
    (value,) = begun(draft, (rows(choices), 4))
    top = reduced(draft, "max", value)
    raised = one(draft, "exp", two(draft, "subtract", value, top))
    if off == "exponentials used twice":
        used_too(draft, raised)
    operator = "mean" if off == "a mean in place of the sum" else "sum"
    axis = -2 if off == "sum over another axis" else -1
    two(draft, "divide", raised, reduced(draft, operator, raised, axis))


@fragment("a variance of another axis", "a scale with rows", "the mean used twice", "no epsilon")
def layer_norm(draft: Draft, choices: Choices, off: str) -> None:
    """A layer norm from means, a square root and a scale."""
    (value,) = begun(draft, (rows(choices), 4))
    mean = reduced(draft, "mean", value)
    if off == "the mean used twice":
        used_too(draft, mean)
    moved = two(draft, "subtract", value, mean)
    if choices.rarely(2):
        square = by(draft, "power", moved, 2)
    else:
        square = two(draft, "multiply", moved, moved)
    axis = -2 if off == "a variance of another axis" else -1
    spread = reduced(draft, "mean", square, axis)
    # Without it the spread of one row divides by 0.
    spread = by(draft, "add", spread, 1.0 if off == "no epsilon" else 1e-2)
    if choices.rarely(2):
        result = two(draft, "multiply", moved, one(draft, "rsqrt", spread))
    else:
        result = two(draft, "divide", moved, one(draft, "sqrt", spread))
    shape = value.shape if off == "a scale with rows" else value.shape[-1:]
    result = two(draft, "multiply", result, weight(draft, choices, shape))
    two(draft, "add", result, weight(draft, choices, value.shape[-1:]))


@fragment("a root of the sum", "scaled before", "the mean used twice")
def rms_norm(draft: Draft, choices: Choices, off: str) -> None:
    """A root-mean-square norm, in a wider dtype where the program's is float16."""
    (value,) = begun(draft, (rows(choices), 8))
    narrow = draft.dtype == "float16"
    wide = cast(draft, value, "float32") if narrow else value
    square = reduced(
        draft, "sum" if off == "a root of the sum" else "mean", two(draft, "multiply", wide, wide)
    )
    root = one(draft, "rsqrt", by(draft, "add", square, 1e-2))
    result = two(draft, "multiply", wide, root)
    scale = weight(draft, choices, value.shape[-1:])
    if narrow:
        result = cast(draft, result, "float16")
    if off == "scaled before":
        scale = two(draft, "multiply", scale, scale)
    if off == "the mean used twice":
        used_too(draft, square)
    two(draft, "multiply", result, scale)


@fragment("another factor", "a square in place of the error function", "one half used twice")
def gelu(draft: Draft, choices: Choices, off: str) -> None:
    """A GELU from the error function."""
    (value,) = begun(draft, (rows(choices), 4))
    half = by(draft, "multiply", value, 0.5)
    inner = by(draft, "multiply", value, 0.75 if off == "another factor" else 0.7071067811865476)
    square = off == "a square in place of the error function"
    turned = two(draft, "multiply", inner, inner) if square else one(draft, "erf", inner)
    if off == "one half used twice":
        used_too(draft, half)
    two(draft, "multiply", half, by(draft, "add", turned, 1.0))


@fragment("a bias of another axis", "the sum used twice", "two activations", "a bias of rank 4")
def conv_block(draft: Draft, choices: Choices, off: str) -> None:
    """A convolution, a bias, an activation."""
    (value,) = begun(draft, ("b" if choices.rarely(3) else 1, 3, 6, 6))
    pad = choices.choice((0, 1))
    kernel = weight(draft, choices, (4, 3, *choices.choice(((3, 3), (1, 1)))))
    result = convolved(draft, value, kernel, pad, choices.choice((1, 2)))
    shape = {"a bias of another axis": result.shape[-1:], "a bias of rank 4": result.shape}.get(
        off, (1, 4, 1, 1)
    )
    result = two(draft, "add", result, weight(draft, choices, shape))
    if off == "the sum used twice":
        used_too(draft, result)
    result = one(draft, choices.choice(("nn.relu", "sigmoid", "nn.silu", "tanh")), result)
    if off == "two activations":
        one(draft, "nn.relu", result)


@fragment("of training", "another axis", "moving averages used", "the convolution used twice")
def conv_norm(draft: Draft, choices: Choices, off: str) -> None:
    """A convolution and a batch norm, whose numbers FoldBatchnormToConv2D moves to the kernel."""
    (value,) = begun(draft, (2, 3, 5, 5))
    fixed = choices.below(2) == 0
    result = convolved(draft, value, draft.operand((4, 3, 2, 2), constant=fixed))
    axis = 2 if off == "another axis" else 1
    channels = result.shape[axis : axis + 1]
    numbers = [draft.operand(channels, constant=fixed) for _ in range(3)]
    numbers.append(draft.operand(channels, fill=Positive(0.25), constant=fixed))
    if off == "the convolution used twice":
        used_too(draft, result)
    items = (0, 1, 2) if off == "moving averages used" else (0,)
    made = [
        draft.call(
            "nn.batch_norm",
            [result, *numbers],
            channels if item else result.shape,
            **{
                "axis": axis,
                "epsilon": choices.choice((1e-05, 0.01)) if len(items) == 1 else 1e-05,
                "training": off == "of training",
                ITEM: item,
            },
        )
        for item in items
    ]
    one(draft, "nn.relu", made[0])


@fragment("a residual of another block", "both ends returned", "a residual that broadcasts")
def residual(draft: Draft, choices: Choices, off: str) -> None:
    """Two or three blocks, each added to what it takes."""
    (value,) = begun(draft, (rows(choices), 4))
    first = value
    for at in range(choices.choice((2, 3))):
        inner = matmul(draft, value, weight(draft, choices, (4, 4)))
        inner = one(draft, choices.choice(("nn.relu", "tanh")), inner)
        if off == "both ends returned" and not at:
            used_too(draft, inner)
        other = first if off == "a residual of another block" else value
        if off == "a residual that broadcasts" and not at:
            other = begun(draft, (1, 4))[0]
        value = two(draft, "add", inner, other)


@fragment("operands in another order", "a negative in between", "the first used twice")
def chained(draft: Draft, choices: Choices, off: str) -> None:
    """Chains of two calls, as patterns for FuseOpsByPattern and code generators have them."""
    (value, image) = begun(draft, (rows(choices), 4), (1, 3, 5, 5))
    product = two(draft, "multiply", value, weight(draft, choices, (4,)))
    for first in (
        product,
        matmul(draft, value, weight(draft, choices, (4, 4))),
        one(draft, "exp", value),
    ):
        inner = one(draft, "negative", first) if off == "a negative in between" else first
        other = weight(draft, choices, (4,))
        operands = (other, inner) if off == "operands in another order" else (inner, other)
        two(draft, "add", *operands)
        if off == "the first used twice":
            used_too(draft, first)
    result = convolved(draft, image, weight(draft, choices, (4, 3, 2, 2)))
    if off == "a negative in between":
        result = one(draft, "negative", result)
    one(draft, "nn.relu", result)
