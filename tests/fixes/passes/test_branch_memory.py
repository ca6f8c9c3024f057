"""Functions with conditionals keep their tensors apart; others are planned as ever."""

import pytest
import tvm
from tvm import relax

from relaxcheck.fixes.framework import installation
from relaxcheck.fixes.passes import branch_memory
from tests.fixes import compiled
from tests.fixes import whole_programs as whole
from tests.fixes.upstream.for_tvm.passes.test_branch_memory import branches_have_storage


@pytest.mark.parametrize("taken", [True, False])
def test_each_branch_runs(taken: bool) -> None:
    with installation.install([branch_memory.FIX]):
        branches_have_storage(taken)


def test_other_functions_are_planned() -> None:
    module = compiled.module(lambda x: relax.op.exp(relax.op.exp(relax.op.exp(x))), (3,))
    for step in ("LegalizeOps", "ToNonDataflow", "RemovePurityChecking", "CallTIRRewrite"):
        module = getattr(relax.transform, step)()(module)
    got = branch_memory.StaticPlanBlockMemory()(module)
    tvm.ir.assert_structural_equal(got, branch_memory._ORIGINAL()(module))
    assert "alloc_storage" in str(got)


def test_the_pass_is_called_as_before() -> None:
    """Bisection finds it, and pipelines place others, by its name."""
    info = branch_memory.StaticPlanBlockMemory().info
    assert (str(info.name), int(info.opt_level)) == ("StaticPlanBlockMemory", 0)


PROGRAMS: whole.Programs = {
    "branch_memory": {
        "branches": (whole.upstream("branch_memory", "the_second_branch_has_its_storage"),)
    }
}

CURES: whole.Cures = {"branches-share-memory": (("branch_memory", "branches"),)}
