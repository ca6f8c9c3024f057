"""Layers written out in operators: attention, normalization, activations, quantized layers."""

from math import pi, sqrt

from relaxcheck.generators.core.fills.kinds import Below, Literal, Positive, Steps
from relaxcheck.generators.onnx.graphs.drafting import Drafting
from relaxcheck.generators.onnx.graphs.idioms.idiom import PLAIN, Idiom
from relaxcheck.generators.onnx.graphs.idioms.shapes import extent, size_vector, tokens

_WIDTH, _HEADS = 8, 2
_HEAD = _WIDTH // _HEADS


def _heads(draft: Drafting, x: str, computed: bool) -> str:
    """Project, and split the last dimension in heads."""
    projected = draft.call("MatMul", x, draft.weight((_WIDTH, _WIDTH), fill=Steps(8, 8)))
    shape = draft.integers(0, 0, _HEADS, _HEAD)
    if computed:
        sizes = [size_vector(draft, projected, axis) for axis in (0, 1)]
        shape = draft.call("Concat", *sizes, draft.integers(_HEADS, _HEAD), axis=0)
    return draft.call("Reshape", projected, shape)


def _attention(draft: Drafting, variant: str) -> None:
    x = tokens(draft)
    computed = variant in ("shapes", "sqrt-of-shape")
    query, key, value = (_heads(draft, x, computed) for _ in range(3))
    query = draft.call("Transpose", query, perm=(0, 2, 1, 3))
    value = draft.call("Transpose", value, perm=(0, 2, 1, 3))
    turned = draft.call("Transpose", key, perm=(0, 2, 3, 1))
    match variant:
        case "before":
            # Each side by the root of the scale, as in PyTorch.
            scale = draft.number(_HEAD**-0.25)
            query, turned = draft.call("Mul", query, scale), draft.call("Mul", turned, scale)
            scores = draft.call("MatMul", query, turned)
        case "sqrt-of-shape":
            wide = draft.cast(extent(draft, query, -1), draft.dtype)
            root = draft.call("Sqrt", wide)
            scores = draft.call("Div", draft.call("MatMul", query, turned), root)
        case _:
            scores = draft.call("MatMul", query, turned)
            scores = draft.call("Div", scores, draft.number(sqrt(_HEAD)))
    if variant == "masked":
        mask = draft.data("mask", (draft.batch, draft.length), "int64", Below(2))
        wide = draft.cast(draft.unsqueezed(mask, 1, 2), draft.dtype)
        hidden = draft.call("Sub", draft.number(1), wide)
        scores = draft.call("Add", scores, draft.call("Mul", hidden, draft.number(-1000)))
    if variant == "where":
        kept = draft.data("mask", (draft.batch, 1, 1, draft.length), "bool")
        scores = draft.call("Where", kept, scores, draft.number(-1000))
    weights = draft.call("Softmax", scores, axis=3)
    mixed = draft.call("Transpose", draft.call("MatMul", weights, value), perm=(0, 2, 1, 3))
    shape = draft.integers(0, 0, _WIDTH)
    if computed:
        sizes = [size_vector(draft, mixed, axis) for axis in (0, 1)]
        shape = draft.call("Concat", *sizes, draft.integers(-1), axis=0)
    draft.outputs = [draft.call("Reshape", mixed, shape)]


def _layer_norm(draft: Drafting, variant: str) -> None:
    x = tokens(draft)
    mean = draft.reduced("ReduceMean", x, -1 if draft.opset >= 11 else 2)
    centered = draft.call("Sub", x, mean)
    squared = (
        draft.call("Mul", centered, centered)
        if variant == "mul"
        else draft.call("Pow", centered, draft.number(2))
    )
    variance = draft.reduced("ReduceMean", squared, -1 if draft.opset >= 11 else 2)
    deviation = draft.call("Sqrt", draft.call("Add", variance, draft.number(0.001)))
    if variant == "reciprocal":
        scaled = draft.call("Mul", centered, draft.call("Reciprocal", deviation))
    else:
        scaled = draft.call("Div", centered, deviation)
    scaled = draft.call("Mul", scaled, draft.weight((_WIDTH,)))
    draft.outputs = [draft.call("Add", scaled, draft.weight((_WIDTH,)))]


