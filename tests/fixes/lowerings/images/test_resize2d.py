"""Resized images agree with linear and nearest interpolation in NumPy."""

from typing import Any

import numpy as np
import pytest
from tvm import relax

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.lowerings.images import resize2d
from tests.fixes import compiled
from tests.fixes import whole_programs as whole

OP = relax.op


def resized(x: Any, out: tuple[int, int], mode: str) -> Any:
    """Linear interpolation, one axis after the other."""
    for axis, places in zip((2, 3), out, strict=True):
        size = x.shape[axis]
        at = np.arange(places)
        if mode == "align_corners":
            where = at * ((size - 1) / max(places - 1, 1))
        else:
            where = np.clip((at + 0.5) * size / places - 0.5, 0, size - 1)
        low = where.astype(int)
        share = (where - low).reshape([-1 if place == axis else 1 for place in range(4)])
        high = np.minimum(low + 1, size - 1)
        x = x.take(low, axis) * (1 - share) + x.take(high, axis) * share
    return x


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
@pytest.mark.parametrize("mode", ["align_corners", "half_pixel", "asymmetric"])
def test_resized_images(mode: str, dtype: str) -> None:
    nearest = mode == "asymmetric"

    def make(x: Any) -> Any:
        height = tvm_api.shape_of(x)[2]
        return OP.image.resize2d(
            x,
            relax.ShapeExpr([height * 3, tvm_api.integer(5)]),
            layout="NCHW",
            method="nearest_neighbor" if nearest else "linear",
            coordinate_transformation_mode=mode,
            rounding_method="floor",
        )

    run = compiled.run_with(resize2d.FIX, make, ("B", 2, "M", "N"), dtypes=(dtype,), fused=True)
    for shape in ((1, 2, 3, 4), (2, 2, 1, 7), (1, 2, 5, 1)):
        array = compiled.sample(shape, dtype)
        out = (shape[2] * 3, 5)
        if nearest:
            rows, columns = (
                np.arange(n) * size // n for n, size in zip(out, shape[2:], strict=True)
            )
            want = array[:, :, rows][..., columns]
        else:
            want = resized(array.astype("float64"), out, mode)
        # A coordinate of float32 is off by some units in its last place.
        slack = {"float64": 1e-12, "float32": 1e-5, "float16": 4e-3}[dtype]
        np.testing.assert_allclose(run(array), want, rtol=slack, atol=slack)


def test_one_element_of_aligned_corners() -> None:
    def make(x: Any) -> Any:
        return OP.image.resize2d(
            x,
            relax.ShapeExpr([1, 3]),
            layout="NCHW",
            method="linear",
            coordinate_transformation_mode="align_corners",
        )

    run = compiled.run_with(resize2d.FIX, make, (1, 2, 2, 2), dtypes=("float32",), fused=False)
    array = compiled.sample((1, 2, 2, 2))
    np.testing.assert_allclose(run(array), resized(array, (1, 3), "align_corners"), rtol=1e-6)


PROGRAMS: whole.Programs = {
    "resize": {
        "symbolic sizes": (whole.upstream("resize", "nearest_to_a_number"),),
        "aligned corners": (whole.upstream("resize", "aligned_corners"),),
        "one element": (whole.upstream("resize", "one_element_of_aligned_corners"),),
        "float64": (whole.upstream("resize", "float64"),),
        "integers": (whole.upstream("resize", "nearest_of_large_integers"),),
        "other dtypes": (whole.upstream("resize", "another_dtype"),),
    },
}

CURES: whole.Cures = {
    "resize-aligned-symbolic": (("resize", "aligned corners"),),
    "resize-nearest-symbolic": (("resize", "symbolic sizes"),),
}
