"""The sign of unsigned integers is 0 or 1."""

import numpy as np
import pytest
from tvm import relax

from relaxcheck.fixes.lowerings.elementwise import unsigned_sign
from tests.fixes import compiled
from tests.fixes import whole_programs as whole


@pytest.mark.parametrize("dtype", ["uint8", "uint32", "uint64"])
def test_sign(dtype: str) -> None:
    run = compiled.run_with(
        unsigned_sign.FIX, relax.op.sign, ("N",), dtypes=(dtype,), fused=dtype == "uint8"
    )
    actual = run(np.array([0, 1, 7, np.iinfo(dtype).max], dtype))
    assert actual.dtype == np.dtype(dtype)
    assert actual.tolist() == [0, 1, 1, 1]


def test_floats_and_signed_integers_are_left_to_tvm() -> None:
    for dtype in ("float32", "int8"):
        module = compiled.module(relax.op.sign, (3,), dtypes=(dtype,))
        want = str(relax.transform.LegalizeOps()(module))
        assert str(compiled.lowered_by(unsigned_sign.FIX, module)) == want


PROGRAMS: whole.Programs = {
    "unsigned_sign": {"unsigned integers": (whole.upstream("unsigned_sign", "bytes"),)},
}

CURES: whole.Cures = {"sign-unsigned": (("unsigned_sign", "unsigned integers"),)}
