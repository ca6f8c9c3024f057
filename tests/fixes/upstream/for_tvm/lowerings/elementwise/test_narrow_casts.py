"""Casts from and to floating-point formats of 8 and 16 bits."""

import numpy as np
import pytest
import tvm
import tvm.testing
from tvm import relax


def _run(data, dtype):
    builder = relax.BlockBuilder()
    x = tvm.runtime.tensor(data)
    relax_type = getattr(relax, "TensorType", None) or relax.TensorStructInfo
    var = relax.Var("x", relax_type(data.shape, str(x.dtype)))
    with builder.function("main", [var]):
        with builder.dataflow():
            result = builder.emit_output(relax.op.astype(var, dtype))
        builder.emit_func_output(result)
    executable = relax.build(builder.get(), tvm.target.Target("llvm"))
    actual = relax.VirtualMachine(executable, tvm.cpu())["main"](x).numpy()
    return actual.astype("float64")


def _narrow(values, dtype):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    return np.array(values).astype(np.dtype(getattr(ml_dtypes, dtype)))


def test_float64_to_bfloat16():
    above = 1 + 2.0**-8 + 2.0**-40
    actual = _run(np.array([above, -above, 1 + 2.0**-8, np.inf]), "bfloat16")
    np.testing.assert_array_equal(actual, [1 + 2.0**-7, -1 - 2.0**-7, 1, np.inf])


@pytest.mark.parametrize("dtype", ["int32", "int64", "uint32"])
def test_integers_to_bfloat16(dtype):
    tie = 2**24 + 2**16
    actual = _run(np.array([tie, tie + 1, 3], dtype), "bfloat16")
    np.testing.assert_array_equal(actual, [2**24, 2**24 + 2**17, 3])


def test_nan_to_bfloat16():
    data = np.array([0x7F800001, 0xFF800001, 0x7FFFFFFF], "uint32").view("float32")
    assert np.isnan(_run(data, "bfloat16")).all()


@pytest.mark.parametrize("dtype", ["float8_e4m3fn", "float8_e5m2"])
def test_from_eight_bits(dtype):
    data = _narrow([0, -0.0, 2.0**-9, 1.5, -(2.0**-7), np.nan], dtype)
    np.testing.assert_array_equal(_run(data, "float32"), data.astype("float64"))


@pytest.mark.parametrize("dtype", ["float8_e4m3fn", "float8_e5m2"])
def test_to_eight_bits(dtype):
    data = np.array([0, 2.0**-9, 2.0**-10, -(2.0**-7), 1.3, -448, np.nan], "float32")
    wanted = _narrow(data, dtype).astype("float64")
    np.testing.assert_array_equal(_run(data, dtype), wanted)


@pytest.mark.parametrize("dtype", ["float8_e4m3fnuz", "float8_e5m2fnuz"])
def test_from_one_zero(dtype):
    data = _narrow([0, 2.0**-9, 1.5, -(2.0**-7), np.nan], dtype)
    np.testing.assert_array_equal(_run(data, "float32"), data.astype("float64"))


@pytest.mark.parametrize("dtype", ["float8_e4m3fnuz", "float8_e5m2fnuz"])
def test_to_one_zero(dtype):
    data = np.array([0, -0.0, 2.0**-9, -(2.0**-7), 1.3, -100, np.nan], "float32")
    np.testing.assert_array_equal(_run(data, dtype), _narrow(data, dtype).astype("float64"))


if __name__ == "__main__":
    tvm.testing.main()
