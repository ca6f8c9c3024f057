"""Titles, issues and scripts of gradients."""

import msgspec
import pytest

from relaxcheck.generators.core.program import GRADIENT, Case, Input, Node, Program
from relaxcheck.harness.outcomes.outcome import Check, Outcome, Verdict
from relaxcheck.harness.outcomes.sources import SOURCES
from relaxcheck.harness.programs.reproduction import Reproduction, reproduction
from relaxcheck.reports.programs.issue import issue_text
from relaxcheck.reports.programs.repro import repro_text
from relaxcheck.reports.programs.titles import title_text
from relaxcheck.reports.programs.tvmscript import tvmscript

_NODES = (
    Node("y", "multiply", ("x0", "x0")),
    Node("s", "sum", ("y",)),
    Node("g", GRADIENT, ("s", "x0")),
)
CASE = Case("toy", Program((Input("x0", (3,), "float32"),), _NODES, ("g",)))


def _repro(*outputs: str) -> Reproduction:
    program = msgspec.structs.replace(CASE.program, outputs=outputs)
    output = outputs[-1]
    lines = {"multiply": {"file": "python/a.py", "line": 3, "function": "f"}}
    outcome = Outcome(
        Verdict.WRONG_VALUE,
        "compare",
        None,
        f"output {output}: 1 of 1 element outside its bound",
        (Check({}, output, 9.0, ("pytorch",)),),
        ("pytorch",),
        details={SOURCES: {"release": "0.27", "gradients": lines}},
    )
    return reproduction(msgspec.structs.replace(CASE, program=program), outcome)


def test_a_title_and_an_issue_name_the_gradient_of_operators() -> None:
    repro = _repro("g")
    title = title_text(repro, None)
    assert title.startswith("gradient of multiply + sum gives wrong values")
    text = issue_text(repro, title, "", {})
    assert "\nThe gradient of a program of `relax.op.multiply` and `relax.op.sum` gives " in text
    assert "relax.op.gradient" not in text
    assert "TVM defines the gradient of `relax.op.multiply` at `python/a.py:3` (`f`)" in text
    assert "Gradient, then relax.build as it is" in text


def test_a_script_differentiates_in_both() -> None:
    script = repro_text(_repro("g"), "It", {})
    assert 'mod = relax.transform.Gradient("main", [mod["main"].params[0]])(mod)' in script
    assert 'result = vm["main_adjoint"](tvm.runtime.tensor(x0))[1][0]' in script
    assert "    x0.requires_grad_()\n" in script
    assert "g = torch.autograd.grad(s, x0)[0]" in script


@pytest.mark.parametrize(
    ("outputs", "places", "array"),
    [
        (("s", "g"), "[0, 1]", ".numpy()"),
        (("g", "s"), "[1, 0]", ".detach().numpy()"),
    ],
)
def test_a_script_picks_the_outputs(outputs: tuple[str, ...], places: str, array: str) -> None:
    script = " ".join(repro_text(_repro(*outputs), "It", {}).split())
    assert f"[value, *made][at] for at in {places}]" in script
    assert f"return {outputs[-1]}{array}" in script
    compile(repro_text(_repro(*outputs), "It", {}), "script", "exec")


def test_a_listing_says_what_is_differentiated() -> None:
    text = tvmscript(CASE.program)
    assert text.startswith("# To differentiate by relax.transform.Gradient in x0.\n@R.function\n")
    assert "R.gradient" not in text
    assert text.endswith("    return s")
