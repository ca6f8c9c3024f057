"""Stand-in."""

from collections.abc import Mapping

from generators.expression_cases import Member
from harness.outcome import Outcome
from reports.issue import Came


def title_text(case: Member, outcome: Outcome) -> str:
    """Stand-in."""
    return f"{outcome.operator}: {case.subject}"


def script_text(case: Member, outcome: Outcome, title: str, environment: Mapping[str, str]) -> str:
    """Stand-in."""
    return ""


def issue_text(
    case: Member,
    outcome: Outcome,
    title: str,
    script: str,
    environment: Mapping[str, str],
    releases: Mapping[str, Came],
    known: str | None,
) -> str:
    """Stand-in."""
    return ""
