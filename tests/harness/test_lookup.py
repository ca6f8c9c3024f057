"""Cases by what a user calls them."""

import os
from collections import Counter
from pathlib import Path

import pytest

from generators.program import CaseError
from harness.cli.lookup import look_up
from harness.cli.terminal import newest_campaign
from harness.corpus import entries
from harness.journal import FILE_NAME, Journal
from harness.outcome import Outcome, Verdict

ENTRIES = {one.case.identifier: one.name for one in entries()}


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_an_entry_is_found_by_the_beginning_of_its_id() -> None:
    for identifier, entry in ENTRIES.items():
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
    found = look_up(case.identifier, None).outcome
    assert found is not None
    assert found.message == "a"


def test_what_several_ids_begin_with_is_none_of_them() -> None:
    begin, count = Counter(identifier[0] for identifier in ENTRIES).most_common(1)[0]
    assert count > 1
    for wanted in (begin, ""):
        with pytest.raises(CaseError, match="the ids of several entries"):
            look_up(wanted, None)
