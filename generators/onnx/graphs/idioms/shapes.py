"""Arithmetic on shapes: results that feed Reshape, Expand, Slice, Range and Resize."""

from relaxcheck.generators.core.fills.kinds import Below, Literal, Steps
from relaxcheck.generators.onnx.graphs.drafting import Drafting
from relaxcheck.generators.onnx.graphs.idioms.idiom import Idiom
from relaxcheck.generators.onnx.model import TensorValue

_WIDTH = 8


def tokens(draft: Drafting, name: str = "x") -> str:
    """An input of a batch of sequences."""
    return draft.data(name, (draft.batch, draft.length, _WIDTH))


def extent(draft: Drafting, value: str, axis: int) -> str:
    """The size of a dimension, as a scalar."""
    return draft.call("Gather", draft.call("Shape", value), draft.integer(axis), axis=0)


def size_vector(draft: Drafting, value: str, axis: int) -> str:
    """The size of a dimension, as a vector of one element."""
    return draft.unsqueezed(extent(draft, value, axis), 0)


def _reshaped(draft: Drafting, variant: str) -> None:
    """Concatenate sizes that Gather takes from a shape with constants, and reshape to them."""
    x = tokens(draft)
    rows = size_vector(draft, x, 0)
    match variant:
        case "flatten":
            sizes = [rows, draft.integers(-1)]
        case "split-heads":
            sizes = [rows, size_vector(draft, x, 1), draft.integers(2), draft.integers(4)]
        case "negative-axis":
            sizes = [rows, draft.integers(-1), size_vector(draft, x, -1)]
        case _:
            # A size counted by hand, as where views are exported.
            sizes = [rows, size_vector(draft, x, 1), draft.integers(_WIDTH)]
    shape = draft.call("Concat", *sizes, axis=0)
    result = draft.call("Reshape", x, shape)
    if variant == "split-heads":
        result = draft.call("Transpose", result, perm=(0, 2, 1, 3))
    draft.outputs = [result]


