"""``ewise_fma`` is computed."""

import numpy as np
import pytest
from tvm import relax

from relaxcheck.fixes.lowerings.elementwise import multiply_add
from tests.fixes import compiled
from tests.fixes import whole_programs as whole


@pytest.mark.parametrize("dtype", ["float16", "float32", "int8"])
def test_values(dtype: str) -> None:
    run = compiled.run_with(
        multiply_add.FIX,
        relax.op.ewise_fma,
        *(("N", 2),) * 3,
        dtypes=(dtype,) * 3,
        fused=dtype == "float32",
    )
    x1, x2, x3 = (np.arange(6).reshape(3, 2).astype(dtype) + shift for shift in (0, 30, -7))
    actual = run(x1, x2, x3)
    assert actual.dtype == np.dtype(dtype)
    np.testing.assert_array_equal(actual, x1 * x2 + x3)


PROGRAMS: whole.Programs = {
    "multiply_add": {"the missing lowering": (whole.upstream("multiply_add", "numbers"),)},
}

CURES: whole.Cures = {"ewise-fma-unlowered": (("multiply_add", "the missing lowering"),)}
