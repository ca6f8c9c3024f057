"""A journal that is cut or overwritten: what can be read is kept, what is gone is drawn again."""

import os
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from relaxcheck.harness.journal.journal import DRAWN, FILE_NAME, Journal, JournalError, Mode
from relaxcheck.harness.journal.packing import pack, unpack
from tests.faults.campaigns import (
    Campaigns,
    Summary,
    arguments,
    check_whole,
    end,
    ended,
    resuming,
    summary,
    until,
)

KILLED_AFTER = 50
Harm = Callable[[Path], None]


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a campaign whose engine was killed, with the log of what it wrote last."""
    folder = tmp_path_factory.mktemp("killed") / "out"
    campaigns = Campaigns()
    process = campaigns.start(*arguments(), "--out", folder, JUDGE_SECONDS="0.01")
    until(lambda: ended(folder) >= KILLED_AFTER, bool, 60)
    process.kill()
    process.wait()
    end(campaigns)
    assert log(folder).stat().st_size > 0
    return folder


@pytest.fixture(scope="module")
def closed(killed: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same without a log: everything is in the database itself."""
    folder = tmp_path_factory.mktemp("closed") / "out"
    shutil.copytree(killed, folder)
    with Journal(folder, Mode.RESUME):
        pass
    assert not log(folder).exists()
    return folder


def database(folder: Path) -> Path:
    return folder / FILE_NAME


def log(folder: Path) -> Path:
    return folder / (FILE_NAME + "-wal")


def cut_log(folder: Path) -> None:
    os.truncate(log(folder), log(folder).stat().st_size * 2 // 3)


def garbage_at_the_end_of_the_log(folder: Path) -> None:
    with open(log(folder), "r+b") as file:
        file.seek(-10_000, os.SEEK_END)
        file.write(os.urandom(12_000))


def no_log(folder: Path) -> None:
    log(folder).unlink()
    (folder / (FILE_NAME + "-shm")).unlink()


def no_index_of_the_log(folder: Path) -> None:
    (folder / (FILE_NAME + "-shm")).unlink()


def cut_database(folder: Path) -> None:
    os.truncate(database(folder), database(folder).stat().st_size * 2 // 3 + 100)


def garbage_at_the_end(folder: Path) -> None:
    with open(database(folder), "r+b") as file:
        file.seek(-9_000, os.SEEK_END)
        file.write(os.urandom(9_000))


def garbage_in_the_middle(folder: Path) -> None:
    with open(database(folder), "r+b") as file:
        file.seek(database(folder).stat().st_size // 2)
        file.write(os.urandom(5_000))


def records_that_are_no_json(folder: Path) -> None:
    connection = sqlite3.connect(database(folder))
    with connection:
        connection.execute("UPDATE cases SET json = substr(json, 3) WHERE rowid = 7")
        connection.execute("UPDATE cases SET outcome = x'ff00' WHERE rowid = 12")
        connection.execute("UPDATE findings SET json = x'7b'")
    connection.close()


def a_case_that_became_another(folder: Path) -> None:
    connection = sqlite3.connect(database(folder))
    with connection:
        ((record,),) = connection.execute("SELECT json FROM cases WHERE rowid = 9").fetchall()
        other = pack(unpack(record).replace(b'"seed":', b'"seed":1'))
        connection.execute("UPDATE cases SET json = ? WHERE rowid = 9", (other,))
    connection.close()


SEEN = (
    cut_database,
    garbage_at_the_end,
    garbage_in_the_middle,
    records_that_are_no_json,
    a_case_that_became_another,
)


@pytest.fixture
def go_on(
    campaigns: Campaigns, undisturbed: Summary, monkeypatch: pytest.MonkeyPatch
) -> Callable[[Path], str]:
    """Takes the campaign in a folder to its end, as if nothing had been; what is said of it."""

    def taken(folder: Path) -> str:
        last = campaigns.within(monkeypatch, *resuming(folder))
        assert last.exit_code == 1, last.output
        check_whole(folder)
        assert summary(folder) == undisturbed
        return " ".join(last.stdout.split())

    return taken


@pytest.mark.parametrize(
    "harm", [cut_log, garbage_at_the_end_of_the_log, no_log, no_index_of_the_log]
)
def test_a_log_that_is_cut_is_drawn_again_from_there(
    go_on: Callable[[Path], str], killed: Path, tmp_path: Path, harm: Harm
) -> None:
    folder = tmp_path / "out"
    shutil.copytree(killed, folder)
    harm(folder)
    if harm is no_index_of_the_log:
        assert ended(folder) >= KILLED_AFTER
    out = go_on(folder)
    assert ("campaign.sqlite-wal was gone" in out) == (harm is no_log)


def looked_into(folder: Path) -> str | None:
    """Read everything in the journal; return the error's message, or None."""
    try:
        with Journal(folder, Mode.READ) as journal:
            list(journal.cases(DRAWN))
            journal.findings()
    except JournalError as error:
        return str(error)
    return None


@pytest.mark.parametrize("harm", SEEN)
def test_a_damaged_database_is_saved_as_far_as_it_can_be_read(
    go_on: Callable[[Path], str], closed: Path, tmp_path: Path, harm: Harm
) -> None:
    folder = tmp_path / "out"
    shutil.copytree(closed, folder)
    harm(folder)
    # Whoever only looks is told, in one line, or sees what is there.
    message = looked_into(folder)
    assert message is None or ("--resume" in message and "\n" not in message)
    out = go_on(folder)
    assert "campaign.sqlite was damaged (" in out
    assert "cases could be read, what is missing is drawn again" in out
    assert (folder / "campaign.damaged").exists()
    assert "campaign.sqlite was damaged" in (folder / "findings.md").read_text()


def test_most_is_saved(closed: Path, tmp_path: Path) -> None:
    for harm in SEEN:
        folder = tmp_path / harm.__name__
        shutil.copytree(closed, folder)
        before = ended(folder)
        harm(folder)
        with Journal(folder, Mode.RESUME) as journal:
            assert journal.description["seed"] == "5"
            assert sum(journal.counts(DRAWN).values()) >= before // 2


def test_a_record_that_is_no_json_is_one_line(closed: Path, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    shutil.copytree(closed, folder)
    records_that_are_no_json(folder)
    message = looked_into(folder)
    assert message is not None
    assert "the record of case" in message
    assert "makes no sense (journal: not JSON" in message
    assert "\n" not in message


@pytest.mark.parametrize("mode", [Mode.READ, Mode.RESUME])
def test_an_unrepairable_journal_is_one_line(closed: Path, tmp_path: Path, mode: Mode) -> None:
    folder = tmp_path / "out"
    shutil.copytree(closed, folder)
    with open(database(folder), "r+b") as file:
        file.write(os.urandom(20_000))
    with pytest.raises(JournalError, match="cannot use") as error:
        Journal(folder, mode)
    assert "\n" not in str(error.value)
    assert database(folder).exists()
