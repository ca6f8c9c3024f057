"""Inverse circular and hyperbolic functions of every float; atanh and tanh to the last digits."""

import numpy as np
import pytest
import tvm
from tvm import relax

from relaxcheck.fixes.lowerings.elementwise import elementary_functions
from tests.fixes import compiled
from tests.fixes import whole_programs as whole

FUNCTIONS = {
    "acos": np.arccos, "acosh": np.arccosh, "asin": np.arcsin, "asinh": np.arcsinh,
    "atan": np.arctan, "cosh": np.cosh, "sinh": np.sinh, "atanh": np.arctanh,
}  # fmt: skip


@pytest.mark.parametrize("name", FUNCTIONS)
def test_half_precision(name: str) -> None:
    run = compiled.run_with(
        elementary_functions.FIX, getattr(relax.op, name), ("N",), dtypes=("float16",), fused=True
    )
    x = np.array([1, 1.5, 3] if name == "acosh" else [-0.75, 0.125, 0.5], "float16")
    actual = run(x)
    assert actual.dtype == np.float16
    np.testing.assert_allclose(actual, FUNCTIONS[name](x.astype("float64")), rtol=1e-3)


def test_the_angle_of_a_point_in_half_precision() -> None:
    run = compiled.run_with(
        elementary_functions.FIX,
        relax.op.atan2,
        *(("N", 1), (3,)),
        dtypes=("float16", "float16"),
        fused=True,
    )
    y, x = np.array([[1], [-0.5]], "float16"), np.array([-2, 0, 3], "float16")
    wanted = np.arctan2(y.astype("float64"), x.astype("float64"))
    np.testing.assert_allclose(run(y, x), wanted, rtol=1e-3)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_atanh_near_zero(dtype: str) -> None:
    run = compiled.run_with(
        elementary_functions.FIX, relax.op.atanh, ("N",), dtypes=(dtype,), fused=False
    )
    x = np.array([2.0**-60, -(2.0**-20), 0.5, 1, -1, 2], dtype)
    with np.errstate(divide="ignore", invalid="ignore"):
        wanted = np.arctanh(x.astype(np.longdouble))
    np.testing.assert_allclose(run(x), wanted, rtol=4 * np.finfo(dtype).eps)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_tanh_near_zero(dtype: str) -> None:
    run = compiled.run_with(
        elementary_functions.FIX, relax.op.tanh, ("N",), dtypes=(dtype,), fused=True
    )
    x = np.array([2.0**-20, -(2.0**-12), 0.03125, -0.0, 0.5, -3, 20, np.inf, np.nan], dtype)
    actual = run(x)
    wanted = np.tanh(x.astype(np.longdouble))
    np.testing.assert_allclose(actual, wanted, rtol=4 * np.finfo(dtype).eps)
    assert np.signbit(actual[3])


@pytest.mark.parametrize("name", ["tanh", "atanh"])
def test_a_gpu_need_not_have_the_c_library(name: str) -> None:
    module = compiled.module(getattr(relax.op, name), (3,), dtypes=("float32",))
    with tvm.target.Target({"kind": "opencl"}):
        want = str(relax.transform.LegalizeOps()(module))
        assert str(compiled.lowered_by(elementary_functions.FIX, module)) == want
    assert f"{name}f" in str(compiled.lowered_by(elementary_functions.FIX, module))


def test_others_are_left_to_tvm() -> None:
    module = compiled.module(relax.op.asin, (3,), dtypes=("float32",))
    want = str(relax.transform.LegalizeOps()(module))
    assert str(compiled.lowered_by(elementary_functions.FIX, module)) == want


PROGRAMS: whole.Programs = {
    "elementary_functions": {
        "half precision": (whole.upstream("elementary_functions", "half_precision"),),
        "digits": (whole.upstream("elementary_functions", "atanh_near_zero"),),
        "digits of tanh": (whole.upstream("elementary_functions", "tanh_near_zero"),),
    },
}

CURES: whole.Cures = {
    "acos-half": (("elementary_functions", "half precision"),),
    "atanh-digits": (("elementary_functions", "digits"),),
    "tanh-digits": (("elementary_functions", "digits of tanh"),),
}
