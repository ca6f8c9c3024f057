"""Outputs of one or two elements, where loops of extent 1 leave only the taps in the index.

TVM's FlattenBuffer then simplifies an index by ``iter_map_simplify``, which turns ``(3 - k) // 2``
into ``1 + k // -2`` (0.27). The fix counts taps so that no index falls with them.
"""

from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tvm import relax

from relaxcheck.fixes import tvm_api
from tests.fixes import compiled, reference
from tests.fixes import whole_programs as whole
from tests.fixes.lowerings.convolution.test_conv_transpose import run


def extent(axis: tuple[int, ...]) -> int:
    """The number of output elements along an axis."""
    length, taps, stride, begin, end, dilation = axis
    return (length - 1) * stride - begin - end + dilation * (taps - 1) + 1


ALL = tuple(product((1, 2, 3), (1, 2, 3, 4), (1, 2, 3, 4), range(5), range(5), (1, 2, 3)))
ONE, TWO = ([axis for axis in ALL if extent(axis) == wanted] for wanted in (1, 2))

FIRST_SEEN = (2, 2, 2, 3, 0, 1)
NEXT_SEEN = (2, 4, 2, 3, 2, 1)


def compare(*axes: tuple[int, ...]) -> None:
    lengths, taps, strides, begins, ends, dilation = zip(*axes, strict=True)
    data = np.arange(1.0, 1 + np.prod(lengths)).reshape(1, 1, *lengths)
    kernel = np.arange(1.0, 1 + np.prod(taps)).reshape(1, 1, *taps) ** 2
    got, want = run(
        len(axes), data, kernel, strides=strides, padding=begins + ends, dilation=dilation
    )
    np.testing.assert_array_equal(got, want)


@settings(deadline=None)
@example(FIRST_SEEN)
@example(NEXT_SEEN)
@given(st.sampled_from(ONE + TWO))
def test_few_elements_of_one_axis(axis: tuple[int, ...]) -> None:
    compare(axis)


@settings(deadline=None)
@example((FIRST_SEEN, NEXT_SEEN))
@given(st.tuples(st.sampled_from(ONE), st.sampled_from(ONE)))
def test_one_element_of_two_axes(axes: tuple[tuple[int, ...], tuple[int, ...]]) -> None:
    compare(*axes)


def convolves(rank: int, groups: int = 1, symbol: bool = False, **layouts: str) -> None:
    """The output in ``layouts`` agrees with the reference."""
    spatial = whole.SPATIAL[rank]
    layout = layouts.get("data_layout", f"NC{spatial}")
    data = compiled.sample((1, 4, *(3,) * rank))
    kernel = compiled.sample((4, 2, *(2,) * rank), seed=1)
    want = reference.conv_transpose(
        data, kernel, (1,) * rank, (0,) * 2 * rank, (0,) * rank, (1,) * rank, groups
    )
    arrays = (
        reference.stored(data, layout, f"NC{spatial}"),
        reference.stored(kernel, layouts.get("kernel_layout", f"IO{spatial}"), f"IO{spatial}"),
    )
    shapes: list[tuple[Any, ...]] = [array.shape for array in arrays]
    if symbol:
        shapes = [(1, "C", *shapes[0][2:]), ("C", *shapes[1][1:])]
    run = compiled.build(
        compiled.module(whole.convolution(rank, groups=groups, **layouts), *shapes)
    )
    stored = reference.stored(want, layouts.get("out_layout", layout), f"NC{spatial}")
    np.testing.assert_allclose(run(*arrays), stored, atol=1e-4)


def leaves_no_output(rank: int) -> None:
    with pytest.raises(Exception, match=r"."):
        relax.transform.LegalizeOps()(
            compiled.module(
                whole.convolution(rank, padding=[2] * rank),
                (1, 2, *(3,) * rank),
                (2, 2, *(2,) * rank),
            )
        )


