"""Values at the borders of casts: of their own dtype, at ties of the other, and beside them."""

from itertools import permutations

import ml_dtypes
import numpy as np
import pytest

from relaxcheck.generators.core.case import encode
from relaxcheck.generators.core.fills.borders import Borders
from relaxcheck.generators.core.program import DTYPES, Case, Input, Program, decode
from relaxcheck.generators.core.values import Array, arrays, numpy_dtype

WIDE = ("float32", "float64")


def _filled(dtype: str, to: str, size: int = 400) -> Array:
    program = Program((Input("x", (size,), dtype, fill=Borders(to)),), (), ("x",))
    case = Case("any", program, seed=11)
    assert decode(encode(case)) == case
    return arrays(case, 0)["x"]


@pytest.mark.parametrize(("dtype", "to"), [*permutations(DTYPES, 2)])
def test_values_are_finite_and_fit_what_holds_integers(dtype: str, to: str) -> None:
    values = _filled(dtype, to)
    assert values.dtype == numpy_dtype(dtype)
    wide = values.astype(np.float64)
    assert np.isfinite(wide).all()
    assert (np.abs(wide) < 2.0**63).all() or "int" not in dtype + to
    assert len(np.unique(wide)) > 1
    if to.startswith("uint"):
        assert (wide >= 0).all()


@pytest.mark.parametrize("to", ["float16", "bfloat16", "float8_e4m3fn", "float8_e5m2"])
@pytest.mark.parametrize("dtype", WIDE)
def test_a_third_are_ties_and_the_others_are_one_step_beside(dtype: str, to: str) -> None:
    values = _filled(dtype, to)
    kind = ml_dtypes.finfo(numpy_dtype(to))
    step = np.maximum(np.frexp(values)[1] - int(kind.nmant) - 1, int(_least(to)))
    scaled = np.ldexp(values.astype(np.longdouble), 1 - step)
    ties = np.rint(scaled)
    assert (np.abs(ties) % 2 == 1).all()
    exact = scaled == ties
    assert 0.2 < exact.mean() < 0.6
    beside = np.nextafter(values, np.ldexp(ties, step - 1).astype(dtype))
    assert (np.ldexp(beside.astype(np.longdouble), 1 - step) == ties)[~exact].all()


def _least(to: str) -> int:
    return int(np.frexp(float(ml_dtypes.finfo(numpy_dtype(to)).smallest_subnormal))[1]) - 1


def test_a_float64_by_way_of_float32_is_rounded_wrongly() -> None:
    values = _filled("float64", "bfloat16")
    once = ml_dtypes.finfo("bfloat16")
    step = np.frexp(values)[1] - int(once.nmant) - 1
    right = np.ldexp(np.rint(np.ldexp(values, -step)), step)
    twice = values.astype(np.float32).astype(numpy_dtype("bfloat16")).astype(np.float64)
    usual = np.abs(values) > 2.0**-120
    assert (right != twice)[usual].sum() > 50
