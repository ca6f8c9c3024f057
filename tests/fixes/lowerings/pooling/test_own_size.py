"""Adaptive pooling over one axis without an output size returns its data."""

from typing import Any

import numpy as np
import pytest
from tvm import relax

from relaxcheck.fixes.lowerings.pooling import own_size
from tests.fixes import compiled
from tests.fixes import whole_programs as whole


@pytest.mark.parametrize("shape", [(2, 3, 4), ("B", 3, "W")])
@pytest.mark.parametrize("layout", ["NCW", "NWC"])
def test_each_window_is_one_element(shape: Any, layout: str) -> None:
    run = compiled.run_with(
        own_size.FIX,
        lambda x: relax.op.nn.adaptive_avg_pool1d(x, layout=layout),
        shape,
        dtypes=("float32",),
        fused=False,
    )
    x = compiled.sample(compiled.size(shape, {"B": 1, "W": 5}))
    np.testing.assert_array_equal(run(x), x)


def test_a_size_is_left_to_tvm() -> None:
    run = compiled.run_with(
        own_size.FIX,
        lambda x: relax.op.nn.adaptive_avg_pool1d(x, 2),
        (1, 2, 4),
        dtypes=("float32",),
        fused=False,
    )
    x = compiled.sample((1, 2, 4))
    want = x.astype("float64").reshape(1, 2, 2, 2).mean(-1)
    np.testing.assert_allclose(run(x), want, rtol=1e-6)


PROGRAMS: whole.Programs = {
    "own_size": {"no output size": (whole.upstream("own_size", "without_output_size"),)},
}

CURES: whole.Cures = {
    "adaptive-avg-pool1d-own-size": (("own_size", "no output size"),),
}
