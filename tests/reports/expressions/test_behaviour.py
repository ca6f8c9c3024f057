"""The behaviour of TVM that an issue about an expression states."""

import msgspec

from relaxcheck.generators.expressions.cases import ANALYZED
from relaxcheck.harness.expressions.fault import RAISES, Asked
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.reports.expressions.behaviour import actual_text
from tests.reports.expressions.test_issue import member


def test_an_error_of_the_analyzer_names_the_call() -> None:
    asked = msgspec.to_builtins(Asked(RAISES, call="deduce_bound"))
    outcome = Outcome(Verdict.OPAQUE_CRASH, "analysis", message="no", details=asked)
    text = actual_text(member(ANALYZED, "x + y"), outcome)
    assert text.startswith("The analyzer raises an error in `deduce_bound`: x + y with ")
