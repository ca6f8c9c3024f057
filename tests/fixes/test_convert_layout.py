"""ConvertLayout on packed transposed convolutions with the fix."""

from typing import Any

import numpy as np
import pytest
from tvm import relax

import fixes
from tests.fixes import compiled, reference

DESIRED = {
    1: [None, ["NWC", "WIO"], ["NCW4c", "IOW4i4o"]],
    2: [None, ["NHWC", "HWIO"], ["NCHW4c", "IOHW4i4o"], ["NHWC", "HWIO", "NCHW2c"]],
    3: [None, ["NDHWC", "DHWIO"], ["NCDHW4c", "IODHW4i4o"]],
}
SPATIAL = {1: "W", 2: "HW", 3: "DHW"}


@pytest.mark.parametrize(
    ("rank", "desired"), [(rank, desired) for rank in DESIRED for desired in DESIRED[rank]]
)
@pytest.mark.parametrize("packed", ["data", "out", ""])
def test_values_stay(rank: int, desired: list[str] | None, packed: str) -> None:
    spatial = SPATIAL[rank]
    plain = f"NC{spatial}"
    data_layout = f"{plain}2c" if packed == "data" else plain
    out_layout = f"{plain}4c" if packed == "out" else plain
    data = compiled.sample((1, 4, *range(2, 2 + rank)), "int8").astype("float32")
    kernel = compiled.sample((4, 8, *[2] * rank), "int8", 1).astype("float32")
    stored = reference.stored(data, data_layout, plain)
    operator = getattr(relax.op.nn, f"conv{rank}d_transpose")
    strides = tuple(range(1, rank + 1))
    name = f"relax.nn.conv{rank}d_transpose"

    def make(x: Any, w: Any) -> Any:
        return operator(x, w, strides=strides, data_layout=data_layout, out_layout=out_layout)

    with fixes.install():
        module = compiled.module(make, stored.shape, kernel.shape)
        converted = relax.transform.ConvertLayout({name: desired} if desired else {})(module)
        out = compiled.build(converted)(stored, kernel)
    want = reference.conv_transpose(
        data, kernel, strides, (0,) * 2 * rank, (0,) * rank, (1,) * rank, 1
    )
    np.testing.assert_array_equal(out, reference.stored(want, out_layout, plain))


def test_whole_layouts_are_still_converted(fixes_on: None) -> None:
    module = compiled.module(relax.op.nn.conv2d_transpose, (1, 2, 3, 4), (2, 2, 2, 2))
    desired = {"relax.nn.conv2d_transpose": ["NHWC", "HWIO"]}
    assert "NHWC" in str(relax.transform.ConvertLayout(desired)(module))
