"""Transposed convolution with the fix equals a scatter in NumPy, exactly, on small integers."""

import math
from dataclasses import dataclass
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tvm import relax

from relaxcheck import fixes
from relaxcheck.fixes import tvm_api
from tests.fixes import compiled, reference

SPATIAL = {1: "W", 2: "HW", 3: "DHW"}


def run(
    rank: int,
    data: Any,
    kernel: Any,
    symbolic: str = "",
    exec_mode: str = "bytecode",
    **attributes: Any,
) -> tuple[Any, Any]:
    """(TVM's result with the fixes on, the reference), both in the layout of the output.

    ``symbolic`` names the storage axes of the data that are symbols.
    """
    spatial = SPATIAL[rank]
    data_layout = attributes.get("data_layout", f"NC{spatial}")
    kernel_layout = attributes.get("kernel_layout", f"IO{spatial}")
    stored_data = reference.stored(data, data_layout, f"NC{spatial}")
    stored_kernel = reference.stored(kernel, kernel_layout, f"IO{spatial}")
    letters = [letter for letter in data_layout if letter.isalpha()]
    shape = [
        letter if letter in symbolic else extent
        for letter, extent in zip(letters, stored_data.shape, strict=True)
    ]
    operator = getattr(relax.op.nn, f"conv{rank}d_transpose")
    with fixes.install():
        module = compiled.module(
            lambda x, w: operator(x, w, **attributes),
            shape,
            stored_kernel.shape,
            dtypes=(data.dtype.name, kernel.dtype.name),
        )
        got = compiled.build(module, exec_mode)(stored_data, stored_kernel)
    want = reference.conv_transpose(
        data,
        kernel,
        attributes.get("strides", (1,) * rank),
        attributes.get("padding", (0,) * 2 * rank),
        attributes.get("output_padding", (0,) * rank),
        attributes.get("dilation", (1,) * rank),
        attributes.get("groups", 1),
    )
    return got, reference.stored(want, attributes.get("out_layout", data_layout), f"NC{spatial}")


def integers(*shape: int, dtype: str = "float32", seed: int = 0) -> Any:
    return compiled.sample(shape, "int8", seed).astype(dtype)


def assert_exact(pair: tuple[Any, Any]) -> None:
    got, want = pair
    assert got.shape == want.shape
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("rank", [1, 2, 3])
@pytest.mark.parametrize("dilation", [1, 2, 3])
def test_dilation_of_issue_19694(rank: int, dilation: int) -> None:
    data, kernel = integers(1, 3, *(4,) * rank), integers(3, 2, *(3,) * rank, seed=1)
    assert_exact(run(rank, data, kernel, dilation=(dilation,) * rank))


def test_channels_last_of_issue_19694() -> None:
    data, kernel = integers(1, 3, 4, 5), integers(3, 2, 3, 2, seed=1)
    assert_exact(run(2, data, kernel, data_layout="NHWC", kernel_layout="HWIO"))


def test_output_layout_of_issue_19694() -> None:
    data, kernel = integers(1, 3, 4, 5), integers(3, 2, 3, 2, seed=1)
    assert_exact(run(2, data, kernel, out_layout="NHWC"))


@pytest.mark.parametrize("shift", range(6))
def test_every_pair_of_permutations_in_one_dimension(shift: int) -> None:
    data, kernel = integers(2, 4, 5), integers(4, 3, 2, seed=1)
    of_data, of_kernel = (list(map("".join, permutations(text))) for text in ("NCW", "IOW"))
    for index, data_layout in enumerate(of_data):
        kernel_layout = of_kernel[(index + shift) % 6]
        out_layout = of_data[(index + 2 * shift + 1) % 6]
        assert_exact(
            run(
                1,
                data,
                kernel,
                strides=(2,),
                data_layout=data_layout,
                kernel_layout=kernel_layout,
                out_layout=out_layout,
            )
        )


@dataclass(frozen=True, slots=True)
class Parameters:
    rank: int
    data: tuple[int, ...]
    kernel: tuple[int, ...]
    symbolic: str
    attributes: dict[str, Any]


