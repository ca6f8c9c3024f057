"""Interpolation of images and volumes with the fixes, against PyTorch's and the reference."""

from typing import Any

import numpy as np
import pytest
import torch
from tvm import relax

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.lowerings.images import resize2d, resize3d
from relaxcheck.oracles.compare import within
from relaxcheck.oracles.reference.evaluate import evaluate
from tests.fixes import compiled
from tests.fixes import whole_programs as whole
from tests.oracles.agreeing import program_of

WAYS: dict[str, dict[str, Any]] = {
    "half_pixel": {"method": "linear", "coordinate_transformation_mode": "half_pixel"},
    "align_corners": {"method": "linear", "coordinate_transformation_mode": "align_corners"},
    "nearest": {"method": "nearest_neighbor", "coordinate_transformation_mode": "asymmetric"},
}


FIXES = {"resize2d": resize2d.FIX, "resize3d": resize3d.FIX}
LAYOUTS = {"resize2d": "NCHW", "resize3d": "NCDHW"}


def _wanted(volume: Any, size: Any, way: str) -> Any:
    double = torch.from_numpy(volume.astype("float64"))
    if way == "nearest":
        return torch.nn.functional.interpolate(double, size, mode="nearest").numpy()
    return torch.nn.functional.interpolate(
        double, size, mode="trilinear", align_corners=way == "align_corners"
    ).numpy()


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize("size", [(1, 1, 1), (4, 2, 8), ("H", 4, "W")])
def test_it_is_pytorch_s(way: str, dtype: str, last: bool, size: tuple[compiled.Dim, ...]) -> None:
    layout = "NDHWC" if last else "NCDHW"
    for dims in ((2, 2, 4), ("D", "H", "W")):
        if isinstance(size[0], str) and isinstance(dims[0], int):
            continue

        def make(x: relax.Expr) -> relax.Expr:
            own = tvm_api.shape_of(x)[1:4] if last else tvm_api.shape_of(x)[2:]
            names = dict(zip("DHW", own, strict=True))
            sizes = relax.ShapeExpr([names.get(dim, dim) for dim in size])
            return relax.op.image.resize3d(x, sizes, layout=layout, **WAYS[way])

        shape = (2, *dims, 3) if last else (2, 3, *dims)
        run = compiled.run_with(resize3d.FIX, make, shape, dtypes=(dtype,), fused=False)
        volume = compiled.sample((2, 3, 2, 2, 4), dtype)
        sizes = [{"D": 2, "H": 2, "W": 4}.get(dim, dim) for dim in size]
        actual = run(np.moveaxis(volume, 1, -1).copy() if last else volume)
        assert actual.dtype == dtype
        actual = np.moveaxis(actual, -1, 1) if last else actual
        tolerance = {"float16": 1e-2, "float32": 1e-5, "float64": 1e-12}[dtype]
        wanted = _wanted(volume, sizes, way)
        np.testing.assert_allclose(actual, wanted, rtol=tolerance, atol=tolerance)


OF_ONNX: list[tuple[str, str, Any]] = [
    *(
        ("cubic", coordinates, kernel)
        for coordinates in ("half_pixel", "align_corners", "asymmetric", "pytorch_half_pixel")
        for kernel in ({}, {"cubic_alpha": -0.5}, {"cubic_exclude": 1})
    ),
    *(("linear", coordinates, "") for coordinates in ("asymmetric", "pytorch_half_pixel")),
    *(
        ("nearest_neighbor", coordinates, rounding)
        for coordinates in ("half_pixel", "align_corners", "asymmetric", "pytorch_half_pixel")
        for rounding in ("floor", "ceil", "round_prefer_floor", "round_prefer_ceil")
    ),
]


@pytest.mark.parametrize(("method", "coordinates", "more"), OF_ONNX)
@pytest.mark.parametrize("name", ["resize2d", "resize3d"])
def test_symbolic_sizes_have_the_coordinates_of_onnx(
    name: str, method: str, coordinates: str, more: Any
) -> None:
    way: dict[str, Any] = {"method": method, "coordinate_transformation_mode": coordinates}
    way |= {"rounding_method": more} if isinstance(more, str) else more
    middle = (2,) if name == "resize3d" else ()

    def make(x: relax.Expr) -> relax.Expr:
        sizes = relax.ShapeExpr([2 * tvm_api.shape_of(x)[2], *(1,) * len(middle), 5])
        return getattr(relax.op.image, name)(x, sizes, layout=LAYOUTS[name], **way)

    run = compiled.run_with(
        FIXES[name], make, (1, 2, "D", *middle, "W"), dtypes=("float32",), fused=False
    )
    for depth, width in ((3, 4), (1, 1), (2, 7)):
        image = compiled.sample((1, 2, depth, *middle, width), "float32")
        size = (2 * depth, *(1,) * len(middle), 5)
        program = program_of(f"image.{name}", [image.shape], size=size, **way)
        (wanted,) = evaluate(program, {"x0": image})
        compared = within(run(image), wanted)
        assert compared.ok, compared
        assert compared.unconstrained < image.size * 4


@pytest.mark.parametrize("fused", [False, True])
def test_a_volume_is_convolved_over_the_elements_inside(fused: bool) -> None:
    way: dict[str, Any] = {"method": "cubic", "cubic_exclude": 1}

    def make(x: relax.Expr) -> relax.Expr:
        return relax.op.image.resize3d(x, relax.ShapeExpr([5, 4, 3]), layout="NCDHW", **way)

    shape = (1, 2, 3, 2, 3)
    for dtype in ("float32", "float64", "float16"):
        run = compiled.run_with(resize3d.FIX, make, shape, dtypes=(dtype,), fused=fused)
        volume = compiled.sample(shape, dtype)
        program = program_of("image.resize3d", [shape], dtype, size=(5, 4, 3), **way)
        (wanted,) = evaluate(program, {"x0": volume})
        compared = within(run(volume), wanted)
        assert compared.ok, compared


PROGRAMS: whole.Programs = {
    "resize3d": {
        "aligned corners": (whole.upstream("resize3d", "aligned_corners"),),
        "one element": (whole.upstream("resize3d", "one_element_of_aligned_corners"),),
        "float64": (whole.upstream("resize3d", "float64"),),
        "the inside alone": (whole.upstream("resize3d", "cubic_inside"),),
    },
}

CURES: whole.Cures = {
    "resize3d-aligned-symbolic": (("resize3d", "aligned corners"),),
    "resize3d-one-element": (("resize3d", "one element"),),
    "resize3d-float64": (("resize3d", "float64"),),
    "resize3d-cubic-inside": (("resize3d", "the inside alone"),),
}
