"""Values of all classes: what ``isnan`` and its kin tell apart."""

import ml_dtypes
import numpy as np
import pytest

from relaxcheck.generators.core.case import encode
from relaxcheck.generators.core.fills.kinds import Classed
from relaxcheck.generators.core.program import DTYPES, Case, Input, Program, decode
from relaxcheck.generators.core.values import Array, arrays, numpy_dtype

FLOATS = ("float16", "bfloat16", "float32", "float64")


def _filled(dtype: str, regime: str = "normal", size: int = 400) -> Array:
    program = Program((Input("x", (size,), dtype, fill=Classed()),), (), ("x",))
    case = Case("any", program, seed=11, regime=regime)
    assert decode(encode(case)) == case
    return arrays(case, 0)["x"]


@pytest.mark.parametrize("regime", ["normal", "exact", "special"])
@pytest.mark.parametrize("dtype", FLOATS)
def test_each_class_has_some_of_the_values_of_either_sign(dtype: str, regime: str) -> None:
    values = _filled(dtype, regime).astype(np.float64)
    kind = ml_dtypes.finfo(numpy_dtype(dtype))
    size, least = np.abs(values), float(kind.smallest_normal)
    for each in (values == np.inf, values == -np.inf, np.isnan(values), size == float(kind.max)):
        assert 4 <= each.sum() <= 60
    for sign in (False, True):
        of_sign = np.signbit(values) == sign
        assert ((size == 0) & of_sign).sum() >= 4
        assert ((size > 0) & (size < least) & of_sign).sum() >= 4
    assert (np.isfinite(values) & (size >= 2**-11) & (size <= 2)).mean() > 0.4


@pytest.mark.parametrize("dtype", [each for each in DTYPES if "int" in each])
def test_integers_have_their_limits(dtype: str) -> None:
    values, limits = _filled(dtype), np.iinfo(dtype)
    assert values.min() == limits.min
    assert values.max() == min(limits.max, np.iinfo(np.int64).max)


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_dtype_has_values(dtype: str) -> None:
    assert len(np.unique(_filled(dtype).astype(np.float64))) > 1
