"""The title, issue and reason that an export has of a known cause."""

import pytest

from relaxcheck.cli.actions.exporting import single as exporting
from relaxcheck.cli.lookup import RecordedCase
from relaxcheck.harness.known import named
from relaxcheck.harness.known.corpus import (
    entry,
)
from relaxcheck.harness.known.expected_failures import ExpectedFailure
from relaxcheck.harness.triage.finding import Finding
from tests.cli.exporting.test_exporting import LEFT, failing, finding


@pytest.mark.parametrize(
    ("name", "title", "issue"),
    [
        # The corpus has the program.
        (
            "19694-conv2d-transpose-nhwc",
            "nn.conv2d_transpose with data layout NHWC is left unlowered",
            "https://github.com/apache/tvm/issues/19694",
        ),
        # It has no such expression; the table of causes has what is wrong with it.
        (
            "index-counting-down-divided",
            "TVM mishandles an index that counts down and is divided: (1 - x) // 2 (index)",
            None,
        ),
    ],
)
def test_an_export_has_title_and_issue_of_a_known_cause(
    monkeypatch: pytest.MonkeyPatch, name: str, title: str, issue: str | None
) -> None:
    known = entry(name)
    outcome = known.expected.outcome
    assert outcome is not None
    if issue is None:
        monkeypatch.setattr(named, "readable", lambda _: ((), ()))
    fingerprint = known.expected.alike["0.27"]
    lead = Finding(fingerprint, outcome.verdict, None, "", "", {}, known.case, outcome)
    recorded = RecordedCase(known.case, outcome, lead, {"release": "0.27"})
    record = exporting.record_of(recorded, outcome, {"apache-tvm": "0.27.0"}, 1)
    assert (record.title, record.issue) == (title, issue)


def test_an_export_has_the_reason_of_a_declared_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    gap = ExpectedFailure(
        name="gap",
        operator="nn.conv1d_transpose",
        when={},
        releases=("0.27",),
        verdict=LEFT.verdict,
        issue="https://github.com/apache/tvm/issues/1",
        expires="2027-01-01",
        reason="TOPI has no such layout. It never had",
    )
    monkeypatch.setattr(named, "readable", lambda _: ((), ()))
    monkeypatch.setattr(named, "declared", lambda: (gap,))
    recorded = RecordedCase(failing(), LEFT, finding(failing(), LEFT), {"release": "0.27"})
    record = exporting.record_of(recorded, LEFT, {"apache-tvm": "0.27.0"}, 1)
    assert record.title == "nn.conv1d_transpose: TOPI has no such layout"
    assert record.issue == gap.issue
    on_another = exporting.record_of(recorded, LEFT, {"apache-tvm": "0.26.0"}, 1)
    assert (on_another.title, on_another.issue) == ("", None)
