"""Sigmoid and silu of float16: no overflow, and every other dtype as TVM has it."""

import numpy as np
import pytest
from tvm import relax

from relaxcheck.fixes.lowerings.elementwise import logistic
from tests.fixes import compiled
from tests.fixes import whole_programs as whole

MAKE = {"sigmoid": relax.op.sigmoid, "silu": relax.op.nn.silu}
LOW = np.array([-25, -17, -12, -11.5, -3, -0.0, 0.5, 9, 12, np.inf, np.nan], "float16")


@pytest.mark.parametrize("fused", [False, True])
@pytest.mark.parametrize("name", MAKE)
def test_values(name: str, fused: bool) -> None:
    run = compiled.run_with(logistic.FIX, MAKE[name], ("N",), dtypes=("float16",), fused=fused)
    wide = LOW.astype("float64")
    with np.errstate(over="ignore"):
        wanted = 1 / (1 + np.exp(-wide)) * (wide if name == "silu" else 1)
    actual = run(LOW)
    assert actual.dtype == np.float16
    # A subnormal float16 has few digits.
    np.testing.assert_allclose(actual, wanted, rtol=1e-3, atol=6e-8)


@pytest.mark.parametrize("name", MAKE)
def test_other_dtypes_are_left_to_tvm(name: str) -> None:
    module = compiled.module(MAKE[name], (3,), dtypes=("float32",))
    want = str(relax.transform.LegalizeOps()(module))
    assert str(compiled.lowered_by(logistic.FIX, module)) == want


PROGRAMS: whole.Programs = {
    "logistic": {
        "sigmoid": (whole.upstream("logistic", "sigmoid"),),
        "silu": (whole.upstream("logistic", "silu"),),
    },
}

CURES: whole.Cures = {
    "sigmoid-half-overflow": (("logistic", "sigmoid"),),
    "silu-half-overflow": (("logistic", "silu"),),
}
