"""Images sampled by grids with the fix, against PyTorch's."""

import numpy as np
import pytest
import torch
from tvm import relax

from relaxcheck.fixes.lowerings.images import grid_sample
from tests.fixes import compiled
from tests.fixes import whole_programs as whole

SHAPES: tuple[tuple[compiled.Dim, ...], ...] = ((2, 3, 4, 5), ("N", 2, "H", "W"), (1, 1, 1, 3))
VOLUMES: tuple[tuple[compiled.Dim, ...], ...] = ((2, 3, 2, 4, 5), ("N", 2, "D", "H", 3))


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("method", ["nearest", "bilinear", "bicubic"])
@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
@pytest.mark.parametrize("aligned", [True, False])
def test_it_is_pytorch_s(dtype: str, method: str, padding: str, aligned: bool) -> None:
    for shape in (*SHAPES, *(VOLUMES if method != "bicubic" else ())):
        rank = len(shape) - 2

        def make(x: relax.Expr, grid: relax.Expr, rank: int = rank) -> relax.Expr:
            return relax.op.image.grid_sample(
                x,
                grid,
                method=method,
                layout="NCHW" if rank == 2 else "NCDHW",
                padding_mode=padding,
                align_corners=aligned,
            )

        places = (shape[0], rank, *(2, 3, "P")[-rank:])
        run = compiled.run_with(
            grid_sample.FIX, make, shape, places, dtypes=(dtype, dtype), fused=False
        )
        sizes = [3 if isinstance(dim, str) else dim for dim in shape]
        data = compiled.sample(sizes, dtype)
        # Eighths, so that float16 holds the coordinates, and no halves but 64ths.
        random = np.random.default_rng(rank)
        grid = (random.integers(-12, 13, (sizes[0], rank, *(2, 3, 4)[-rank:])) / 8).astype(dtype)
        grid += np.array(1 / 64, dtype) * (method == "nearest")
        wanted = torch.nn.functional.grid_sample(
            torch.from_numpy(data).double(),
            torch.from_numpy(grid).double().movedim(1, -1),
            mode=method,
            padding_mode=padding,
            align_corners=aligned,
        )
        actual = run(data, grid)
        assert actual.dtype == dtype
        tolerance = {"float16": 1e-2, "float32": 1e-5, "float64": 1e-12}[dtype]
        np.testing.assert_allclose(actual, wanted.numpy(), rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize(
    ("rank", "named"),
    [
        (2, {"padding_mode": "sideways"}),
        (2, {"method": "sideways"}),
        (3, {"method": "bicubic", "layout": "NCDHW"}),
    ],
)
def test_what_topi_refuses_stays_refused(rank: int, named: dict[str, str]) -> None:
    def make(x: relax.Expr, grid: relax.Expr) -> relax.Expr:
        return relax.op.image.grid_sample(x, grid, **named)

    shapes = (1, 1, *(2,) * rank), (1, rank, *(2,) * rank)
    with pytest.raises(AssertionError, match="is not supported"):
        compiled.run_with(
            grid_sample.FIX, make, *shapes, dtypes=("float16", "float16"), fused=False
        )


PROGRAMS: whole.Programs = {
    "grid_sample": {
        "float16": (whole.upstream("grid_sample", "float16"),),
        "one element": (whole.upstream("grid_sample", "reflection_in_one_element"),),
        "long kernels": (whole.upstream("grid_sample", "coordinates_are_written_once"),),
    },
}

CURES: whole.Cures = {
    "grid-sample-float16": (("grid_sample", "float16"),),
    "grid-sample-one-element": (("grid_sample", "one element"),),
}
