"""The journal of a campaign: one SQLite file, written before and after every case.

A case is committed before it runs, so whatever kills the worker, the engine or the machine, its
input is there. Write-ahead logging keeps a half-written transaction from harming the rest.
"""

import enum
import fcntl
import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import msgspec

from generators.cases import AnyCase, decode
from generators.program import CaseError, encode
from harness.events import Event, What
from harness.journal_file import (
    FORMAT,
    TABLES,
    connect,
    connect_to_read,
    create,
    damage,
    has_log,
    salvage,
)
from harness.outcome import Outcome, Verdict

DRAWN = "drawn"
TRIAL = "trial"
"""What the cases in the journal are for: drawn, or run to learn more about a failure."""

_COLUMNS = "id, json, purpose, outcome, gap, finding"

Cell = tuple[str, str, str]
"""A family, one of its axes, and a value of that as text."""

_ROWS_AT_ONCE = 1000

FILE_NAME = "campaign.sqlite"
_LOCK_NAME = "campaign.lock"
_OPEN = b"open"
"""What the lock's file says while a campaign runs, and after it died."""


class Mode(enum.Enum):
    """What a journal is opened for: a new campaign, going on with one, or looking into one."""

    NEW = "new"
    RESUME = "resume"
    READ = "read"


class JournalError(RuntimeError):
    """The journal cannot be opened or written, in one line that says what to do."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """A case as the journal holds it; ``outcome`` is None where it never ended.

    ``gap`` names the known gap that it falls into, ``finding`` the fingerprint of the finding that
    it is counted to, where there is one.
    """

    case: AnyCase
    purpose: str
    outcome: Outcome | None
    gap: str | None
    finding: str | None


class Journal:
    """The journal in the folder ``directory``.

    Only one process at a time can have it open for writing; the lock goes with the process.

    Raises:
        JournalError: the folder or the file cannot be written, or is no journal; there is one
            where a new one is wanted, or none where one is; or a campaign is running there.
    """

    def __init__(self, directory: Path, mode: Mode = Mode.NEW):
        self.path = directory / FILE_NAME
        self._lock: int | None = None
        try:
            self._db = self._opened(directory, mode)
        except OSError as error:
            self._unlock()
            raise JournalError(f"cannot write to {directory}: {error.strerror}") from error
        except sqlite3.Error as error:
            self._unlock()
            if mode is Mode.NEW:
                said = f"cannot write to {directory}: {error} (is there room?)"
                raise JournalError(said) from error
            raise self._unreadable(error) from error
        except JournalError:
            self._unlock()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._db.close()
        if self._lock is not None and not has_log(self.path):
            os.ftruncate(self._lock, 0)
        self._unlock()

    def _opened(self, directory: Path, mode: Mode) -> sqlite3.Connection:
        if mode is Mode.NEW:
            directory.mkdir(parents=True, exist_ok=True)
        elif not self.path.is_file():
            raise JournalError(f"{directory} holds no campaign ({FILE_NAME} is missing)")
        if mode is Mode.READ:
            return self._of_this_format(connect_to_read(self.path))
        self._lock = _locked(directory)
        if mode is Mode.RESUME:
            return self._repaired(self._lock)
        if self.path.exists():
            raise JournalError(
                f"{directory} holds a campaign already; give another folder, or go on with it "
                f"by --resume {directory}"
            )
        create(self.path)
        os.pwrite(self._lock, _OPEN, 0)
        return connect(self.path)

    def _repaired(self, lock: int) -> sqlite3.Connection:
        """Open the journal of a campaign that goes on, after saving what can be if it is damaged.

        Where the end of what was written is gone without a trace, that is drawn again.
        """
        cut = os.pread(lock, len(_OPEN), 0) == _OPEN and not has_log(self.path)
        os.pwrite(lock, _OPEN, 0)
        trouble = self._trouble()
        if trouble is not None:
            salvage(self.path, trouble)
        database = connect(self.path)
        if cut:
            database.execute(
                "INSERT INTO events (what, text) VALUES (?, ?)",
                (str(What.SALVAGED), f"{FILE_NAME}-wal was gone; what it held is drawn again"),
            )
        return database

    def _trouble(self) -> str | None:
        """What is wrong with the file, if anything; it is not open any more after that."""
        try:
            with closing(connect(self.path)) as database:
                return damage(self._of_this_format(database))
        except sqlite3.OperationalError:
            raise
        except sqlite3.DatabaseError as error:
            return str(error)

    def _of_this_format(self, database: sqlite3.Connection) -> sqlite3.Connection:
        (found,) = database.execute("PRAGMA user_version").fetchone()
        if found != FORMAT:
            database.close()
            raise JournalError(
                f"{self.path} was written by another version of relaxcheck "
                f"(format {found}, not {FORMAT})"
            )
        return database

    def _unreadable(self, error: Exception) -> JournalError:
        return JournalError(
            f"cannot use {self.path}: {error}; if it is damaged, "
            f"relaxcheck fuzz --resume {self.path.parent} saves what can be read"
        )

    def _unlock(self) -> None:
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def describe(self, values: dict[str, str]) -> None:
        """Write facts about the campaign: seed, options, versions."""
        self._write("INSERT OR REPLACE INTO meta VALUES (?, ?)", *values.items())
        # Out of the log into the database: without it nothing can go on.
        self._read("PRAGMA wal_checkpoint")

    @property
    def description(self) -> dict[str, str]:
        """What ``describe`` wrote."""
        return dict(self._read("SELECT key, value FROM meta"))

    def start(self, case: AnyCase, purpose: str) -> bool:
        """Write ``case`` before it runs; False if the journal has it already.

        A case that was only a trial so far becomes a drawn one where it is drawn.
        """
        before = self._db.total_changes
        self._write(
            "INSERT INTO cases (id, json, purpose) VALUES (?, ?, ?)"
            " ON CONFLICT (id) DO UPDATE SET purpose = excluded.purpose"
            f" WHERE purpose = '{TRIAL}' AND excluded.purpose <> '{TRIAL}'",
            (case.identifier, encode(case), purpose),
        )
        return self._db.total_changes > before

    def end(
        self, case: AnyCase, outcome: Outcome, gap: str | None = None, purpose: str | None = None
    ) -> None:
        """Write what came of ``case``, and the known gap that it falls into, if any.

        With ``purpose`` only where the case was started for it.
        """
        self._write(
            "UPDATE cases SET verdict = ?, outcome = ?, gap = ? WHERE id = ?"
            " AND (?5 IS NULL OR purpose = ?5)",
            (str(outcome.verdict), msgspec.json.encode(outcome), gap, case.identifier, purpose),
        )

    def find(self, identifier: str) -> Recorded:
        """The case whose identifier begins with ``identifier``.

        Raises:
            KeyError: there is none, or more than one.
        """
        rows = self._read(f"SELECT {_COLUMNS} FROM cases WHERE id GLOB ? LIMIT 2", identifier + "*")
        if len(rows) != 1:
            raise KeyError(identifier)
        return self._recorded(rows[0])

    def ended(self, identifier: str) -> Outcome | None:
        """What came of the drawn case ``identifier``; None where it is not there or never ended."""
        try:
            found = self.find(identifier)
        except KeyError:
            return None
        return found.outcome if found.purpose == DRAWN else None

    def cases(self, purpose: str) -> Iterator[Recorded]:
        """The cases that were started with ``purpose``, in that order."""
        numbers = self._read("SELECT rowid FROM cases WHERE purpose = ? ORDER BY rowid", purpose)
        for (number,) in numbers:
            (row,) = self._read(f"SELECT {_COLUMNS} FROM cases WHERE rowid = ?", number)
            yield self._recorded(row)

    def unended(self, purpose: str) -> Iterator[AnyCase]:
        """The cases that were started with ``purpose`` and never ended, in that order."""
        for row in self._read(
            f"SELECT {_COLUMNS} FROM cases WHERE purpose = ? AND verdict IS NULL ORDER BY rowid",
            purpose,
        ):
            yield self._recorded(row).case

    def counts(self, purpose: str) -> dict[Verdict, int]:
        """How many cases of ``purpose`` have each verdict."""
        rows = self._read(
            "SELECT verdict, count(*) FROM cases WHERE purpose = ? AND verdict NOT NULL"
            " GROUP BY verdict",
            purpose,
        )
        return {Verdict(verdict): count for verdict, count in rows}

    def unfinished(self) -> int:
        """How many cases were started and never ended."""
        ((count,),) = self._read("SELECT count(*) FROM cases WHERE verdict IS NULL")
        return int(count)

    def count_to(self, case: AnyCase, fingerprint: str) -> bool:
        """Write that ``case`` is counted to the finding ``fingerprint``; only a drawn one is."""
        before = self._db.total_changes
        self._write(
            f"UPDATE cases SET finding = ? WHERE id = ? AND purpose = '{DRAWN}'",
            (fingerprint, case.identifier),
        )
        return self._db.total_changes > before

    def write_finding(self, fingerprint: str, record: bytes) -> None:
        """Write a finding, replacing an earlier record of the same fingerprint."""
        self._write("INSERT OR REPLACE INTO findings VALUES (?, ?)", (fingerprint, record))

    def findings(self) -> list[bytes]:
        """The records of all findings."""
        return [record for (record,) in self._read("SELECT json FROM findings")]

    def note(self, event: Event) -> None:
        """Write that ``event`` happened, now."""
        self._write("INSERT INTO events (what, text) VALUES (?, ?)", (str(event.what), event.text))

    def events(self) -> list[Event]:
        """Everything that happened, in that order."""
        return [
            Event(What(what), text)
            for what, text in self._read("SELECT what, text FROM events ORDER BY rowid")
        ]

    def write_coverage(self, cells: Mapping[Cell, int]) -> None:
        """Write how many drawn cases met each cell, in place of what was written before."""
        self._write(
            "INSERT OR REPLACE INTO coverage VALUES (?, ?, ?, ?)",
            *((*cell, count) for cell, count in cells.items()),
        )

    def coverage(self) -> dict[Cell, int]:
        """How many drawn cases met each cell, as of the last time it was written."""
        rows = self._read("SELECT family, axis, value, cases FROM coverage")
        return {(family, axis, value): count for family, axis, value, count in rows}

    def stored(self, table: str) -> Iterator[tuple[Any, ...]]:
        """The rows of ``table`` as they are stored, in order of its first column."""
        try:
            yield from self._db.execute(f"SELECT {TABLES[table]} FROM {table} ORDER BY 1")
        except sqlite3.Error as error:
            raise self._unreadable(error) from error

    def store(self, table: str, rows: Iterable[tuple[Any, ...]]) -> None:
        """Write what ``stored`` gave of other journals' ``table``."""
        left = iter(rows)
        columns = TABLES[table]
        marks = ", ".join("?" for _ in columns.split(","))
        while some := list(islice(left, _ROWS_AT_ONCE)):
            self._write(f"INSERT INTO {table} ({columns}) VALUES ({marks})", *some)

    def _write(self, statement: str, *rows: tuple[object, ...]) -> None:
        try:
            with self._db:
                self._db.execute("BEGIN")
                self._db.executemany(statement, rows)
        except sqlite3.Error as error:
            raise JournalError(
                f"cannot write to {self.path}: {error}; what was written before is kept, "
                f"relaxcheck fuzz --resume {self.path.parent} goes on with it"
            ) from error

    def _read(self, statement: str, *values: object) -> list[Any]:
        try:
            return self._db.execute(statement, values).fetchall()
        except sqlite3.Error as error:
            raise self._unreadable(error) from error

    def _recorded(
        self, row: tuple[str, bytes, str, bytes | None, str | None, str | None]
    ) -> Recorded:
        identifier, case, purpose, outcome, gap, finding = row
        try:
            ended = None if outcome is None else msgspec.json.decode(outcome, type=Outcome)
            return Recorded(decode(case, "journal"), purpose, ended, gap, finding)
        except (CaseError, msgspec.DecodeError, UnicodeDecodeError) as error:
            said = " ".join(str(error).split())
            raise self._unreadable(
                JournalError(f"the record of case {identifier} makes no sense ({said})")
            ) from error


def _locked(directory: Path) -> int:
    """The descriptor that holds the lock of ``directory`` while it is open."""
    lock = os.open(directory / _LOCK_NAME, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(lock)
        raise JournalError(f"a campaign is running in {directory}; wait for its end") from None
    return lock