def writes_zeros_without_channels(rank: int) -> None:
    """The lowered function gets an output full of sevens."""
    module = compiled.module(whole.convolution(rank), (1, 0, *(3,) * rank), (0, 2, *(2,) * rank))
    module = relax.transform.LegalizeOps()(module)
    (name,) = (var.name_hint for var in module.get_global_vars() if var.name_hint != "main")
    data, kernel = np.zeros((1, 0, *(3,) * rank), "f4"), np.zeros((0, 2, *(2,) * rank), "f4")
    output = np.full((1, 2, *(4,) * rank), 7, "f4")
    assert not tvm_api.compiled(module[name])(data, kernel, output).any()


def _of_a_convolution(rank: int) -> dict[str, tuple[whole.Run, ...]]:
    name, spatial = f"conv{rank}d_transpose", whole.SPATIAL[rank]
    dilation = "dilation_is_that_of_a_kernel_with_zeros_between"
    return {
        "data layouts": (partial(convolves, rank, data_layout=f"N{spatial}C"),),
        "kernel layouts": (partial(convolves, rank, kernel_layout=f"OI{spatial}"),),
        "output layouts": (whole.upstream(name, "output_layout"),),
        "packed layouts": (
            partial(convolves, rank, data_layout=f"NC{spatial}4c"),
            partial(convolves, rank, kernel_layout=f"IO{spatial}2o"),
            partial(convolves, rank, out_layout=f"NC{spatial}2c"),
        ),
        "groups of symbols": (partial(convolves, rank, 2, True),),
        "outputs without elements": (partial(leaves_no_output, rank),),
        "empty axes": (partial(writes_zeros_without_channels, rank),),
        "dilation": (whole.upstream(name, dilation),),
    }


PROGRAMS: whole.Programs = {f"conv{rank}d_transpose": _of_a_convolution(rank) for rank in (1, 2, 3)}

CURES: whole.Cures = {
    "19694-conv1d-transpose-dilation": (("conv1d_transpose", "dilation"),),
    "19694-conv1d-transpose-nwc": (("conv1d_transpose", "data layouts"),),
    "conv1d-transpose-empty-permute-folded": (("conv1d_transpose", "data layouts"),),
    "conv1d-transpose-groups-symbolic": (("conv1d_transpose", "groups of symbols"),),
    "conv1d-transpose-kernel-layout": (("conv1d_transpose", "kernel layouts"),),
    "conv1d-transpose-out-layout": (("conv1d_transpose", "output layouts"),),
    "19694-conv2d-transpose-dilation": (("conv2d_transpose", "dilation"),),
    "19694-conv2d-transpose-nhwc": (("conv2d_transpose", "data layouts"),),
    "19694-conv2d-transpose-nhwc-hwio": (
        ("conv2d_transpose", "data layouts"),
        ("conv2d_transpose", "kernel layouts"),
    ),
    "19694-conv2d-transpose-out-layout": (("conv2d_transpose", "output layouts"),),
    "conv2d-transpose-empty-permute": (("conv2d_transpose", "data layouts"),),
    "conv2d-transpose-groups-symbolic": (("conv2d_transpose", "groups of symbols"),),
    "conv2d-transpose-kernel-layout": (("conv2d_transpose", "kernel layouts"),),
    "19694-conv3d-transpose-dilation": (("conv3d_transpose", "dilation"),),
    "19694-conv3d-transpose-ndhwc": (("conv3d_transpose", "data layouts"),),
    "conv3d-transpose-convert-layout": (("conv3d_transpose", "data layouts"),),
    "conv3d-transpose-data-layout": (("conv3d_transpose", "data layouts"),),
    "conv3d-transpose-groups-symbolic": (("conv3d_transpose", "groups of symbols"),),
    "conv3d-transpose-kernel-layout": (("conv3d_transpose", "kernel layouts"),),
    "conv3d-transpose-out-layout": (("conv3d_transpose", "output layouts"),),
}
