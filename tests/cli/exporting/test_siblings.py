"""Tests of exports of causes of several operators."""

from pathlib import Path

from relaxcheck.cli.actions.exporting.every import of_cause
from relaxcheck.generators.core.program import Case, Input, Node, Program
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.harness.triage.causes import Cause
from relaxcheck.harness.triage.finding import Finding, Reduced, finding_of


def test_an_export_names_the_siblings_that_need_symbolic_dimensions(tmp_path: Path) -> None:
    def finding(operator: str, size: int | str) -> Finding:
        shape = Program((Input("x", (size,), "float32"),), (Node("y", operator, ("x",)),), ("y",))
        case = Case("toy", shape, ({"m": 2},) if size == "m" else ({},))
        return finding_of(Reduced(case, Outcome(Verdict.WRONG_VALUE, "compare", operator), {}))

    symbolic, static = finding("sum", "m"), finding("prod", 2)
    both = finding("exp", "m"), finding("exp", 2)
    lead_has_symbols = Cause((symbolic, static, *both))
    lead_has_none = Cause((static, symbolic, *both))
    wanted = [of_cause(each, tmp_path, {}, 60) for each in (lead_has_symbols, lead_has_none)]
    assert [each.recorded.siblings for each in wanted] == [("prod", "exp"), ("sum", "exp")]
    assert [each.recorded.symbolic for each in wanted] == [(), ("sum",)]
