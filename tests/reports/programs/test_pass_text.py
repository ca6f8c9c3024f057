"""Scripts apply the passes of a case, and end with the check that the last one fails."""

import ast

import pytest

from relaxcheck.generators.core.program import Case, Input, Node, Program, ShapeValue
from relaxcheck.generators.passes import PASSES, known
from relaxcheck.generators.passes.calls import prepared
from relaxcheck.generators.passes.text import CHECKS
from relaxcheck.harness.compiling.passes.checks import serializes
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.harness.programs.reproduction import reproduction
from relaxcheck.reports.programs.repro import repro_text

PROGRAM = Program((Input("x", (2,), "float32"),), (Node("y", "nn.relu", ("x",)),), ("y",))
CASE = Case("pass-FuseTIR", PROGRAM, passes=prepared([(PASSES["FuseTIR"], {})]))


def script(outcome: Outcome, case: Case = CASE) -> str:
    return repro_text(reproduction(case, outcome), "A title", {"apache-tvm": "0.27.0"})


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


def test_a_pass_that_is_applied_twice_is_checked_each_time() -> None:
    passes = [(PASSES[name], {}) for name in ("Normalize", "FuseTIR", "Normalize", "LegalizeOps")]
    case = Case("passes", PROGRAM, passes=prepared(passes))
    message = f"Normalize: {next(iter(CHECKS))}: for a reason"
    text = script(Outcome(Verdict.BROKEN_MODULE, "Normalize", None, message), case)
    checked = text.split("relax.transform.Normalize()(mod)\n")[1:]
    assert len(checked) == 2
    assert all(each.lstrip().startswith("relax.analysis.well_formed(mod)") for each in checked)
    assert "LegalizeOps" not in checked[-1]


@pytest.mark.parametrize("check", CHECKS)
def test_the_script_of_a_module_that_is_not_broken_ends_well(check: str) -> None:
    """On the running TVM no pass of the case breaks it, and the lines of each check run."""
    message = f"FuseTIR: {check}: for a reason"
    text = script(Outcome(Verdict.BROKEN_MODULE, "FuseTIR", None, message))
    if "save_json" in text and not serializes():
        pytest.skip("this TVM saves no tensor type")
    try:
        exec(compile(text, "repro.py", "exec"), {"__name__": "__main__"})
    except SystemExit as ended:
        assert not ended.code  # noqa: PT017


def test_an_attribute_of_the_passes_own_may_go() -> None:
    owner = next(record for record in PASSES.values() if record.owns)
    case = Case("passes", PROGRAM, passes=prepared([(owner, {})]))
    message = f"{owner.name}: does not keep attributes: drops x of a function"
    text = script(Outcome(Verdict.BROKEN_MODULE, owner.name, None, message), case)
    assert f'owned = ["{owner.owns[0]}"]' in text or f"owned = {list(owner.owns)}" in text


def test_a_wrong_value_behind_passes_is_built_and_run() -> None:
    text = script(Outcome(Verdict.WRONG_VALUE, "compare", None, ""))
    compile(text, "repro.py", "exec")
    assert text.index("FuseTIR()(mod)") < text.index("relax.build(mod")


@pytest.mark.parametrize(
    "name",
    [each.name for each in PASSES.values() if any(known(name).source for name in each.after)],
)
def test_a_script_prepares_a_module_for_its_pass(name: str) -> None:
    """With what it was prepared for, the pass is right: the script ends well."""
    inner = Program(
        (Input("a", ("n",), "float32"),),
        (Node("b", "exp", ("a",)), Node("c", "negative", ("b",))),
        ("c",),
    )
    how = {"function": "inner", "sizes": ShapeValue(("m",))}
    inputs = (Input("x", ("m",), "float32"),)
    program = Program(inputs, (Node("y", "call", ("x",), how),), ("y",), {"inner": inner})
    case = Case("passes", program, ({"m": 3},), passes=prepared([(PASSES[name], {})]))
    text = script(Outcome(Verdict.WRONG_VALUE, "compare", None, ""), case)
    function = next(each for each in PASSES[name].after if known(each).source).partition(".")[2]
    assert text.index(f"def {function}(mod):") < text.index(f"mod = {function}(mod)")
    with pytest.raises(SystemExit) as ended:
        exec(compile(text, "repro.py", "exec"), {"__name__": "__main__"})
    assert ended.value.code == 0


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


def test_a_pass_to_mixed_precision_has_the_bounds_of_float16() -> None:
    tensors = Input("x", (2, 3), "float32"), Input("w", (3, 2), "float32")
    program = Program(tensors, (Node("y", "matmul", ("x", "w")),), ("y",))
    wrong = Outcome(Verdict.WRONG_VALUE, "compare", None, "y is off")
    made = [
        reproduction(Case(f"pass-{name}", program, passes=prepared([(PASSES[name], {})])), wrong)
        for name in ("ToMixedPrecision", "FuseTIR")
    ]
    half, own = (repro_text(each, "A title", {"apache-tvm": "0.27.0"}) for each in made)
    assert "rounding in float16 (ToMixedPrecision)" in half
    assert "(ToMixedPrecision)" not in own
    narrow, wide = (each.values["y"].bound for each in made)
    assert (narrow > wide).all()


def test_a_kernel_of_opencl_has_the_bounds_that_opencl_grants() -> None:
    program = Program((Input("x", (2,), "float32"),), (Node("y", "exp", ("x",)),), ("y",))
    wrong = Outcome(Verdict.WRONG_VALUE, "compare", None, "y is off")
    text = script(wrong, Case("exp", program, target="opencl"))
    assert "rounding in the program's own dtypes as opencl grants it" in text
