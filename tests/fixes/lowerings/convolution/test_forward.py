"""Convolution in every layout equals a gather in NumPy, exactly, on small integers."""

import math
from dataclasses import dataclass
from functools import partial
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tvm import relax

from relaxcheck import fixes
from tests.fixes import compiled, reference
from tests.fixes import whole_programs as whole

SPATIAL = {1: "W", 2: "HW", 3: "DHW"}


def expected(data: Any, kernel: Any, attributes: dict[str, Any]) -> Any:
    """The output in the canonical layout in float64, window by window."""
    rank = data.ndim - 2
    strides = attributes.get("strides", (1,) * rank)
    dilation = attributes.get("dilation", (1,) * rank)
    padding = attributes.get("padding", (0,) * 2 * rank)
    groups = attributes.get("groups", 1)
    pairs = list(zip(padding[:rank], padding[rank:], strict=True))
    padded = np.pad(data.astype("float64"), [(0, 0), (0, 0), *pairs])
    taps = kernel.shape[2:]
    sizes = [
        (padded.shape[2 + a] - dilation[a] * (taps[a] - 1) - 1) // strides[a] + 1
        for a in range(rank)
    ]
    split = kernel.reshape(groups, -1, *kernel.shape[1:]).astype("float64")
    out = np.zeros((data.shape[0], kernel.shape[0], *sizes))
    for at in np.ndindex(*sizes):
        window = padded[
            :,
            :,
            *(
                slice(o * s, o * s + d * (k - 1) + 1, d)
                for o, s, d, k in zip(at, strides, dilation, taps, strict=True)
            ),
        ]
        grouped = window.reshape(data.shape[0], groups, kernel.shape[1], *taps)
        summed = np.einsum("ngi...,goi...->ngo...", grouped, split).sum(
            axis=tuple(range(3, 3 + rank))
        )
        out[..., *at] = summed.reshape(out.shape[:2])
    return out


def run(
    data: Any, kernel: Any, symbolic: str = "", *, fused: bool = False, **attributes: Any
) -> None:
    """Assert that TVM's result with the fixes on is the expected one.

    ``symbolic`` names the storage axes of the data that are symbols.
    """
    rank = data.ndim - 2
    spatial = SPATIAL[rank]
    data_layout = attributes.get("data_layout", f"NC{spatial}")
    stored_data = reference.stored(data, data_layout, f"NC{spatial}")
    stored_kernel = reference.stored(
        kernel, attributes.get("kernel_layout", f"OI{spatial}"), f"OI{spatial}"
    )
    letters = [letter for letter in data_layout if letter.isalpha()]
    shape = [
        letter if letter in symbolic else extent
        for letter, extent in zip(letters, stored_data.shape, strict=True)
    ]
    operator = getattr(relax.op.nn, f"conv{rank}d")
    pipeline = relax.get_default_pipeline(compiled.TARGET) if fused else "default"
    with fixes.install():
        module = compiled.module(
            lambda x, w: relax.op.abs(operator(relax.op.abs(x), w, **attributes)),
            shape,
            stored_kernel.shape,
            dtypes=(data.dtype.name, kernel.dtype.name),
        )
        got = compiled.build(module, pipeline=pipeline)(stored_data, stored_kernel)
    want = np.abs(expected(np.abs(data), kernel, attributes))
    want = reference.stored(want, attributes.get("out_layout", data_layout), f"NC{spatial}")
    assert got.dtype == np.dtype(attributes.get("out_dtype") or data.dtype)
    assert got.shape == want.shape
    np.testing.assert_array_equal(got, want)


def integers(*shape: int, dtype: str = "float32", seed: int = 0) -> Any:
    return compiled.sample(shape, "int8", seed).astype(dtype)


LAYOUTS = [
    {name: "".join(order)}
    for name, letters in (("data_layout", "NCHW"), ("kernel_layout", "OIHW"))
    for order in permutations(letters)
    if order.index("W") < order.index("H")
]


@pytest.mark.parametrize("layouts", LAYOUTS, ids=lambda layouts: "".join(layouts.values()))
def test_every_order_with_width_before_height(layouts: dict[str, str]) -> None:
    data, kernel = integers(2, 4, 5, 6), integers(6, 2, 2, 3, seed=1)
    run(
        *(data, kernel),
        **layouts,
        groups=2,
        strides=(2, 1),
        padding=(1, 0, 0, 2),
        dilation=(1, 2),
    )


