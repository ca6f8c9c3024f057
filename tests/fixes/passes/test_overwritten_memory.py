"""A result that is an overwritten argument keeps its memory."""

from typing import Any

import numpy as np
import pytest
import tvm
from tvm import relax

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework import installation, probes
from relaxcheck.fixes.passes import overwritten_memory
from tests.fixes import compiled
from tests.fixes import whole_programs as whole

ARRAY = np.array([1, 3, 5], "float32")


@pytest.mark.parametrize("run", [probes.run, probes.run_fused])
def test_the_memory_is_not_given_away(run: Any) -> None:
    wanted = 2 * ARRAY - ARRAY * ARRAY
    with installation.install([overwritten_memory.FIX]):
        np.testing.assert_array_equal(run(overwritten_memory.program(), ARRAY), wanted)


def test_without_the_fix_it_is() -> None:
    result = probes.run(overwritten_memory.program(), ARRAY)
    assert not (result == 2 * ARRAY - ARRAY * ARRAY).any()


def test_other_modules_stay_as_they_are() -> None:
    module = compiled.module(lambda x: relax.op.exp(x), (3,))
    module = relax.transform.ToNonDataflow()(relax.transform.LegalizeOps()(module))
    got = overwritten_memory.RemovePurityChecking()(module)
    tvm.ir.assert_structural_equal(got, overwritten_memory._ORIGINAL()(module))


def test_the_result_has_the_name_of_the_argument() -> None:
    module = relax.transform.ToNonDataflow()(overwritten_memory.program())
    got = overwritten_memory.RemovePurityChecking()(module)
    values = [binding.value for block in got["main"].body.blocks for binding in block.bindings]
    (same,) = (value for value in values if isinstance(value, relax.Var))
    (called,) = (
        value
        for value in values
        if isinstance(value, relax.Call) and isinstance(value.op, relax.ExternFunc)
    )
    assert called.args[0].same_as(same)
    assert tvm_api.is_tensor(same)


def test_the_pass_is_called_as_before() -> None:
    """Bisection finds it, and pipelines place others, by its name."""
    info = overwritten_memory.RemovePurityChecking().info
    assert (str(info.name), int(info.opt_level)) == ("RemovePurityChecking", 0)


PROGRAMS: whole.Programs = {
    "overwritten_memory": {
        "results that are arguments": (
            whole.upstream("overwritten_memory", "one_result"),
            whole.upstream("overwritten_memory", "one_of_two_results"),
        ),
    },
}

CURES: whole.Cures = {
    "overwritten-memory": (("overwritten_memory", "results that are arguments"),),
}
