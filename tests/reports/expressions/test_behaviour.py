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


def test_ranges_are_only_those_of_variables_that_occur() -> None:
    outcome = Outcome(Verdict.OPAQUE_CRASH, "analysis", message="no")
    assert actual_text(member(ANALYZED, "x + 1"), outcome).endswith(
        ": x + 1 with x: int64 in [-3, 5]"
    )
    assert actual_text(member(ANALYZED, "0 % 1"), outcome).endswith(": 0 % 1")
