"""Tensors filled with infinities and NaN agree with NumPy."""

import numpy as np
import pytest
from tvm import relax

from relaxcheck.fixes.framework import installation
from relaxcheck.fixes.lowerings.elementwise import filled
from tests.fixes import compiled
from tests.fixes import whole_programs as whole

VALUES = (np.inf, -np.inf, np.nan, 2.5)


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_values(value: float, dtype: str) -> None:
    run = compiled.run_with(
        filled.FIX,
        lambda x: relax.op.full_like(x, relax.const(value, dtype)),
        ("N", 2),
        dtypes=(dtype,),
        fused=False,
    )
    for rows in (1, 3):
        result = run(np.ones((rows, 2), dtype))
        assert result.dtype == np.dtype(dtype)
        np.testing.assert_array_equal(result, np.full((rows, 2), value, dtype))


def test_stated_shapes() -> None:
    run = compiled.run_with(
        filled.FIX,
        lambda x: x + relax.op.full((2, 3), relax.const(-np.inf, "float32"), "float32"),
        (2, 3),
        dtypes=("float32",),
        fused=True,
    )
    np.testing.assert_array_equal(run(np.ones((2, 3), "float32")), np.full((2, 3), -np.inf))


def test_integers_have_no_infinity() -> None:
    with installation.install([filled.FIX]), pytest.raises(Exception, match="floating-point dtype"):
        compiled.build(
            compiled.module(
                lambda x: relax.op.full_like(x, relax.const(np.inf, "float32"), "int32"), (2,)
            )
        )


PROGRAMS: whole.Programs = {
    "filled": {"infinities": (whole.upstream("filled", "infinities"),)},
}
