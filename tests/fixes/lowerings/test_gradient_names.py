"""call_tir_with_grad is a plain call of its function where no gradient is asked for."""

import numpy as np
import pytest
import tvm
from tvm import relax

from relaxcheck.fixes.framework import installation, probes
from relaxcheck.fixes.lowerings import gradient_names
from tests.fixes import compiled
from tests.fixes import whole_programs as whole


def test_a_call_is_lowered_and_computes() -> None:
    array = np.array([1, -2, 4], "float32")
    with pytest.raises(tvm.error.InternalError):
        probes.run(gradient_names.program(), array)
    with installation.install([gradient_names.FIX]):
        np.testing.assert_array_equal(probes.run(gradient_names.program(), array), 2 * array)


def test_the_call_has_the_function_and_the_arguments_as_before() -> None:
    with installation.install([gradient_names.FIX]):
        lowered = relax.transform.LegalizeOps()(gradient_names.program())
    assert compiled.calls(lowered) == ["relax.call_tir"]
    (before,) = probes.calls(gradient_names.program())
    (after,) = probes.calls(lowered)
    assert str(after.args) == str(before.args)


PROGRAMS: whole.Programs = {
    "gradient_names": {
        "without gradient": (whole.upstream("gradient_names", "call_tir_with_grad_is_lowered"),),
    },
}

CURES: whole.Cures = {
    "not-lowered": (("gradient_names", "without gradient"),),
}