@st.composite
def parameters(draw: st.DrawFn) -> Parameters:
    rank = draw(st.integers(1, 3))
    spatial = SPATIAL[rank]
    small = st.integers(1, 3)
    factor = st.sampled_from([0, 0, 2, 4, 8])
    splits = {name: draw(factor, label=name) for name in ("data", "i", "o", "out")}
    groups = draw(st.sampled_from([1, 1, 2, 3]))
    channels = math.lcm(*(max(1, splits[name]) for name in ("data", "i")), groups)
    outs = math.lcm(max(1, splits["o"]), max(1, splits["out"])) * draw(st.integers(1, 2))
    extents, taps, strides, dilation = ([draw(small) for _ in spatial] for _ in range(4))
    output_padding = [draw(st.integers(0, stride - 1)) for stride in strides]
    begins, ends = [], []
    for n, k, s, d, extra in zip(extents, taps, strides, dilation, output_padding, strict=True):
        spare = draw(st.integers(0, (n - 1) * s + d * (k - 1) + extra))
        begins.append(draw(st.integers(0, spare)))
        ends.append(spare - begins[-1])

    def layout(letters: str, split: dict[str, int]) -> str:
        text = list(draw(st.permutations(letters)))
        for axis, inner in split.items():
            if inner:
                text.insert(draw(st.integers(0, len(text))), f"{inner}{axis}")
        return "".join(text)

    symbols = "N" + spatial + ("C" if groups == 1 or splits["data"] else "")
    return Parameters(
        rank,
        (2, channels, *extents),
        (channels, outs, *taps),
        draw(st.sampled_from(["", "N", spatial, symbols])),
        {
            "strides": tuple(strides),
            "padding": (*begins, *ends),
            "output_padding": tuple(output_padding),
            "dilation": tuple(dilation),
            "groups": groups,
            "data_layout": layout("NC" + spatial, {"c": splits["data"]}),
            "kernel_layout": layout("IO" + spatial, {"i": splits["i"], "o": splits["o"]}),
            "out_layout": layout("NC" + spatial, {"c": splits["out"]}),
        },
    )


@settings(deadline=None)
@given(parameters())
def test_everything_together(drawn: Parameters) -> None:
    data, kernel = integers(*drawn.data), integers(*drawn.kernel, seed=1)
    assert_exact(run(drawn.rank, data, kernel, drawn.symbolic, **drawn.attributes))


@pytest.mark.parametrize("exec_mode", ["bytecode", "compiled"])
@pytest.mark.parametrize(
    ("dtype", "out_dtype"),
    [
        ("float16", None),
        ("bfloat16", None),
        ("float64", None),
        ("float16", "float32"),
        ("int8", "int32"),
        ("int8", "int16"),
        ("uint8", "int64"),
    ],
)
def test_dtypes(exec_mode: str, dtype: str, out_dtype: str | None) -> None:
    data, kernel = (
        (compiled.sample(shape, "uint8", seed) % 4).astype(np.dtype(dtype))
        for seed, shape in enumerate([(1, 2, 4), (2, 2, 3)])
    )
    got, want = run(1, data, kernel, exec_mode=exec_mode, strides=(2,), out_dtype=out_dtype)
    assert got.dtype == np.dtype(out_dtype or dtype)
    assert_exact((got, want))


def test_an_integer_sum_is_made_in_the_output_dtype() -> None:
    data, kernel = np.full((1, 64, 1), 127, "int8"), np.full((64, 1, 1), 127, "int8")
    assert_exact(run(1, data, kernel, out_dtype="int32"))


@pytest.mark.parametrize("batch", [0, 1, 5])
def test_one_module_runs_at_every_batch(fixes_on: None, batch: int) -> None:
    function = compiled.build(
        compiled.module(
            lambda x, w: relax.op.nn.conv2d_transpose(x, w, strides=(2, 1), out_layout="NHWC"),
            ("B", 2, "H", 4),
            (2, 3, 2, 2),
        )
    )
    kernel = integers(2, 3, 2, 2, seed=1)
    for height in (1, 2, 7):
        data = integers(batch, 2, height, 4)
        want = reference.conv_transpose(data, kernel, (2, 1), (0,) * 4, (0, 0), (1, 1), 1)
        np.testing.assert_array_equal(function(data, kernel), want.transpose(0, 2, 3, 1))


def test_integers_may_differ() -> None:
    data = integers(1, 2, 4).astype("uint8") % 4
    assert_exact(run(1, data, integers(2, 3, 2, dtype="int8", seed=1), out_dtype="int32"))


@pytest.mark.parametrize("padding", [1, (1,), (1, 2), (1, 2, 1, 2)])
def test_fewer_numbers_stand_for_all(padding: Any) -> None:
    data, kernel = integers(1, 2, 4, 5), integers(2, 3, 3, 4, seed=1)
    full = {1: (1,) * 4, 2: (1, 2, 1, 2)}
    with fixes.install():
        module = compiled.module(
            lambda x, w: relax.op.nn.conv2d_transpose(x, w, strides=2, padding=padding),
            data.shape,
            kernel.shape,
        )
        got = compiled.build(module)(data, kernel)
    wanted = full[1] if padding in (1, (1,)) else full[2]
    want = reference.conv_transpose(data, kernel, (2, 2), wanted, (0, 0), (1, 1), 1)
    np.testing.assert_array_equal(got, want)


PIPELINES = {
    "default": lambda: "default",
    "of the target": lambda: relax.get_default_pipeline(compiled.TARGET),
}


