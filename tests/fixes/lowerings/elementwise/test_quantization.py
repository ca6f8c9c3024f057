"""Quantization of float16 to 16 bits saturates; the others are as TVM has them."""

from typing import Any

import numpy as np
import pytest
from tvm import relax

from relaxcheck.fixes.lowerings.elementwise import quantization
from tests.fixes import compiled
from tests.fixes import whole_programs as whole


def _quantize(out_dtype: str) -> Any:
    return lambda data, scale, zero: relax.op.quantize(data, scale, zero, -1, out_dtype)


@pytest.mark.parametrize("fused", [False, True])
@pytest.mark.parametrize(
    ("out_dtype", "zero", "wanted"),
    [
        ("int16", 0, [32767, -32768, 32767, 8, 8, -8, 32752]),
        ("uint16", 16, [65520, 0, 65535, 24, 24, 8, 32768]),
    ],
)
def test_values_beyond_the_result_become_its_limits(
    out_dtype: str, zero: int, wanted: list[int], fused: bool
) -> None:
    run = compiled.run_with(
        quantization.FIX,
        _quantize(out_dtype),
        *(("n",), (1,), (1,)),
        dtypes=("float16", "float16", out_dtype),
        fused=fused,
    )
    # Halves are rounded to even before the zero point is added.
    data = np.array([65504, -65504, np.inf, 7.5, 8.5, -8.5, 32752], "float16")
    actual = run(data, np.ones(1, "float16"), np.full(1, zero, out_dtype))
    assert (actual.dtype, actual.tolist()) == (out_dtype, wanted)


@pytest.mark.parametrize("dtypes", [("float32", "int16"), ("float16", "int8")])
def test_other_dtypes_are_left_to_tvm(dtypes: tuple[str, str]) -> None:
    data, made = dtypes
    module = compiled.module(_quantize(made), (3,), (1,), (1,), dtypes=(data, data, made))
    want = str(relax.transform.LegalizeOps()(module))
    assert str(compiled.lowered_by(quantization.FIX, module)) == want


PROGRAMS: whole.Programs = {
    "quantization": {"16 bits": (whole.upstream("quantization", "quantize_saturates"),)},
}