def _root_norm(draft: Drafting, variant: str) -> None:
    x = tokens(draft)
    wide, dtype = x, draft.dtype
    if variant == "cast":
        # Half precision is normalized in single.
        wide, dtype = draft.cast(x, "float32"), "float32"
    squared = draft.call("Pow", wide, draft.number(2, dtype))
    mean = draft.reduced("ReduceMean", squared, -1 if draft.opset >= 11 else 2)
    root = draft.call("Sqrt", draft.call("Add", mean, draft.number(0.001, dtype)))
    if variant == "div":
        scaled = draft.call("Div", wide, root)
    else:
        scaled = draft.call("Mul", wide, draft.call("Div", draft.number(1, dtype), root))
    if variant == "cast":
        scaled = draft.cast(scaled, draft.dtype)
    draft.outputs = [draft.call("Mul", draft.weight((_WIDTH,)), scaled)]


def _gelu(draft: Drafting, variant: str) -> None:
    x = tokens(draft)
    half, one = draft.number(0.5), draft.number(1)
    if variant == "tanh":
        cube = draft.call("Pow", x, draft.number(3))
        inner = draft.call("Add", x, draft.call("Mul", cube, draft.number(0.044715)))
        curve = draft.call("Tanh", draft.call("Mul", inner, draft.number(sqrt(2 / pi))))
    else:
        curve = draft.call("Erf", draft.call("Div", x, draft.number(sqrt(2))))
    grown = draft.call("Add", curve, one)
    if variant == "half-first":
        result = draft.call("Mul", draft.call("Mul", x, half), grown)
    else:
        result = draft.call("Mul", draft.call("Mul", x, grown), half)
    draft.outputs = [result]


