"""Integer division by every divisor agrees with NumPy."""

import numpy as np
import pytest
from tvm import relax

from relaxcheck.fixes.lowerings import (
    integer_division,
)
from tests.fixes import compiled
from tests.fixes import whole_programs as whole

OP = relax.op


ENDS = (0, 1, -1, 2, -3, 7)

DIVISIONS = {
    "divide": lambda x, y: np.trunc(x / y),
    "floor_divide": np.floor_divide,
    "mod": np.fmod,
    "floor_mod": np.mod,
}


@pytest.mark.parametrize("name", DIVISIONS)
@pytest.mark.parametrize("dtype", ["int8", "int32", "uint8"])
def test_integers_are_divided_by_anything(name: str, dtype: str) -> None:
    """A column divided by a row, each with the extremes of the dtype."""
    limits = np.iinfo(dtype)
    values = sorted({v for v in (*ENDS, limits.min, limits.max) if limits.min <= v <= limits.max})
    row = np.array(values, dtype)
    shapes = [("M", 1), ("N",)]
    make = getattr(OP, name)
    fix = integer_division.FIX
    run = compiled.run_with(fix, make, *shapes, dtypes=(dtype,) * 2, fused=True)
    result = run(row[:, None], row)
    assert result.dtype == dtype
    for number, x in enumerate(values):
        for other, y in enumerate(values):
            # By 0, and the lowest by -1 in the arithmetic of the dtype, as in NumPy.
            exact = DIVISIONS[name](float(x), float(y)) if y else 0
            assert result[number, other] == np.array(exact).astype("int64").astype(dtype), (x, y)


def test_the_lowest_integer_of_64_bits() -> None:
    lowest = np.iinfo("int64").min
    fix = integer_division.FIX
    run = compiled.run_with(fix, OP.floor_divide, (2,), (2,), dtypes=("int64",) * 2, fused=False)
    result = run(np.array([lowest, lowest + 1], "int64"), np.array([-1, -1], "int64"))
    np.testing.assert_array_equal(result, [lowest, -(lowest + 1)])


PROGRAMS: whole.Programs = {
    "integer_division": {
        "divisors": tuple(
            whole.upstream("integer_division", name)
            for name in ("division_by_zero", "remainders_by_zero", "lowest_by_minus_one")
        ),
    },
}

CURES: whole.Cures = {
    "division-by-zero": (("integer_division", "divisors"),),
}
