"""Unsigned integers are negated modulo 2 to the power of their bits, as in NumPy."""

import numpy as np
import pytest
from tvm import relax

from relaxcheck.fixes.lowerings import unsigned_negation
from tests.fixes import compiled
from tests.fixes import whole_programs as whole


@pytest.mark.parametrize("fused", [False, True])
@pytest.mark.parametrize("dtype", ["uint8", "uint16", "uint32", "uint64"])
def test_negation(dtype: str, fused: bool) -> None:
    run = compiled.run_with(
        unsigned_negation.FIX, relax.op.negative, ("N",), dtypes=(dtype,), fused=fused
    )
    most = np.iinfo(dtype).max
    x = np.array([0, 1, 2, most // 2, most // 2 + 1, most - 1, most], dtype)
    result = run(x)
    assert result.dtype == np.dtype(dtype)
    np.testing.assert_array_equal(result, np.negative(x))


def test_floats_and_signed_integers_are_left_to_tvm() -> None:
    for dtype in ("float32", "int8"):
        module = compiled.module(relax.op.negative, (3,), dtypes=(dtype,))
        want = str(relax.transform.LegalizeOps()(module))
        assert str(compiled.lowered_by(unsigned_negation.FIX, module)) == want


PROGRAMS: whole.Programs = {
    "unsigned_negation": {
        "unsigned integers": (whole.upstream("unsigned_negation", "bytes"),),
    },
}
