"""Pixel shuffle with the fix, against PyTorch's."""

import numpy as np
import pytest
import torch
from tvm import relax

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework import installation
from relaxcheck.fixes.lowerings import pixel_shuffle
from tests.fixes import compiled
from tests.fixes import whole_programs as whole


@pytest.mark.parametrize("fused", [False, True])
@pytest.mark.parametrize(
    ("shape", "factor", "dtype"),
    [
        ((1, 4, 1, 1), 2, "float32"),
        ((2, 18, 3, 5), 3, "float64"),
        ((4, 2, 3), 2, "float16"),
        ((2, 3, 4, 1, 2), 2, "int32"),
        ((0, 4, 2, 2), 2, "float32"),
        (("N", 4, "H", "W"), 2, "float32"),
        ((1, 3, 2, 2), 1, "float32"),
    ],
)
def test_it_is_pytorch_s(
    shape: tuple[compiled.Dim, ...], factor: int, dtype: str, fused: bool
) -> None:
    run = compiled.run_with(
        pixel_shuffle.FIX,
        lambda x: relax.op.nn.pixel_shuffle(x, factor),
        shape,
        dtypes=(dtype,),
        fused=fused,
    )
    for size in (2, 3):
        sizes = tuple(size if isinstance(dim, str) else dim for dim in shape)
        array = compiled.sample(sizes, dtype)
        want = torch.nn.functional.pixel_shuffle(torch.from_numpy(array), factor).numpy()
        np.testing.assert_array_equal(run(array), want)


@pytest.mark.parametrize(
    ("shape", "part"),
    [(("C", 1, 1), "channels='C'"), ((2, "C", 3, 3), "channels='C'")],
)
def test_symbolic_channels_are_refused(shape: tuple[compiled.Dim, ...], part: str) -> None:
    with (
        installation.install([pixel_shuffle.FIX]),
        pytest.raises(tvm_api.OpNotImplemented, match=part),
    ):
        compiled.module(lambda x: relax.op.nn.pixel_shuffle(x, 1), shape)


def test_an_unknown_shape_is_refused() -> None:
    data = relax.Var("x", tvm_api.unshaped_type(4, "float32"))
    with (
        installation.install([pixel_shuffle.FIX]),
        pytest.raises(tvm_api.OpNotImplemented, match="shape=None"),
    ):
        relax.op.nn.pixel_shuffle(data, 2)


def test_a_nested_call_is_taken() -> None:
    with installation.install([pixel_shuffle.FIX]):
        run = compiled.build(
            compiled.module(
                lambda x: relax.op.nn.pixel_shuffle(relax.op.nn.relu(x), 2), (1, 4, 2, 2)
            )
        )
    array = compiled.sample((1, 4, 2, 2))
    want = torch.nn.functional.pixel_shuffle(torch.relu(torch.from_numpy(array)), 2).numpy()
    np.testing.assert_array_equal(run(array), want)


PROGRAMS: whole.Programs = {
    "pixel_shuffle": {
        "the missing function": (whole.upstream("pixel_shuffle", "pixel_shuffle"),),
        "symbolic channels": (whole.upstream("pixel_shuffle", "symbolic_channels"),),
    },
}

CURES: whole.Cures = {
    "pixel-shuffle-not-imported": (("pixel_shuffle", "the missing function"),),
}