def _gated(draft: Drafting, variant: str) -> None:
    x = tokens(draft)
    if variant == "silu":
        gate = draft.call("MatMul", x, draft.weight((_WIDTH, 6), fill=Steps(8, 8)))
        value = draft.call("MatMul", x, draft.weight((_WIDTH, 6), fill=Steps(8, 8)))
        gate = draft.call("Mul", gate, draft.call("Sigmoid", gate))
    else:
        value, gate = draft.split(x, 2, _WIDTH // 2, _WIDTH // 2)
        gate = draft.call("Sigmoid", gate)
    draft.outputs = [draft.call("Mul", gate, value)]


def _rotary(draft: Drafting, variant: str) -> None:
    x = draft.data("x", (draft.batch, _HEADS, draft.length, _HEAD))
    half, last = _HEAD // 2, 2**63 - 1
    match variant:
        case "interleaved":
            even = draft.sliced(x, 3, 0, last, 2)
            odd = draft.call("Neg", draft.sliced(x, 3, 1, last, 2))
            pair = [draft.unsqueezed(each, 4) for each in (odd, even)]
            stacked = draft.call("Concat", *pair, axis=-1)
            turned = draft.call("Reshape", stacked, draft.call("Shape", x))
        case "computed":
            width = draft.call("Div", extent(draft, x, 3), draft.integer(2))
            middle = draft.unsqueezed(width, 0)
            second = draft.cut(x, middle, draft.integers(last), 3)
            first = draft.cut(x, draft.integers(0), middle, 3)
            turned = draft.call("Concat", draft.call("Neg", second), first, axis=-1)
        case "split":
            first, second = draft.split(x, 3, half, half)
            turned = draft.call("Concat", draft.call("Neg", second), first, axis=3)
        case _:
            first = draft.sliced(x, 3, 0, half)
            second = draft.sliced(x, 3, half, last)
            turned = draft.call("Concat", draft.call("Neg", second), first, axis=-1)
    places = draft.data("places", (draft.batch, draft.length), "int64", Below(16))
    tables = (draft.weight((16, _HEAD), fill=Steps(8, 8)) for _ in range(2))
    cosine, sine = (
        draft.unsqueezed(draft.call("Gather", table, places, axis=0), 1) for table in tables
    )
    kept, added = draft.call("Mul", x, cosine), draft.call("Mul", turned, sine)
    draft.outputs = [draft.call("Add", kept, added)]


# Quantized layers


def _pair(draft: Drafting, value: str, dtype: str, variant: str, zero: int) -> str:
    """Quantize and dequantize."""
    scale = draft.weight((), "float32", Literal((0.03125,)))
    point = draft.weight((), dtype, Literal((zero,)))
    return draft.call(
        "DequantizeLinear", draft.call("QuantizeLinear", value, scale, point), scale, point
    )


def _stored(draft: Drafting, shape: tuple[int, ...], axis: int, variant: str) -> str:
    """A weight that is stored as integers: one scale for all, or one for each channel."""
    weight = draft.weight(shape, "int8")
    count = shape[axis]
    if variant != "channels":
        scale = draft.weight((), "float32", Literal((0.0625,)))
        return draft.call("DequantizeLinear", weight, scale)
    scale = draft.weight((count,), "float32", Positive(0.0625))
    point = draft.weight((count,), "int8", Literal((0,) * count))
    return draft.call("DequantizeLinear", weight, scale, point, axis=axis)


def _quantized_matmul(draft: Drafting, variant: str) -> None:
    x = draft.data("x", (draft.batch, draft.length, _WIDTH), "float32")
    dtype, zero = ("int8", 0) if variant == "signed" else ("uint8", 128)
    weight = _stored(draft, (_WIDTH, 6), 1, variant)
    product = draft.call("MatMul", _pair(draft, x, dtype, variant, zero), weight)
    bias = draft.weight((6,), "float32")
    draft.outputs = [draft.call("Add", product, bias)]


def _quantized_conv(draft: Drafting, variant: str) -> None:
    x = draft.data("x", (draft.batch, 3, 6, 6), "float32")
    dtype, zero = ("int8", 0) if variant == "signed" else ("uint8", 128)
    weight = _stored(draft, (4, 3, 3, 3), 0, variant)
    bias = draft.weight((4,), "float32")
    result = draft.call(
        "Conv", _pair(draft, x, dtype, variant, zero), weight, bias, pads=(1, 1, 1, 1)
    )
    draft.outputs = [draft.call("Relu", result)]


# Networks


def _block(draft: Drafting, variant: str) -> None:
    """Convolution, normalization, activation, pooling, and a classifier."""
    x = draft.data("x", (draft.batch, 3, 6, 6))
    value = draft.call("Conv", x, draft.weight((4, 3, 3, 3), fill=Steps(8, 8)), pads=(1, 1, 1, 1))
    if variant != "residual":
        fills = (None, None, None, Positive(0.5))
        parameters = [draft.weight((4,), fill=fill) for fill in fills]
        value = draft.call("BatchNormalization", value, *parameters)
    value = draft.clipped(value, 0, 6) if variant == "relu6" else draft.call("Relu", value)
    if variant == "residual":
        again = draft.weight((4, 4, 1, 1), fill=Steps(8, 8))
        value = draft.call("Relu", draft.call("Add", draft.call("Conv", value, again), value))
    pooled = draft.call("GlobalAveragePool", value)
    flat = draft.call("Flatten", pooled, axis=1)
    weight, bias = draft.weight((5, 4), fill=Steps(8, 8)), draft.weight((5,))
    draft.outputs = [draft.call("Gemm", flat, weight, bias, transB=1)]


def _embedded(draft: Drafting, variant: str) -> None:
    """Look tokens up in a table, and normalize them or score them against the table."""
    ids = draft.data("ids", (draft.batch, draft.length), "int64", Below(11))
    table = draft.weight((11, _WIDTH), fill=Steps(8, 8))
    value = draft.call("Gather", table, ids, axis=0)
    if variant == "tied":
        turned = draft.call("Transpose", table, perm=(1, 0))
        value = draft.call("MatMul", draft.call("Tanh", value), turned)
    draft.outputs = [value]


IDIOMS = (
    Idiom(
        "attention",
        _attention,
        ("after", "before", "masked", "where", "shapes", "sqrt-of-shape"),
        13,
    ),
    Idiom("layer-norm", _layer_norm, ("pow", "mul", "reciprocal"), 9),
    Idiom("rms-norm", _root_norm, ("div", "mul", "cast"), 9),
    Idiom("gelu", _gelu, ("erf", "half-first", "tanh"), 9),
    Idiom("gated", _gated, ("glu", "silu"), 9),
    Idiom("rotary", _rotary, ("half", "split", "computed", "interleaved"), 11),
    Idiom("qdq-matmul", _quantized_matmul, ("unsigned", "signed", "channels"), 13),
    Idiom("qdq-conv", _quantized_conv, ("unsigned", "signed", "channels"), 13),
    Idiom("conv-block", _block, ("relu", "relu6", "residual"), 9),
    Idiom("embedding", _embedded, (PLAIN, "tied"), 9),
)
