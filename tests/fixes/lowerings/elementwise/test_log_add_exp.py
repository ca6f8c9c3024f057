"""log_add_exp where exponentials overflow or underflow, of equal infinities, broadcast."""

import numpy as np
import pytest
from tvm import relax

from relaxcheck.fixes.lowerings.elementwise import log_add_exp
from tests.fixes import compiled
from tests.fixes import whole_programs as whole

INF = np.inf


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_values(dtype: str) -> None:
    run = compiled.run_with(
        log_add_exp.FIX, relax.op.log_add_exp, ("N", 1), (3,), dtypes=(dtype, dtype), fused=False
    )
    x1 = np.array([[1000], [-1000], [0], [INF], [-INF], [np.nan]], dtype)
    x2 = np.array([900, -INF, INF], dtype)
    wanted = np.logaddexp(x1.astype("float64"), x2.astype("float64"))
    np.testing.assert_allclose(run(x1, x2), wanted, rtol=1e-3 if dtype == "float16" else 1e-6)


def test_of_a_constant() -> None:
    run = compiled.run_with(
        log_add_exp.FIX,
        lambda x: relax.op.log_add_exp(x, relax.const(100, "float32")),
        ("N",),
        dtypes=("float32",),
        fused=True,
    )
    np.testing.assert_allclose(run(np.array([100, 0], "float32")), [100.6931472, 100], rtol=1e-6)


PROGRAMS: whole.Programs = {
    "log_add_exp": {"overflow": (whole.upstream("log_add_exp", "large_operands"),)},
}

CURES: whole.Cures = {"log-add-exp-overflow": (("log_add_exp", "overflow"),)}
