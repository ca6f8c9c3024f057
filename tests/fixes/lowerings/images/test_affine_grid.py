"""Affine grids with the fix, against PyTorch's."""

import numpy as np
import pytest
import torch
from tvm import relax

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.lowerings.images import affine_grid
from tests.fixes import compiled
from tests.fixes import whole_programs as whole


@pytest.mark.parametrize("fused", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("aligned", [True, False])
@pytest.mark.parametrize(
    ("batch", "size"), [(2, (2, 4)), ("N", (3, 3)), ("N", ("N", 5)), ("N", (2, "N", 4))]
)
def test_it_is_pytorch_s(
    batch: compiled.Dim,
    size: tuple[compiled.Dim, ...],
    aligned: bool,
    dtype: str,
    fused: bool,
) -> None:
    rank = len(size)

    def make(x: relax.Var) -> relax.Expr:
        own = tvm_api.shape_of(x)[0]
        dims = relax.ShapeExpr([own if dim == "N" else dim for dim in size])
        return relax.op.image.affine_grid(x, dims, align_corners=aligned)

    run = compiled.run_with(
        affine_grid.FIX, make, (batch, rank, rank + 1), dtypes=(dtype,), fused=fused
    )
    for count in (2, 5):
        batches = count if batch == "N" else 2
        sizes = [count if dim == "N" else int(dim) for dim in size]
        array = compiled.sample((batches, rank, rank + 1), dtype)
        want = torch.nn.functional.affine_grid(
            torch.from_numpy(array), [batches, 1, *sizes], align_corners=aligned
        )
        tolerance = 1e-14 if dtype == "float64" else 1e-5
        np.testing.assert_allclose(
            run(array), want.movedim(-1, 1).numpy(), rtol=tolerance, atol=tolerance
        )


PROGRAMS: whole.Programs = {
    "affine_grid": {
        "symbolic sizes": (whole.upstream("affine_grid", "symbolic_size"),),
        "float64": (whole.upstream("affine_grid", "corners_of_float64"),),
    },
}

CURES: whole.Cures = {
    "affine-grid-symbolic-size": (("affine_grid", "symbolic sizes"),),
    "affine-grid-float64": (("affine_grid", "float64"),),
}
