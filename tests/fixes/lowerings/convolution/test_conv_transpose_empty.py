"""Transposed convolution without channels, and with outputs that are split along an axis."""

import re
from typing import Any

import numpy as np
import pytest
import tvm
from tvm import relax

from tests.fixes import compiled, reference


def compile_(*shapes: Any, **attributes: Any) -> Any:
    program = compiled.module(
        lambda x, w: relax.op.nn.conv1d_transpose(x, w, **attributes), *shapes
    )
    return compiled.machine(program)["main"]


@pytest.mark.parametrize("channels", [0, "C"])
@pytest.mark.parametrize("groups", [1, 2])
def test_without_input_channels_all_is_zero(fixes_on: None, channels: Any, groups: int) -> None:
    run = compile_((1, channels, 3), (channels, 2, 2), groups=groups)
    out = run(compiled.empty(1, 0, 3), compiled.empty(0, 2, 2)).numpy()
    np.testing.assert_array_equal(out, np.zeros((1, 2 * groups, 4)))


@pytest.mark.parametrize("length", [0, "W"])
def test_without_input_elements_all_is_zero(fixes_on: None, length: Any) -> None:
    run = compile_((1, 1, length), (1, 2, 3))
    kernel = tvm.runtime.tensor(np.ones((1, 2, 3), "float32"))
    out = run(compiled.empty(1, 1, 0), kernel).numpy()
    np.testing.assert_array_equal(out, np.zeros((1, 2, 2)))


@pytest.mark.parametrize("layout", ["NCW2n", "NCW2w", "NCW4c"])
def test_outputs_split_along_any_axis(fixes_on: None, layout: str) -> None:
    data, kernel = compiled.sample((4, 4, 3), "int8"), compiled.sample((4, 2, 4), "int8", 1)
    data, kernel = data.astype("float32"), kernel.astype("float32")
    program = compiled.module(
        lambda x, w: relax.op.nn.conv1d_transpose(x, w, groups=2, out_layout=layout),
        data.shape,
        kernel.shape,
    )
    want = reference.conv_transpose(data, kernel, (1,), (0, 0), (0,), (1,), 2)
    got = compiled.build(program)(data, kernel)
    np.testing.assert_array_equal(got, reference.stored(want, layout, "NCW"))


def test_a_batch_that_the_output_cannot_split(fixes_on: None) -> None:
    def refused(reason: str) -> Any:
        message = f"relax.nn.conv1d_transpose is invalid with out_layout='NCW2n': {reason}"
        return pytest.raises(ValueError, match=f"^{re.escape(message)}$")

    with refused("the factor 2 does not divide N = 3"):
        compile_((3, 2, 3), (2, 2, 2), out_layout="NCW2n")
    program = compiled.module(
        lambda x, w: relax.op.nn.conv1d_transpose(x, w, out_layout="NCW2n"), ("B", 2, 3), (2, 2, 2)
    )
    function = compiled.build(program)
    kernel = compiled.sample((2, 2, 2))
    assert function(compiled.sample((4, 2, 3)), kernel).shape == (2, 2, 4, 2)
    with refused("the factor 2 does not divide N = B"):
        function(compiled.sample((3, 2, 3)), kernel)