@pytest.mark.parametrize("relax_pipeline", PIPELINES)
@pytest.mark.parametrize("exec_mode", ["bytecode", "compiled"])
@pytest.mark.parametrize("opt_level", [0, 3])
@pytest.mark.parametrize("constant", [False, True])
def test_symbolic_channels_in_a_packed_output(
    fixes_on: None, relax_pipeline: str, exec_mode: str, opt_level: int, constant: bool
) -> None:
    # With constant weights the symbol is in the spatial axis, which the output layout packs as
    # well.
    kernel = integers(2, 4, 2, seed=1)
    layout, axis = ("NCW4w", "W") if constant else ("NCW4c", "C")

    def make(x: Any, *w: Any) -> Any:
        weight = w[0] if w else tvm_api.const(kernel)
        before = relax.op.nn.relu(x)
        convolved = relax.op.nn.conv1d_transpose(before, weight, out_layout=layout)
        return relax.op.nn.relu(convolved)

    shapes = [(1, 2, "W")] if constant else [(1, 2, 3), (2, "K", 2)]
    program = relax.transform.FoldConstant()(compiled.module(make, *shapes))
    function = compiled.build(program, exec_mode, PIPELINES[relax_pipeline](), opt_level)

    def both(*arrays: Any) -> tuple[Any, Any]:
        weight = arrays[1] if arrays[1:] else kernel
        positive = np.maximum(arrays[0], 0)
        want = reference.conv_transpose(positive, weight, (1,), (0, 0), (0,), (1,), 1)
        return function(*arrays), reference.stored(np.maximum(want, 0), layout, "NCW")

    if constant:
        *fitting, broken = ((integers(1, 2, size),) for size in (3, 7, 4))
    else:
        data = integers(1, 2, 3)
        *fitting, broken = ((data, integers(2, channels, 2, seed=1)) for channels in (4, 8, 6))
    for arrays in fitting:
        assert_exact(both(*arrays))
    message = f"conv1d_transpose is invalid with out_layout='{layout}': .*4 does not divide {axis}"
    with pytest.raises(ValueError, match=message):
        function(*broken)


@pytest.mark.parametrize(
    ("shapes", "attributes", "fits", "breaks", "message"),
    [
        (
            ((1, "C", 3, 4), ("I", 2, 2)),
            {"data_layout": "NCW4c", "out_layout": "NCW"},
            {"C": 2, "I": 8},
            {"C": 2, "I": 6},
            "data_layout='NCW4c'.*channels",
        ),
        (
            ((1, "C", 3), ("C", 2, 2)),
            {"groups": 3},
            {"C": 6},
            {"C": 4},
            "groups=3: .* channels are not divisible",
        ),
        (
            ((1, 2, "W"), (2, 2, 2)),
            {"padding": (2, 2)},
            {"W": 4},
            {"W": 3},
            "output dimension W",
        ),
        (
            ((1, 2, 4), (2, 2, "T")),
            {"padding": (1, 0)},
            {"T": 2},
            {"T": 0},
            "taps along W",
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
    program = compiled.module(
        lambda x, w: relax.op.nn.conv1d_transpose(x, w, **attributes), *shapes
    )
    function = compiled.build(program)

    def arrays(binding: dict[str, int]) -> list[Any]:
        return [integers(*compiled.size(shape, binding)) for shape in shapes]

    data, kernel = arrays(fits)
    want = reference.conv_transpose(
        reference.logical(data, attributes.get("data_layout", "NCW"), "NCW"),
        kernel,
        (1,),
        attributes.get("padding", (0, 0)),
        (0,),
        (1,),
        attributes.get("groups", 1),
    )
    assert_exact((function(data, kernel), want))
    with pytest.raises(ValueError, match=f"conv1d_transpose is invalid with .*{message}"):
        function(*arrays(breaks))


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_the_fix_cures_a_legalization_that_returns_the_call(rank: int) -> None:
    name = f"relax.nn.conv{rank}d_transpose"
    operator = tvm_api.get_op(name)
    original = operator.get_attr("FLegalize")
    operator.reset_attr("FLegalize")
    operator.set_attr("FLegalize", lambda builder, call: call, 10)
    try:
        module = compiled.module(
            getattr(relax.op.nn, f"conv{rank}d_transpose"),
            (1, 2, *(3,) * rank),
            (2, 2, *(2,) * rank),
        )
        assert compiled.calls(relax.transform.LegalizeOps()(module)) == [name]
        with fixes.install():
            lowered = relax.transform.LegalizeOps()(module)
        assert compiled.calls(lowered) == ["relax.call_tir"]
    finally:
        operator.reset_attr("FLegalize")
        operator.set_attr("FLegalize", original, 10)
