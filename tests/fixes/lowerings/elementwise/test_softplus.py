"""Softplus of large and of negative operands."""

import numpy as np
import pytest
from tvm import relax

from relaxcheck.fixes.lowerings.elementwise import softplus
from tests.fixes import compiled
from tests.fixes import whole_programs as whole


@pytest.mark.parametrize(("beta", "threshold"), [(1.0, 20.0), (0.5, 1.0), (4.0, 50.0)])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_values(dtype: str, beta: float, threshold: float) -> None:
    run = compiled.run_with(
        softplus.FIX,
        lambda x: relax.op.nn.softplus(x, beta, threshold),
        ("N",),
        dtypes=(dtype,),
        fused=dtype == "float32",
    )
    x = np.array([-9, -2, 0, 0.5, 3, 11.5, 15, 25, np.inf, -np.inf, np.nan], dtype)
    wide = x.astype("float64")
    smooth = np.logaddexp(wide * beta, 0) / beta
    wanted = np.where(wide * beta > threshold, wide, smooth)
    # A subnormal float16 has few digits.
    rtol, atol = (2e-3, 6e-8) if dtype == "float16" else (1e-6, 0)
    np.testing.assert_allclose(run(x), wanted, rtol=rtol, atol=atol)


PROGRAMS: whole.Programs = {
    "softplus": {
        "overflow": (whole.upstream("softplus", "half_precision"),),
        "digits": (whole.upstream("softplus", "negative_operands"),),
    },
}

CURES: whole.Cures = {
    "softplus-half-overflow": (("softplus", "overflow"),),
    "softplus-digits": (("softplus", "digits"),),
}
