"""Cases by what a user calls them."""

import os
from collections import Counter
from pathlib import Path

import msgspec
import pytest

from relaxcheck.cli.lookup import look_up
from relaxcheck.cli.terminal import newest_campaign
from relaxcheck.generators.core.case import AnyCase, CaseError
from relaxcheck.harness.campaign.display import finding_line
from relaxcheck.harness.journal.journal import FILE_NAME, Journal, Mode
from relaxcheck.harness.known.corpus import entries
from relaxcheck.harness.known.expected_failures import KnownFinding, declared
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.harness.triage.finding import Finding, Reduced, finding_of

FAILED = Outcome(Verdict.SILENT_BAIL, "LegalizeOps", "toy", "left")

ENTRIES = {entry.case.identifier: entry.name for entry in entries()}


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_an_entry_is_found_by_the_beginning_of_its_id() -> None:
    # One in ten: each look goes through the whole corpus.
    for identifier, entry in list(ENTRIES.items())[::10]:
        assert look_up(identifier[:10], None).entry == entry


def test_the_newest_campaign_is_the_one_that_was_written_last() -> None:
    with pytest.raises(CaseError, match="no campaign in runs/"):
        newest_campaign()
    case = entries()[0].case
    for number, name in enumerate(("b", "c", "a"), 1):
        with Journal(Path("runs") / name) as journal:
            journal.start(case, "drawn")
            journal.end(case, Outcome(Verdict.OPAQUE_CRASH, message=name))
        os.utime(Path("runs", name, FILE_NAME), (number, number))
    assert newest_campaign() == Path("runs", "a")
    # Whoever looks for a case looks there first.
    outcome = look_up(case.identifier, None).outcome
    assert outcome is not None
    assert outcome.message == "a"


def test_a_prefix_of_several_ids_is_ambiguous() -> None:
    begin, count = Counter(identifier[0] for identifier in ENTRIES).most_common(1)[0]
    assert count > 1
    for wanted in (begin, ""):
        with pytest.raises(CaseError, match="several corpus entries"):
            look_up(wanted, None)


def campaign(folder: str, *cases: AnyCase) -> list[Finding]:
    """A campaign in ``folder`` with a finding for each of ``cases``."""
    findings = [
        finding_of(Reduced(each, msgspec.structs.replace(FAILED, operator=f"toy{number}"), {}))
        for number, each in enumerate(cases)
    ]
    with Journal(Path("runs") / folder) as journal:
        for finding in findings:
            journal.start(finding.case, "drawn")
            journal.end(finding.case, finding.outcome)
            journal.write_finding(finding.fingerprint, msgspec.json.encode(finding))
    return findings


def test_every_identifier_that_is_printed_is_accepted() -> None:
    cases = [each.case for each in entries()[:6]]
    for finding in campaign("one", *cases):
        line = finding_line(finding)
        for printed in (finding.fingerprint, finding.case.identifier):
            assert printed in line
            for length in (len(printed), 8):
                entry = look_up(printed[:length], None)
                assert (entry.case, entry.finding) == (finding.case, finding)


def test_a_finding_comes_before_the_cases_that_led_to_it() -> None:
    (finding,) = campaign("one", entries()[0].case)
    begin = finding.fingerprint[:1]
    with Journal(Path("runs", "one"), Mode.RESUME) as journal:
        for seed in range(60):
            trial = msgspec.structs.replace(finding.case, seed=seed)  # type: ignore[type-var]
            journal.start(trial, "trial")
    assert look_up(begin, None).case == finding.case


def test_a_prefix_of_several_findings_is_refused_by_name() -> None:
    findings = campaign("one", *(each.case for each in entries()[:40]))
    ids = [each for finding in findings for each in (finding.fingerprint, finding.case.identifier)]
    begin, count = Counter(each[0] for each in ids).most_common(1)[0]
    assert count > 2
    with pytest.raises(CaseError, match=r"begins several identifiers: [0-9a-f]{16}, "):
        look_up(begin, None)


def test_a_case_that_is_nowhere_names_the_campaigns_searched() -> None:
    def refusal(directory: Path | None = None) -> str:
        with pytest.raises(CaseError) as refused:
            look_up("nosuch", directory)
        return str(refused.value)

    assert "and not in a campaign: runs/ holds none that can be read (give" in refusal()
    for number in range(6):
        folder = Path("runs", f"night-{number}")
        with Journal(folder):
            pass
        os.utime(folder / FILE_NAME, (number, number))
        if number == 0:
            assert "not in runs/night-0 (give a campaign's folder with --dir)" in refusal()
    newest = ", ".join(f"runs/night-{number}" for number in (5, 4, 3, 2))
    assert f"and not in any of the 6 campaigns {newest}, … (give" in refusal()
    assert "and not in runs/night-1 (give" in refusal(Path("runs", "night-1"))
    Path("runs", "night-4", FILE_NAME).write_bytes(b"no database")
    assert "any of the 5 campaigns runs/night-5, runs/night-3, " in refusal()
    assert "; not searched: cannot use runs/night-4" in refusal()


def test_an_expected_failure_is_found_by_its_name_and_its_fingerprint() -> None:
    expected = [each for each in declared() if isinstance(each, KnownFinding)]
    for known in [*expected[:3], *declared()[:1]]:
        assert look_up(known.name, None).case == known.case
    for known in expected[:3]:
        assert look_up(known.finding.fingerprint, None).case == known.case
