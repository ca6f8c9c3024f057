"""Scripts apply the passes of a case, and end with the check that the last one fails."""

import ast

import pytest

from relaxcheck.generators.core.program import Case, Input, Node, Program
from relaxcheck.generators.passes import PASSES
from relaxcheck.generators.passes.calls import prepared
from relaxcheck.generators.passes.text import CHECKS
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.harness.programs.reproduction import reproduction
from relaxcheck.reports.programs.repro import repro_text

PROGRAM = Program((Input("x", (2,), "float32"),), (Node("y", "nn.relu", ("x",)),), ("y",))
CASE = Case("pass-FuseTIR", PROGRAM, passes=prepared([(PASSES["FuseTIR"], {})]))


def script(outcome: Outcome) -> str:
    return repro_text(reproduction(CASE, outcome), "A title", {"apache-tvm": "0.27.0"})


@pytest.mark.parametrize("check", CHECKS)
def test_a_broken_module_is_checked_after_the_pass_and_not_run(check: str) -> None:
    message = f"FuseTIR: {check}: for a reason"
    text = script(Outcome(Verdict.BROKEN_MODULE, "FuseTIR", None, message))
    compile(text, "repro.py", "exec")
    before, _, behind = text.partition("relax.transform.FuseTIR()(mod)\n")
    assert "relax.transform.FuseOps()(mod)" in before
    assert behind.strip()
    assert "relax.build" not in text
    assert "VirtualMachine" not in text


def test_a_wrong_value_behind_passes_is_built_and_run() -> None:
    text = script(Outcome(Verdict.WRONG_VALUE, "compare", None, ""))
    compile(text, "repro.py", "exec")
    assert text.index("FuseTIR()(mod)") < text.index("relax.build(mod")


def test_relax_build_runs_no_pass_that_ran_already() -> None:
    case = Case("pass-VMShapeLower", PROGRAM, passes=prepared([(PASSES["VMShapeLower"], {})]))
    wrong = Outcome(Verdict.WRONG_VALUE, "compare", None, "")
    text = repro_text(reproduction(case, wrong), "A title", {"apache-tvm": "0.27.0"})
    compile(text, "repro.py", "exec")
    left_out = text.partition("return info.name not in [")[2].partition("]")[0]
    assert {"VMShapeLower", "StaticPlanBlockMemory"} <= set(ast.literal_eval(f"[{left_out}]"))
    assert "CallTIRRewrite" not in left_out


def test_constants_are_parameters_where_a_pass_binds_them() -> None:
    weight = Input("w", (2,), "float32", constant=True)
    program = Program((*PROGRAM.inputs, weight), (Node("y", "add", ("x", "w")),), ("y",))
    case = Case("pass-BindParams", program, passes=prepared([(PASSES["BindParams"], {})]))
    wrong = Outcome(Verdict.WRONG_VALUE, "compare", None, "")
    text = repro_text(reproduction(case, wrong), "A title", {"apache-tvm": "0.27.0"})
    assert "def program():" in text
    assert "mod = program()" in text
