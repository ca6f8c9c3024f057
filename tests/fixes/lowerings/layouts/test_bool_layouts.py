"""Truth values in another layout, with the fix."""

from typing import Any

import numpy as np
import pytest
from tvm import relax

from relaxcheck.fixes.lowerings.layouts import bool_layouts
from tests.fixes import compiled
from tests.fixes import whole_programs as whole


@pytest.mark.parametrize("fused", [False, True])
@pytest.mark.parametrize(
    ("index_map", "shape", "want"),
    [
        (lambda i, j: (j, i), (2, 3), lambda x: x.T),
        (lambda i, j: (i, j // 2, j % 2), ("N", 4), lambda x: x.reshape(-1, 2, 2)),
        (lambda i, j: (i * 4 + j,), (3, 4), np.ravel),
    ],
)
def test_they_move(index_map: Any, shape: tuple[compiled.Dim, ...], want: Any, fused: bool) -> None:
    run = compiled.run_with(
        bool_layouts.FIX,
        lambda x: relax.op.layout_transform(x, index_map),
        shape,
        dtypes=("bool",),
        fused=fused,
    )
    x = compiled.sample(compiled.size(shape, {"N": 3})) > 0
    result = run(x)
    assert result.dtype == np.bool_
    np.testing.assert_array_equal(result, want(x))


def test_padding_is_there() -> None:
    run = compiled.run_with(
        bool_layouts.FIX,
        lambda x: relax.op.layout_transform(x, lambda i: (i // 2, i % 2)),
        (3,),
        dtypes=("bool",),
        fused=False,
    )
    result = run(np.array([True, False, True]))
    assert result.shape == (2, 2)
    assert result.ravel()[:3].tolist() == [True, False, True]


PROGRAMS: whole.Programs = {
    "bool_layouts": {"truth values": (whole.upstream("bool_layouts", "bool_transposed"),)},
}

CURES: whole.Cures = {
    "layout-transform-bool": (("bool_layouts", "truth values"),),
}
