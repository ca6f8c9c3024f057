import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from relaxcheck.generators.core.case import encode
from relaxcheck.generators.core.program import Case, Input, Program
from relaxcheck.harness.events import Event, EventType
from relaxcheck.harness.journal.journal import FILE_NAME, Journal, JournalError, Mode
from relaxcheck.harness.journal.packing import unpack
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict

PROGRAM = Program((Input("x", (1,), "float32"),), (), ("x",))


def case(seed: int) -> Case:
    return Case("toy", PROGRAM, seed=seed)


def test_written_records_are_read_back(tmp_path: Path) -> None:
    outcome = Outcome(Verdict.WRONG_VALUE, "compare", None, "off", seconds={"tvm": 0.5})
    with Journal(tmp_path / "new" / "folder") as journal:
        assert journal.start(case(1), "drawn")
        assert not journal.start(case(1), "drawn")
        journal.end(case(1), outcome)
        journal.start(case(2), "drawn")
    with Journal(tmp_path / "new" / "folder", Mode.READ) as journal:
        result = journal.find(case(1).identifier[:9])
        assert (result.case, result.outcome) == (case(1), outcome)
        assert journal.find(case(2).identifier).outcome is None
        assert journal.unfinished() == 1
        assert journal.counts("drawn") == {Verdict.WRONG_VALUE: 1}
        with pytest.raises(KeyError):
            journal.find("0" * 16)


def test_a_second_campaign_in_a_folder_is_refused(tmp_path: Path) -> None:
    with Journal(tmp_path):
        for mode in (Mode.NEW, Mode.RESUME):
            with pytest.raises(JournalError, match="a campaign is running in"):
                Journal(tmp_path, mode)
    with pytest.raises(JournalError, match="holds a campaign already; give another folder"):
        Journal(tmp_path)
    with Journal(tmp_path, Mode.RESUME) as again:
        assert again.start(case(1), "drawn")


def test_a_case_that_killed_the_engine_is_in_the_journal(tmp_path: Path) -> None:
    script = (
        "import os, signal, sys\n"
        "from pathlib import Path\n"
        "from tests.harness.journal.test_journal import case\n"
        "from relaxcheck.harness.journal.journal import Journal\n"
        "journal = Journal(Path(sys.argv[1]))\n"
        "for seed in range(100): journal.start(case(seed), 'drawn')\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    ended = subprocess.run([sys.executable, "-c", script, str(tmp_path)], check=False)
    assert ended.returncode == -signal.SIGKILL
    with Journal(tmp_path, Mode.READ) as journal:
        assert journal.unfinished() == 100
        assert [case.case for case in journal.cases("drawn")] == [case(seed) for seed in range(100)]


def test_a_journal_of_another_format_is_one_line(tmp_path: Path) -> None:
    with Journal(tmp_path) as journal:
        journal.start(case(1), "drawn")
    with sqlite3.connect(tmp_path / FILE_NAME) as database:
        database.execute("PRAGMA user_version = 1")
    database.close()
    for mode in (Mode.READ, Mode.RESUME):
        with pytest.raises(JournalError, match=r"another version of relaxcheck \(format 1"):
            Journal(tmp_path, mode)


def test_a_journal_of_format_4_is_read_and_goes_on_as_one_of_today(tmp_path: Path) -> None:
    with Journal(tmp_path) as journal:
        journal.start(case(1), "drawn")
        journal.end(case(1), Outcome(Verdict.PASS))
    with closing(sqlite3.connect(tmp_path / FILE_NAME)) as database, database:
        ((record, outcome),) = database.execute("SELECT json, outcome FROM cases").fetchall()
        plain = (unpack(record), unpack(outcome))
        assert plain[0] == encode(case(1))
        database.execute("UPDATE cases SET json = ?, outcome = ?", plain)
        database.execute("PRAGMA user_version = 4")
    for mode in (Mode.READ, Mode.RESUME, Mode.READ):
        with Journal(tmp_path, mode) as journal:
            (recorded,) = journal.cases("drawn")
            assert (recorded.case, recorded.outcome) == (case(1), Outcome(Verdict.PASS))
    with closing(sqlite3.connect(tmp_path / FILE_NAME)) as database:
        assert database.execute("PRAGMA user_version").fetchone() == (5,)


def test_a_folder_without_campaign_and_a_file_that_is_none_are_one_line(tmp_path: Path) -> None:
    with pytest.raises(JournalError, match="holds no campaign"):
        Journal(tmp_path, Mode.READ)
    (tmp_path / FILE_NAME).write_bytes(os.urandom(4096))
    with pytest.raises(JournalError, match="cannot use") as error:
        Journal(tmp_path, Mode.READ)
    assert "\n" not in str(error.value)


def test_events_and_coverage_are_found_again(tmp_path: Path) -> None:
    cells = {("toy", "size", "1"): 2, ("toy", "size", "7"): 1}
    with Journal(tmp_path) as journal:
        journal.note(Event(EventType.DIED, "of a segfault"))
        journal.note(Event(EventType.INTERRUPTED, "by SIGTERM"))
        journal.write_coverage({("toy", "size", "1"): 1})
        journal.write_coverage(cells)
    with Journal(tmp_path, Mode.READ) as journal:
        assert journal.events() == [
            Event(EventType.DIED, "of a segfault"),
            Event(EventType.INTERRUPTED, "by SIGTERM"),
        ]
        assert journal.coverage() == cells


def test_looking_into_a_campaign_leaves_no_trace(tmp_path: Path) -> None:
    with Journal(tmp_path) as journal:
        journal.start(case(1), "drawn")
    before = sorted(tmp_path.iterdir())
    with Journal(tmp_path, Mode.READ) as journal:
        assert journal.unfinished() == 1
    assert sorted(tmp_path.iterdir()) == before
