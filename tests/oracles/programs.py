"""Random small programs for the oracles, drawn without any help from the families."""

from collections.abc import Sequence
from math import prod

from hypothesis import strategies as st

from relaxcheck.generators.core.fills.kinds import LongestSegment, Offsets
from relaxcheck.generators.core.program import Case, Input, Node, Program

FLOATS = ("float16", "bfloat16", "float32", "float64")
WIDER = {
    "float16": ("float32", "float64"),
    "float32": ("float64", "float16"),
    "int8": ("int16", "int32", "int64", "float32"),
    "uint8": ("int32",),
    "int16": ("int32", "int64"),
}


def one_node(operator: str, inputs: Sequence[Input], **attributes: object) -> Program:
    """The program that calls ``operator`` on all ``inputs``."""
    names = tuple(tensor.name for tensor in inputs)
    node = Node("y", operator, names, attributes)  # type: ignore[arg-type]
    return Program(tuple(inputs), (node,), ("y",))


@st.composite
def _layout(
    draw: st.DrawFn, canonical: str, sizes: Sequence[int], pack: str
) -> tuple[str, tuple[int, ...]]:
    """A layout of ``canonical`` and the shape that ``sizes`` have in it; ``pack`` may be split."""
    axes = list(zip(canonical, sizes, strict=True))
    for primal in pack:
        at = next(i for i, (letter, _) in enumerate(axes) if letter == primal)
        size = axes[at][1]
        factor = draw(st.sampled_from([f for f in (1, 2, 4) if size % f == 0]))
        if factor > 1:
            axes[at] = (primal, size // factor)
            axes.append((f"{factor}{primal.lower()}", factor))
    axes = draw(st.permutations(axes))
    return "".join(letter for letter, _ in axes), tuple(size for _, size in axes)


@st.composite
def conv_transposes(draw: st.DrawFn, dtypes: Sequence[str] = (*FLOATS, *WIDER)) -> Program:
    """A transposed convolution over 1 to 3 axes, with everything varied."""
    rank = draw(st.integers(1, 3))
    spatial = "DHW"[3 - rank :]

    def several(low: int, high: int) -> tuple[int, ...]:
        return tuple(draw(st.lists(st.integers(low, high), min_size=rank, max_size=rank)))

    groups = draw(st.integers(1, 3))
    inner, outer = (draw(st.sampled_from((1, 2, 4))) for _ in range(2))
    size, taps, strides, dilation = several(1, 4), several(1, 3), several(1, 3), several(1, 3)
    extra = tuple(draw(st.integers(0, stride - 1)) for stride in strides)
    full = [
        (n - 1) * s + d * (k - 1) + 1 + e
        for n, s, d, k, e in zip(size, strides, dilation, taps, extra, strict=True)
    ]
    begin = tuple(draw(st.integers(0, min(3, n - 1))) for n in full)
    end = tuple(draw(st.integers(0, min(3, n - 1 - b))) for n, b in zip(full, begin, strict=True))
    dtype = draw(st.sampled_from(dtypes))
    batch = draw(st.integers(0, 2))
    data, data_shape = draw(_layout("NC" + spatial, (batch, groups * inner, *size), "C"))
    kernel, kernel_shape = draw(_layout("IO" + spatial, (groups * inner, outer, *taps), "IO"))
    out = draw(
        st.none() | _layout("NC" + spatial, (batch, groups * outer, *size), "C").map(lambda x: x[0])
    )
    if out is None and groups * outer % prod(int(c) for c in data if c.isdigit()):
        out = "NC" + spatial
    return one_node(
        f"nn.conv{rank}d_transpose",
        [Input("x", data_shape, dtype), Input("w", kernel_shape, dtype)],
        strides=strides,
        padding=begin + end,
        output_padding=extra,
        dilation=dilation,
        groups=groups,
        data_layout=data,
        kernel_layout=kernel,
        out_layout=out,
        out_dtype=draw(st.sampled_from((None, dtype, *WIDER.get(dtype, ())))),
    )


_ATTENTION = {
    "scale": st.sampled_from((None, 0.3, 1.0)),
    "causal_mask": st.sampled_from((None, "TopLeft", "BottomRight")),
    "window_size": st.none() | st.integers(1, 4),
}


@st.composite
def attentions(draw: st.DrawFn, dtypes: Sequence[str] = FLOATS) -> Program:
    """An attention with everything varied, bias broadcasts and empty sequences included."""
    batch, queries, keys = (draw(st.integers(low, 6)) for low in (0, 0, 0))
    dim, value_dim = draw(st.integers(1, 9)), draw(st.integers(1, 5))
    shared = draw(st.sampled_from((1, 2, 4)))
    heads = shared * draw(st.integers(1, 2))
    dtype = draw(st.sampled_from(dtypes))
    inputs = [
        Input("q", (batch, queries, heads, dim), dtype),
        Input("k", (batch, keys, shared, dim), dtype),
        Input("v", (batch, keys, shared, value_dim), dtype),
    ]
    if draw(st.booleans()):
        bias = (*(draw(st.sampled_from((1, n))) for n in (batch, heads, queries)), keys)
        inputs.append(Input("bias", bias, dtype))
    attributes = {name: draw(values) for name, values in _ATTENTION.items()}
    return one_node("nn.attention", inputs, **attributes)


@st.composite
def var_len_attentions(draw: st.DrawFn, dtypes: Sequence[str] = FLOATS) -> Program:
    """Attention over one to three sequences laid end to end."""
    count = draw(st.integers(1, 3))
    queries, keys = (count + draw(st.integers(0, 6)) for _ in range(2))
    dim, value_dim = draw(st.integers(1, 9)), draw(st.integers(1, 5))
    heads_k = draw(st.sampled_from((1, 2)))
    heads = heads_k * draw(st.integers(1, 2))
    dtype = draw(st.sampled_from(dtypes))
    inputs = [
        Input("q", (1, queries, heads, dim), dtype),
        Input("k", (1, keys, heads_k, dim), dtype),
        Input("v", (1, keys, heads_k, value_dim), dtype),
        Input("starts_q", (count + 1,), "int32", fill=Offsets(queries)),
        Input("longest_q", (), "int32", fill=LongestSegment("starts_q")),
        Input("starts_k", (count + 1,), "int32", fill=Offsets(keys)),
        Input("longest_k", (), "int32", fill=LongestSegment("starts_k")),
    ]
    attributes = {name: draw(values) for name, values in _ATTENTION.items()}
    return one_node("nn.attention_var_len", inputs, **attributes)


@st.composite
def canonical_conv_transposes(draw: st.DrawFn, dtypes: Sequence[str] = FLOATS) -> Program:
    """A transposed convolution in canonical layouts, its padding given for all sides."""
    program = draw(conv_transposes(dtypes))
    node = program.nodes[0]
    rank = int(node.operator.removeprefix("nn.conv")[0])
    spatial, attributes = "DHW"[3 - rank :], node.attributes
    layouts = {"data_layout": "NC" + spatial, "kernel_layout": "IO" + spatial, "out_layout": None}
    inputs = []
    for tensor, name in zip(program.inputs, ("data_layout", "kernel_layout"), strict=True):
        extents = _extents(str(attributes[name]), tensor.shape)
        shape = tuple(extents[letter] for letter in layouts[name] or "")
        inputs.append(Input(tensor.name, shape, tensor.dtype))
    return one_node(node.operator, inputs, **{**attributes, **layouts, "out_dtype": None})


def _extents(layout: str, shape: Sequence[int | str]) -> dict[str, int]:
    """The size of each primal axis of ``layout``."""
    sizes: dict[str, int] = {}
    for letter, size in zip((c for c in layout if c.isalpha()), shape, strict=True):
        sizes[letter.upper()] = sizes.get(letter.upper(), 1) * int(size)
    return sizes


@st.composite
def matmuls(draw: st.DrawFn, dtypes: Sequence[str] = FLOATS) -> Program:
    """A product of two matrices, or of stacks of them."""
    rows, inner, columns = (draw(st.integers(1, high)) for high in (5, 70, 5))
    lead = draw(st.sampled_from(((), (1,), (2,))))
    dtype = draw(st.sampled_from(dtypes))
    return one_node(
        "matmul", [Input("a", (*lead, rows, inner), dtype), Input("b", (inner, columns), dtype)]
    )


@st.composite
def elementwise(draw: st.DrawFn, operator: str, dtypes: Sequence[str] = FLOATS) -> Program:
    """``operator`` on as many tensors of one shape as it takes."""
    count = 2 if operator in ("add", "multiply") else 1
    shape = tuple(draw(st.lists(st.integers(1, 9), min_size=1, max_size=3)))
    dtype = draw(st.sampled_from(dtypes))
    return one_node(operator, [Input(name, shape, dtype) for name in "ab"[:count]])


@st.composite
def chains(draw: st.DrawFn) -> Program:
    """Four nodes: a matmul, its transpose times itself, a sum and a rectifier."""
    dtype = draw(st.sampled_from((*FLOATS, "int8", "uint8", "int16", "int32", "int64")))
    rows, inner = draw(st.integers(0, 4)), draw(st.integers(1, 5))
    lead = draw(st.sampled_from(((), (1,), (2,))))
    return Program(
        (
            Input("a", (*lead, rows, inner), dtype),
            Input("b", (inner, rows), dtype, constant=True),
        ),
        (
            Node("m", "matmul", ("a", "b")),
            Node("t", "permute_dims", ("b",), {"axes": (1, 0)}),
            Node("u", "multiply", ("a", "t")),
            Node("r", "nn.relu", ("u",)),
            Node("s", "add", ("r", "t")),
        ),
        ("m", "s", "t"),
    )


def programs() -> st.SearchStrategy[Program]:
    """Any of the above."""
    return st.one_of(conv_transposes(), attentions(), var_len_attentions(), chains())


@st.composite
def cases(
    draw: st.DrawFn,
    drawn: st.SearchStrategy[Program],
    regimes: Sequence[str] = ("normal", "exact"),
) -> Case:
    """A case of a drawn program with random values."""
    return Case(
        "drawn",
        draw(drawn),
        regime=draw(st.sampled_from(regimes)),
        seed=draw(st.integers(0, 2**16)),
    )