@pytest.mark.parametrize("rank", [1, 2, 3])
@pytest.mark.parametrize(
    "layouts",
    [
        {"out_layout": "NSC"},
        {"data_layout": "NCS2c"},
        {"data_layout": "NSC4c"},
        {"out_layout": "NCS2c"},
        {"kernel_layout": "OIS2i4o"},
        {"data_layout": "NCS4c", "kernel_layout": "OIS2i2o", "out_layout": "NCS4c"},
        {"data_layout": "2cNCS", "kernel_layout": "I2iSO2o", "out_layout": "N2cSC2n"},
    ],
    ids=lambda layouts: "-".join(layouts.values()),
)
def test_packed_layouts_and_outputs_of_another(rank: int, layouts: dict[str, str]) -> None:
    data, kernel = integers(2, 4, *(3, 4, 5)[:rank]), integers(8, 4, *(2, 3, 1)[:rank], seed=1)
    named = {name: text.replace("S", SPATIAL[rank]) for name, text in layouts.items()}
    run(data, kernel, padding=(1,) * 2 * rank, **named)


@pytest.mark.parametrize("fused", [False, True])
def test_volumes_of_another_order(fused: bool) -> None:
    data, kernel = integers(1, 2, 3, 4, 5), integers(3, 2, 2, 3, 1, seed=1)
    run(data, kernel, fused=fused, data_layout="NCWHD", kernel_layout="WOIDH", strides=(1, 2, 3))


@dataclass(frozen=True, slots=True)
class Parameters:
    data: tuple[int, ...]
    kernel: tuple[int, ...]
    symbolic: str
    attributes: dict[str, Any]


@st.composite
def parameters(draw: st.DrawFn) -> Parameters:
    rank = draw(st.integers(1, 3))
    spatial = SPATIAL[rank]
    splits = {name: draw(st.sampled_from([0, 0, 2, 4])) for name in ("data", "i", "o", "out")}
    groups = draw(st.sampled_from([1, 1, 2, 3]))
    inputs = max(1, splits["i"])
    inputs *= math.lcm(inputs * groups, max(1, splits["data"])) // (inputs * groups)
    outs = math.lcm(*(max(1, splits[name]) for name in ("o", "out")), groups)
    taps, strides, dilation = ([draw(st.integers(1, 3)) for _ in spatial] for _ in range(3))
    begins, ends = ([draw(st.integers(0, 2)) for _ in spatial] for _ in range(2))
    extents = [
        max(1, d * (k - 1) + 1 - b - e) + draw(st.integers(0, 2))
        for k, d, b, e in zip(taps, dilation, begins, ends, strict=True)
    ]

    def layout(letters: str, split: dict[str, int]) -> str:
        text = list(draw(st.permutations(letters)))
        for axis, inner in split.items():
            if inner:
                text.insert(draw(st.integers(0, len(text))), f"{inner}{axis}")
        return "".join(text)

    symbols = "N" + spatial + ("C" if groups == 1 or splits["data"] else "")
    return Parameters(
        (draw(st.integers(0, 2)), inputs * groups, *extents),
        (outs, inputs, *taps),
        draw(st.sampled_from(["", "N", spatial, symbols])),
        {
            "strides": tuple(strides),
            "padding": (*begins, *ends),
            "dilation": tuple(dilation),
            "groups": groups,
            "data_layout": layout("NC" + spatial, {"c": splits["data"]}),
            "kernel_layout": layout("OI" + spatial, {"i": splits["i"], "o": splits["o"]}),
            "out_layout": layout("NC" + spatial, {"c": splits["out"]}),
        },
    )


@settings(deadline=None)
@given(parameters())
def test_everything_together(drawn: Parameters) -> None:
    data, kernel = integers(*drawn.data), integers(*drawn.kernel, seed=1)
    run(data, kernel, drawn.symbolic, **drawn.attributes)


@pytest.mark.parametrize(
    ("dtype", "out_dtype"),
    [("float16", None), ("float64", None), ("float16", "float32"), ("int8", "int32")],
)
def test_dtypes(dtype: str, out_dtype: str | None) -> None:
    data, kernel = integers(1, 2, 3, 4, dtype=dtype), integers(2, 2, 2, 1, dtype=dtype, seed=1)
    run(data, kernel, data_layout="NCWH", out_dtype=out_dtype)


def test_a_sum_over_no_channels_is_zero() -> None:
    with fixes.install():
        module = compiled.module(
            lambda x, w: relax.op.nn.conv2d(x, w, data_layout="NCWH"),
            (1, "C", 3, 3),
            (2, "C", 2, 2),
        )
        result = compiled.build(module)(np.ones((1, 0, 3, 3), "f4"), np.ones((2, 0, 2, 2), "f4"))
    np.testing.assert_array_equal(result, np.zeros((1, 2, 2, 2)))


def test_channels_last_are_left_to_tvm(fixes_on: None) -> None:
    module = compiled.module(
        lambda x, w: relax.op.nn.conv2d(x, w, data_layout="NHWC", kernel_layout="HWIO"),
        *((1, 4, 5, 2), (2, 3, 2, 3)),
    )
    assert "conv2d_nhwc" in str(relax.transform.LegalizeOps()(module))


