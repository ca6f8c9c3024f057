"""Programs that are compiled for other targets than LLVM's."""

import pytest
from msgspec.structs import replace

from relaxcheck.generators.core.case import CaseError, with_target
from relaxcheck.generators.core.program import Case, Input, Node, Program
from relaxcheck.harness.native.toolchain import chosen_target
from relaxcheck.harness.outcomes.outcome import Verdict
from relaxcheck.harness.programs import wellformed
from relaxcheck.harness.programs.execute import execute, execute_together

pytestmark = pytest.mark.tvm

PROGRAM = Program(
    (Input("x", ("n", 4), "float32"),),
    (Node("y", "nn.softmax", ("x",), {"axis": -1}), Node("z", "exp", ("y",))),
    ("z",),
)
CASE = Case("any", PROGRAM, ({"n": 3}, {"n": 1}))


def test_c_code_is_compiled_run_and_right_alone_and_together() -> None:
    case = with_target(CASE, "c")
    together = execute_together([case, replace(case, seed=1)], lambda number, stage: None)
    for outcome in (execute(case), execute(replace(case, opt_level=3)), *together):
        assert outcome.verdict is Verdict.PASS, outcome.message
        assert len(outcome.checks) == 2


def test_an_error_of_the_c_compiler_is_one_of_code_generation() -> None:
    """TVM's header for C code lacks a function that compiled mode calls."""
    outcome = execute(with_target(replace(CASE, exec_mode="compiled"), "c"))
    assert (outcome.verdict, outcome.stage) == (Verdict.OPAQUE_CRASH, "codegen")
    assert "the C compiler refuses the generated code: 'TVMBackend" in outcome.message


@pytest.mark.parametrize("name", ["cuda", "opencl", "metal", "webgpu"])
def test_kernels_are_built_and_what_was_checked_is_said(name: str) -> None:
    exponential = Program((Input("x", (5,), "float32"),), (Node("y", "exp", ("x",)),), ("y",))
    outcome = execute(with_target(Case("any", exponential), name))
    language = chosen_target(name).language
    if outcome.verdict is not Verdict.PASS:  # Where a device is, it runs.
        assert outcome.verdict is Verdict.BUILT, outcome.message
        assert outcome.message.startswith(f"{language} generated")


def test_no_default_pipeline_is_asked_for_where_tvm_has_none() -> None:
    case = with_target(replace(CASE, pipeline="default-pipeline"), "c")
    with pytest.raises(CaseError, match="no default pipeline for target c"):
        wellformed.check(case)
    wellformed.check(with_target(case, "cuda"))
