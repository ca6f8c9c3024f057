"""Calls along an axis that is counted from the end agree with NumPy in float64."""

from typing import Any

import numpy as np
import pytest
from tvm import relax

from relaxcheck.fixes.framework import installation
from relaxcheck.fixes.lowerings import negative_axes
from tests.fixes import compiled
from tests.fixes import whole_programs as whole

OP = relax.op


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("axis", [-1, -2])
def test_batch_norm(axis: int, training: bool) -> None:
    def make(*operands: Any) -> Any:
        return relax.TupleGetItem(OP.nn.batch_norm(*operands, axis=axis, training=training), 0)

    shape = ("B", 3, 4)
    channels = compiled.size(shape[axis:][:1], {})
    with installation.install([negative_axes.FIX]):
        run = compiled.build(compiled.module(make, shape, *[channels] * 4))
    x = compiled.sample((5, 3, 4))
    gamma, beta, mean, deviation = (compiled.sample(channels, seed=seed) for seed in range(4))
    variance = deviation**2
    column = (-1, 1) if axis == -2 else (-1,)
    wide = x.astype("float64")
    means, variances = mean.reshape(column), variance.reshape(column)
    if training:
        others = tuple(other for other in range(3) if other != axis % 3)
        means, variances = wide.mean(others, keepdims=True), wide.var(others, keepdims=True)
    want = (wide - means) / np.sqrt(variances + 1e-5)
    want = want * gamma.reshape(column) + beta.reshape(column)
    result = run(x, gamma, beta, mean, variance)
    np.testing.assert_allclose(result, want, rtol=1e-4, atol=1e-4)


SLICES: list[tuple[tuple[Any, ...], list[int], list[int], list[int], list[int] | None]] = [
    (("N", 5), [-1], [1], [4], None),
    (("N", 5), [-1], [0], [5], [2]),
    ((3, "N"), [-2], [1], [3], [1]),
    (("N", 4, 5), [-1, 1], [1, 0], [5, 3], [2, 1]),
    ((3, "N"), [-1], [0], [4], [2]),
]


@pytest.mark.parametrize(("shape", "axes", "begin", "end", "strides"), SLICES)
def test_strided_slice(shape: Any, axes: Any, begin: Any, end: Any, strides: Any) -> None:
    run = compiled.run_with(
        negative_axes.FIX,
        lambda x: OP.strided_slice(x, axes, begin, end, strides),
        shape,
        dtypes=("float32",),
        fused=False,
    )
    x = compiled.sample(compiled.size(shape, {"N": 6}))
    taken = [slice(None)] * x.ndim
    for axis, first, last, step in zip(axes, begin, end, strides or [1] * 2, strict=False):
        taken[axis] = slice(first, last, step)
    np.testing.assert_array_equal(run(x), x[tuple(taken)])


def test_an_axis_from_the_front_is_left_to_tvm() -> None:
    module = compiled.module(lambda x: OP.strided_slice(x, [1], [1], [4]), ("N", 5))
    want = str(relax.transform.LegalizeOps()(module))
    with installation.install([negative_axes.FIX]):
        assert str(relax.transform.LegalizeOps()(module)) == want


PROGRAMS: whole.Programs = {
    "negative_axes": {
        "batch_norm": (whole.upstream("negative_axes", "batch_norm_of_last_axis"),),
        "strided_slice": (whole.upstream("negative_axes", "slice_of_last_axis"),),
    },
}

CURES: whole.Cures = {
    "batch-norm-last-axis": (("negative_axes", "batch_norm"),),
    "strided-slice-negative-axis": (("negative_axes", "strided_slice"),),
}