@pytest.mark.parametrize(
    ("attributes", "message"),
    [
        ({"strides": (-1, 1)}, r"strides=\(-1, 1\): a number is less than 1"),
        ({"dilation": (1, -1)}, r"dilation=\[1, -1\]: a number is less than 0"),
        ({"padding": 0, "dilation": (4, 1)}, "output dimension H would be 0"),
        ({"out_layout": "NCHW4c"}, "out_layout='NCHW4c'.* does not divide C = 2"),
    ],
)
def test_invalid_parameters_are_named(
    fixes_on: None, attributes: dict[str, Any], message: str
) -> None:
    layouts = {"data_layout": "NCWH", **attributes}
    with pytest.raises(ValueError, match=f"conv2d is invalid with .*{message}"):
        relax.transform.LegalizeOps()(
            compiled.module(
                lambda x, w: relax.op.nn.conv2d(x, w, **layouts), (1, 2, 4, 4), (2, 2, 2, 2)
            )
        )


@pytest.mark.parametrize(
    ("shapes", "attributes", "fits", "breaks", "message"),
    [
        (
            ((1, "C", 4, 4, 2), (2, "I", 2, 2)),
            {"data_layout": "NCHW2c", "out_layout": "NCHW"},
            {"C": 2, "I": 4},
            {"C": 2, "I": 3},
            "data_layout='NCHW2c'.*channels",
        ),
        (
            ((1, 2, 4, 4), ("K", 2, 2, 2)),
            {"out_layout": "NCHW4c"},
            {"K": 8},
            {"K": 6},
            "out_layout='NCHW4c'.* does not divide C",
        ),
        (
            ((1, 2, "W", "H"), (2, 2, 2, 3)),
            {"data_layout": "NCWH"},
            {"W": 3, "H": 2},
            {"W": 2, "H": 3},
            "output dimension W",
        ),
    ],
)
def test_symbols_are_checked_when_they_are_known(
    fixes_on: None,
    shapes: Any,
    attributes: dict[str, Any],
    fits: dict[str, int],
    breaks: dict[str, int],
    message: str,
) -> None:
    program = compiled.module(lambda x, w: relax.op.nn.conv2d(x, w, **attributes), *shapes)
    function = compiled.build(program)

    def arrays(binding: dict[str, int]) -> list[Any]:
        return [integers(*compiled.size(shape, binding)) for shape in shapes]

    data, kernel = arrays(fits)
    data_layout = attributes.get("data_layout", "NCHW")
    want = expected(reference.logical(data, data_layout, "NCHW"), kernel, {})
    want = reference.stored(want, attributes.get("out_layout", data_layout), "NCHW")
    np.testing.assert_array_equal(function(data, kernel), want)
    with pytest.raises(ValueError, match=f"conv2d is invalid with .*{message}"):
        function(*arrays(breaks))


def is_right(rank: int, **layouts: str) -> None:
    """The program of one convolution in ``layouts`` computes what NumPy does."""
    spatial = SPATIAL[rank]
    data, kernel = integers(1, 2, *(3, 4, 5)[:rank]), integers(2, 2, *(2, 1, 3)[:rank], seed=1)
    data_layout = layouts.get("data_layout", f"NC{spatial}")
    arrays = (
        reference.stored(data, data_layout, f"NC{spatial}"),
        reference.stored(kernel, layouts.get("kernel_layout", f"OI{spatial}"), f"OI{spatial}"),
    )
    operator = partial(getattr(relax.op.nn, f"conv{rank}d"), **layouts)
    result = compiled.build(compiled.module(operator, *(array.shape for array in arrays)))(*arrays)
    want = expected(data, kernel, {})
    np.testing.assert_array_equal(
        result, reference.stored(want, layouts.get("out_layout", data_layout), f"NC{spatial}")
    )


PROGRAMS: whole.Programs = {
    "convolution_layouts": {
        "orders of spatial axes": (
            partial(is_right, 2, data_layout="NCWH"),
            partial(is_right, 2, kernel_layout="WHIO"),
            partial(is_right, 3, data_layout="NHDWC"),
        ),
        "output layouts": tuple(
            partial(is_right, rank, out_layout=f"{SPATIAL[rank]}NC") for rank in SPATIAL
        ),
        "packed layouts": tuple(
            partial(is_right, rank, **{name: text})
            for rank in SPATIAL
            for name, text in (
                ("data_layout", f"NC{SPATIAL[rank]}2c"),
                ("kernel_layout", f"OI{SPATIAL[rank]}2o"),
            )
        ),
    },
}

CURES: whole.Cures = {
    "conv2d-out-layout": (("convolution_layouts", "output layouts"),),
    "conv2d-packed-kernel": (("convolution_layouts", "packed layouts"),),
}