def _from_slice(draft: Drafting, variant: str) -> None:
    """Slice a shape, and concatenate the part with constants."""
    x = tokens(draft)
    shape = draft.call("Shape", x)
    match variant:
        case "front":
            part = draft.sliced(shape, 0, 0, 2)
            sizes = [part, draft.integers(2, -1)]
        case "back":
            part = draft.sliced(shape, 0, -1, 2**31 - 1)
            sizes = [draft.integers(-1), part]
        case _:
            part = draft.sliced(shape, 0, 0, -1)
            sizes = [part, draft.integers(_WIDTH // 2, 2)]
    draft.outputs = [draft.call("Reshape", x, draft.call("Concat", *sizes, axis=0))]


def _arithmetic(draft: Drafting, variant: str) -> None:
    """Multiply, subtract or divide sizes, and use the result as a size or an index."""
    x = tokens(draft)
    rows, length = extent(draft, x, 0), extent(draft, x, 1)
    match variant:
        case "mul":
            total = draft.unsqueezed(draft.call("Mul", rows, length), 0)
            shape = draft.call("Concat", total, draft.integers(_WIDTH), axis=0)
            result = draft.call("Reshape", x, shape)
        case "sub":
            last = draft.call("Sub", length, draft.integer(1))
            result = draft.call("Gather", x, last, axis=1)
        case "add":
            total = draft.unsqueezed(draft.call("Add", length, draft.integer(2)), 0)
            sizes = draft.call("Concat", draft.integers(1), total, axis=0)
            result = draft.call("ConstantOfShape", sizes)
        case "div":
            half = draft.unsqueezed(draft.call("Div", extent(draft, x, 2), draft.integer(2)), 0)
            result = draft.call("Neg", draft.cut(x, half, draft.integers(2**63 - 1), 2))
        case _:
            # Exporters divide sizes as floats where the framework rounds down.
            wide = draft.cast(extent(draft, x, 2), "float32")
            quotient = draft.call("Div", wide, draft.number(2, "float32"))
            half = draft.cast(draft.call("Floor", quotient), "int64")
            result = draft.cut(x, draft.integers(0), draft.unsqueezed(half, 0), 2)
    draft.outputs = [result]


def _product(draft: Drafting, variant: str) -> None:
    """Multiply sizes by ReduceProd, or count elements by Size."""
    x = tokens(draft)
    if variant == "size":
        count = draft.call("Size", x)
        result = draft.call("Div", x, draft.cast(count, draft.dtype))
    else:
        front = draft.sliced(draft.call("Shape", x), 0, 0, 2)
        total = draft.reduced("ReduceProd", front, 0, keep=True)
        shape = draft.call("Concat", total, draft.integers(-1), axis=0)
        result = draft.call("Reshape", x, shape)
    draft.outputs = [result]


def _expanded(draft: Drafting, variant: str) -> None:
    """Expand a constant, or a row, to a shape that is computed."""
    x = tokens(draft)
    shape = draft.call("Shape", x)
    match variant:
        case "ones":
            filled = draft.call(
                "ConstantOfShape", shape, value=TensorValue(draft.dtype, (1,), (1,))
            )
            result = draft.call("Sub", filled, x)
        case "default":
            # Without a value it makes zeros of float32.
            filled = draft.call("ConstantOfShape", shape)
            result = draft.call("Add", x, draft.cast(filled, draft.dtype))
        case "scalar":
            result = draft.call("Mul", x, draft.call("Expand", draft.number(0.5), shape))
        case _:
            row = draft.weight((1, 1, _WIDTH))
            result = draft.call("Expand", row, shape)
    draft.outputs = [result]


def _minus_one(draft: Drafting, variant: str) -> None:
    """Replace each -1 among sizes by 1 before Expand, as PyTorch's exporter does."""
    x = draft.data("x", (draft.batch, 1, _WIDTH))
    wanted = draft.integers(-1, 3, -1)
    count = draft.integers(3)
    ones = draft.call("ConstantOfShape", count, value=TensorValue("int64", (1,), (1,)))
    unknown = draft.call("Equal", wanted, draft.call("Mul", ones, draft.integers(-1)))
    sizes = draft.call("Where", unknown, ones, wanted)
    if variant == "of-shape":
        sizes = draft.call("Where", unknown, draft.call("Shape", x), wanted)
    draft.outputs = [draft.call("Expand", x, sizes)]


def _positions(draft: Drafting, variant: str) -> None:
    """Count positions by Range up to a size, and use them as indices or numbers."""
    x = tokens(draft)
    length = extent(draft, x, 1)
    places = draft.call("Range", draft.integer(0), length, draft.integer(1))
    match variant:
        case "embedding":
            table = draft.weight((16, _WIDTH))
            result = draft.call("Add", x, draft.call("Gather", table, places, axis=0))
        case "batched":
            wide = draft.unsqueezed(places, 0)
            rows = size_vector(draft, x, 0)
            shape = draft.call("Concat", rows, draft.integers(-1), axis=0)
            sizes = draft.call(
                "Where", draft.call("Equal", shape, draft.integers(-1)), draft.integers(1), shape
            )
            result = draft.call("Expand", wide, sizes)
        case "angles":
            angles = draft.call(
                "Mul",
                draft.unsqueezed(draft.cast(places, "float32"), 1),
                draft.weight((1, 4), "float32", Steps(8, 8)),
            )
            result = draft.call("Cos", angles)
        case _:
            ends = draft.call("Range", length, draft.integer(0), draft.integer(-1))
            result = draft.call("Add", places, ends)
    draft.outputs = [result]


def _masked(draft: Drafting, variant: str) -> None:
    """Make a causal mask, and add it to scores."""
    scores = draft.data("x", (draft.batch, draft.length, draft.length))
    length = size_vector(draft, scores, 1)
    sizes = draft.call("Concat", length, length, axis=0)
    low = draft.number(-10000)
    match variant:
        case "trilu":
            full = draft.call(
                "ConstantOfShape", sizes, value=TensorValue(draft.dtype, (1,), (-64,))
            )
            mask = draft.call("Trilu", full, draft.integer(1))
            result = draft.call("Softmax", draft.call("Add", scores, mask), axis=-1)
        case "range":
            count = draft.call(
                "Range", draft.integer(0), extent(draft, scores, 1), draft.integer(1)
            )
            rows, columns = draft.unsqueezed(count, 1), draft.unsqueezed(count, 0)
            hidden = draft.call("Less", rows, columns)
            result = draft.call("Softmax", draft.call("Where", hidden, low, scores), axis=-1)
        case _:
            # A mask of the largest length, cut to the present one.
            stored = draft.weight((16, 16), "bool", name="mask")
            rows = draft.cut(stored, draft.integers(0), length, 0)
            mask = draft.cut(rows, draft.integers(0), length, 1)
            result = draft.call("Where", mask, scores, low)
    draft.outputs = [result]


def _resized(draft: Drafting, variant: str) -> None:
    """Compute the sizes that an image is resized to from its shape."""
    x = draft.data("x", (draft.batch, 3, 4, 6))
    shape = draft.call("Shape", x)
    front = draft.sliced(shape, 0, 0, 2)
    back = draft.sliced(shape, 0, 2, 4)
    if variant == "float":
        wide = draft.call("Mul", draft.cast(back, "float32"), draft.number(2, "float32"))
        back = draft.cast(draft.call("Floor", wide), "int64")
    else:
        back = draft.call("Mul", back, draft.integers(2))
    sizes = draft.call("Concat", front, back, axis=0)
    nothing = draft.weight((0,), "float32", Literal(()))
    empty = "" if draft.opset >= 13 else nothing
    draft.outputs = [
        draft.call(
            "Resize",
            x,
            empty,
            empty,
            sizes,
            mode="nearest",
            nearest_mode="floor",
            coordinate_transformation_mode="asymmetric",
        )
    ]


def _padded(draft: Drafting, variant: str) -> None:
    """Pad sequences to a multiple of four, by sizes that are computed."""
    x = tokens(draft)
    length = extent(draft, x, 1)
    four = draft.integer(4)
    if variant == "mod":
        rest = draft.call("Mod", length, four)
        missing = draft.call("Mod", draft.call("Sub", four, rest), four)
    else:
        blocks = draft.call("Div", draft.call("Add", length, draft.integer(3)), four)
        missing = draft.call("Sub", draft.call("Mul", blocks, four), length)
    pads = draft.call(
        "Concat",
        draft.integers(0, 0, 0, 0),
        draft.unsqueezed(missing, 0),
        draft.integers(0),
        axis=0,
    )
    draft.outputs = [draft.call("Pad", x, pads)]


def _last(draft: Drafting, variant: str) -> None:
    """Take the last element of each sequence."""
    x = tokens(draft)
    match variant:
        case "scalar":
            result = draft.call("Gather", x, draft.integer(-1), axis=1)
        case "vector":
            result = draft.squeezed(draft.call("Gather", x, draft.integers(-1), axis=1), 1)
        case "slice":
            result = draft.squeezed(draft.sliced(x, 1, -1, 2**63 - 1), 1)
        case _:
            ids = draft.data("i", (draft.batch, draft.length), "int64", Below(5))
            result = draft.call("Gather", ids, draft.integer(-1), axis=-1)
    draft.outputs = [result]


def _ends(draft: Drafting, variant: str) -> None:
    """Take a part of a shape by the attributes of Shape itself."""
    x = tokens(draft)
    ends = {"start": (1, None), "end": (None, 2), "both": (-2, -1)}
    start, end = ends[variant]
    sizes = draft.call("Shape", x, start=start, end=end)
    row = draft.call("ConstantOfShape", sizes, value=TensorValue("float32", (1,), (2,)))
    draft.outputs = [row]


IDIOMS = (
    Idiom("shape-reshape", _reshaped, ("flatten", "split-heads", "negative-axis", "view"), 9),
    Idiom("shape-slice", _from_slice, ("front", "back", "leading"), 9),
    Idiom("shape-arithmetic", _arithmetic, ("mul", "sub", "add", "div", "floor"), 10),
    Idiom("shape-product", _product, ("reduce", "size"), 9),
    Idiom("shape-expand", _expanded, ("ones", "default", "scalar", "row"), 9),
    Idiom("expand-minus-one", _minus_one, ("of-ones", "of-shape"), 9),
    Idiom("range-positions", _positions, ("embedding", "batched", "angles", "backwards"), 11),
    Idiom("causal-mask", _masked, ("range", "cut", "trilu"), 14),
    Idiom("resize-to-shape", _resized, ("integer", "float"), 11),
    Idiom("pad-to-multiple", _padded, ("div", "mod"), 11),
    Idiom("last-element", _last, ("scalar", "vector", "slice", "ids"), 11),
    Idiom("shape-ends", _ends, ("start", "end", "both"), 15),
)
