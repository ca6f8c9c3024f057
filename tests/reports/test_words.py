"""The documentation says of verdicts, severities and preconditions what the code says."""

from pathlib import Path

import pytest

from relaxcheck.generators.core.case import Invalid, Valid
from relaxcheck.generators.core.preconditions import PRECONDITIONS
from relaxcheck.harness.outcomes.outcome import DESCRIPTIONS, Verdict
from relaxcheck.harness.outcomes.severity import MEANINGS, Severity, severity_of

ROOT = Path(__file__).resolve().parents[2]
REPORT = (ROOT / "docs" / "report.md").read_text()


def row(page: str, first: str) -> list[str]:
    """The cells after ``first`` in the table row of ``page`` that begins with it."""
    (line,) = [line for line in page.splitlines() if line.startswith(f"| {first} |")]
    return [cell.strip() for cell in line.strip("|").split("|")][1:]


@pytest.mark.parametrize("verdict", Verdict)
def test_the_verdict_table_has_every_verdict_in_these_words(verdict: Verdict) -> None:
    assert row(REPORT, f"`{verdict}`") == [
        DESCRIPTIONS[verdict],
        "yes" if verdict.is_failure else "no",
    ]


@pytest.mark.parametrize("severity", Severity)
def test_the_severity_table_has_every_severity_with_its_verdicts(severity: Severity) -> None:
    meaning, verdicts = row(REPORT, severity)
    assert meaning == MEANINGS[severity]
    expected = (Invalid("x", ("y",)),) if severity is Severity.ERROR_MESSAGE else (Valid(),)
    wanted = {
        verdict
        for verdict in Verdict
        for expectation in expected
        if severity_of(verdict, expectation) is severity
    }
    assert {f"`{verdict}`" for verdict in wanted} == set(verdicts.replace(";", ",").split(", "))


def test_the_preconditions_are_quoted_with_their_source() -> None:
    for precondition in PRECONDITIONS:
        dtypes, source = row(REPORT, f"`{precondition.pipeline}`")
        assert dtypes == ", ".join(precondition.dtypes)
        assert precondition.words in source
        assert source.replace("`", "").endswith(f": {precondition.source}")
