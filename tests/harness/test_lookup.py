"""Cases by what a user calls them."""

from collections import Counter
from pathlib import Path

import pytest

from generators.program import CaseError
from harness.cli.lookup import look_up
from harness.corpus import entries

ENTRIES = {one.case.identifier: one.name for one in entries()}


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_an_entry_is_found_by_the_beginning_of_its_id() -> None:
    for identifier, entry in ENTRIES.items():
        assert look_up(identifier[:10], None).entry == entry


def test_what_several_ids_begin_with_is_none_of_them() -> None:
    begin, count = Counter(identifier[0] for identifier in ENTRIES).most_common(1)[0]
    assert count > 1
    for wanted in (begin, ""):
        with pytest.raises(CaseError, match="the ids of several entries"):
            look_up(wanted, None)
