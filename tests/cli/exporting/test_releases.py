"""The comparison of a failure with what comes of its case on another release."""

import msgspec
import pytest

import relaxcheck.cli.actions.exporting.by_release as exporting
from relaxcheck.harness.known.corpus import Record
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.harness.triage.fingerprint import fingerprint, signature_of
from tests.cli.test_export import failing

CASE = failing()
RECORDED = Outcome(Verdict.WRONG_VALUE, "analysis", "int_set", cause="truncmod")
BOUNDS = Outcome(Verdict.WRONG_VALUE, "analysis", "const_int_bound", cause="truncmod")


@pytest.mark.parametrize(("further", "same"), [(RECORDED, True), (BOUNDS, False)])
def test_what_fails_in_several_ways_fails_in_each_of_them(
    further: Outcome, same: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exporting, "again", lambda *_: further)
    outcome = msgspec.structs.replace(BOUNDS, parts=(CASE,))
    record = Record("off", None, {}, outcome=RECORDED)
    found = exporting.fingerprint_there(record, CASE, outcome, None)  # type: ignore[arg-type]
    own = fingerprint(signature_of(CASE, RECORDED), {})
    assert found == (own if same else fingerprint(signature_of(CASE, BOUNDS), {}))
