"""Einsum with the fix sums along axes without letters, as PyTorch does."""

import numpy as np
import pytest
import torch
from tvm import relax

from relaxcheck.fixes.lowerings.products import einsum_ellipsis
from tests.fixes import compiled
from tests.fixes import whole_programs as whole


@pytest.mark.parametrize("fused", [False, True])
@pytest.mark.parametrize(
    ("subscripts", "shapes"),
    [
        ("...i->i", [(2, 3)]),
        ("...->", [("N", "M", 3)]),
        ("... -> ", [()]),
        ("i...,...->i", [(4, 2, 3), (3,)]),
        ("...a,...b->ba", [("N", 3), (1, 2)]),
        ("...i->...", [(2, 3)]),
        ("...i", [("N", 3)]),
    ],
)
def test_it_is_pytorch_s(
    subscripts: str, shapes: list[tuple[compiled.Dim, ...]], fused: bool
) -> None:
    run = compiled.run_with(
        einsum_ellipsis.FIX,
        lambda *tensors: relax.op.einsum(list(tensors), subscripts),
        *shapes,
        dtypes=("float32",) * len(shapes),
        fused=fused,
    )
    for size in (1, 3):
        sizes = [tuple(size if isinstance(dim, str) else dim for dim in each) for each in shapes]
        arrays = [compiled.sample(each, seed=at) for at, each in enumerate(sizes)]
        want = torch.einsum(subscripts, *map(torch.from_numpy, arrays)).numpy()
        np.testing.assert_allclose(run(*arrays), want, rtol=1e-4, atol=1e-5)


PROGRAMS: whole.Programs = {
    "einsum_ellipsis": {
        "summed axes": (whole.upstream("einsum_ellipsis", "summed_ellipsis"),),
    },
}

CURES: whole.Cures = {
    "einsum-summed-ellipsis": (("einsum_ellipsis", "summed axes"),),
}
