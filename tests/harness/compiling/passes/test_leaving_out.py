"""A pass of a case's own that is left out runs nowhere, and is held to no check."""

from pathlib import Path

import pytest

from relaxcheck.generators.core.draft import Draft
from relaxcheck.generators.core.program import Case
from relaxcheck.generators.passes import PASSES
from relaxcheck.generators.passes.calls import prepared
from relaxcheck.harness.compiling.passes.details import CHANGED
from relaxcheck.harness.kind import Tracing
from relaxcheck.harness.outcomes.outcome import Verdict
from relaxcheck.harness.programs.execute import execute
from relaxcheck.harness.triage.bisection.trace import read


@pytest.mark.parametrize("name", ["StaticPlanBlockMemory", "EliminateCommonSubexpr"])
def test_it_runs_nowhere_and_changes_nothing(name: str, tmp_path: Path) -> None:
    draft = Draft("float32")
    value = draft.start((2, 3))
    calls = [draft.call("exp", [value], (2, 3)) for _ in range(2)]
    draft.call("add", calls, (2, 3))
    case = Case("passes", draft.program(), passes=prepared([(PASSES[name], {})]))
    whole = Tracing(str(tmp_path / "whole"))
    assert execute(case, tracing=whole).details[CHANGED] == [name]
    assert any(step.name == name for step in read(tmp_path / "whole").steps)
    without = Tracing(str(tmp_path / "without"), without=(name,))
    outcome = execute(case, tracing=without)
    assert (outcome.verdict, outcome.details[CHANGED]) == (Verdict.PASS, [])
    assert not any(step.name == name for step in read(tmp_path / "without").steps)
