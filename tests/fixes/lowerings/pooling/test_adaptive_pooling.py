"""Adaptive pooling, axis by axis, on releases that need it and on others."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from tvm import relax

from relaxcheck.fixes.lowerings.pooling import adaptive_pooling
from tests.fixes import compiled
from tests.fixes import whole_programs as whole

OP = relax.op.nn


def pooled(x: Any, out: Sequence[int], first: int) -> Any:
    """The means of ``x`` in ``out`` windows along the axes from ``first`` on."""
    result = np.empty((*x.shape[:first], *out, *x.shape[first + len(out) :]), "float64")
    for place in np.ndindex(*out):
        window = tuple(
            slice(at * size // count, -((-(at + 1) * size) // count))
            for at, count, size in zip(place, out, x.shape[first:], strict=False)
        )
        axes = tuple(range(first, first + len(out)))
        before = (slice(None),) * first
        result[(*before, *place)] = x[(*before, *window)].astype("float64").mean(axes)
    return result


CASES: list[tuple[str, tuple[int, ...], tuple[int | str, ...], list[dict[str, int]]]] = [
    ("NCHW", (5, 1), ("B", 2, "M", "M"), [{"B": 2, "M": 7}, {"B": 1, "M": 1}, {"B": 0, "M": 5}]),
    ("NHWC", (3, 4), ("B", "M", "N", 3), [{"B": 1, "M": 6, "N": 7}, {"B": 2, "M": 2, "N": 8}]),
    ("NCHW2c", (2, 3), (1, 2, 5, 3, 2), [{}]),
    ("NCDHW", (5, 1, 2), (1, 2, "M", 3, "N"), [{"M": 7, "N": 4}, {"M": 2, "N": 5}]),
]


@pytest.mark.parametrize(("layout", "out", "shape", "bindings"), CASES)
@pytest.mark.parametrize("fused", [False, True])
def test_means_of_windows(
    layout: str, out: tuple[int, ...], shape: Any, bindings: Any, fused: bool
) -> None:
    make = OP.adaptive_avg_pool3d if "D" in layout else OP.adaptive_avg_pool2d
    # Fused with what comes before and after.
    module = compiled.lowered_by(
        adaptive_pooling.FIX,
        compiled.module(
            lambda x: relax.op.negative(make(relax.op.negative(x), out, layout=layout)), shape
        ),
    )
    pipeline = relax.get_default_pipeline(compiled.TARGET) if fused else "default"
    run = compiled.build(module, pipeline=pipeline)
    first = min(layout.index(letter) for letter in "DHW" if letter in layout)
    for binding in bindings:
        array = compiled.sample(compiled.size(shape, binding))
        np.testing.assert_allclose(run(array), pooled(array, out, first), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("dtype", ["float16", "float64", "int32"])
def test_other_dtypes(dtype: str) -> None:
    module = compiled.module(
        lambda x: OP.adaptive_avg_pool2d(x, (2, 1)), (2, 1, 3, 2), dtypes=(dtype,)
    )
    array = compiled.sample((2, 1, 3, 2), dtype)
    result = compiled.build(compiled.lowered_by(adaptive_pooling.FIX, module))(array)
    want = pooled(array, (2, 1), 2)
    assert result.dtype == dtype
    if dtype == "int32":
        np.testing.assert_array_equal(result, np.trunc(want))
    else:
        slack = {"float16": 4e-3, "float64": 1e-12}[dtype]
        np.testing.assert_allclose(result, want, rtol=slack, atol=slack)


PROGRAMS: whole.Programs = {
    "adaptive_pooling": {
        "windows of two kinds": (
            whole.upstream("adaptive_pooling", "windows_of_two_kinds"),
            whole.upstream("adaptive_pooling", "windows_of_symbolic_sizes"),
            whole.upstream("adaptive_pooling", "three_dimensions"),
        ),
    },
}

CURES: whole.Cures = {
    "adaptive-pool-windows": (("adaptive_pooling", "windows of two kinds"),),
}
