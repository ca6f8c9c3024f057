"""The journal of a campaign: one SQLite file, written before and after every case.

A case is committed before it runs, so whatever kills the worker, the engine or the machine, its
input is there. Write-ahead logging keeps a half-written transaction from harming the rest.
"""

import enum
import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import msgspec

from relaxcheck.generators.core.case import AnyCase, CaseError, encode
from relaxcheck.harness.events import Event, EventType
from relaxcheck.harness.journal.journal_file import (
    FORMAT,
    READABLE,
    TABLES,
    connect,
    connect_to_read,
    create,
    damage,
    has_log,
    locked,
    remove,
    salvage,
)
from relaxcheck.harness.journal.packing import PackingError, pack, unpack
from relaxcheck.harness.journal.recorded import Recorded
from relaxcheck.harness.journal.tally import Tally
from relaxcheck.harness.kinds import decode, decode_record
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict

DRAWN = "drawn"
TRIAL = "trial"
"""The purposes of cases: drawn by the campaign, or run to learn more about a failure."""

_COLUMNS = "id, json, purpose, outcome, expected_by, finding"

Cell = tuple[str, str, str]
"""A coverage cell: a family, one of its axes, and a value of the axis as text."""

_ROWS_AT_ONCE = 1000

FILE_NAME = "campaign.sqlite"
_OPEN = b"open"
"""The content of the lock file while a campaign runs, and after it died."""
_LEFT = "left"  # The key of ``meta`` that describes neither a version nor an option.


class Mode(enum.Enum):
    """The mode of opening a journal: for a new campaign, to resume one, or to read one."""

    NEW = "new"
    RESUME = "resume"
    READ = "read"


class JournalError(RuntimeError):
    """The journal cannot be opened or written; the message is one line that says what to do."""


class Journal:
    """The journal in the folder ``directory``.

    Only one process at a time can have it open for writing; the lock goes with the process. A new
    one that an error closes before its first case is removed again, one that is interrupted stays.

    Raises:
        JournalError: the folder or the file cannot be written; the file is no journal; a new
            journal is wanted and one is there, or an old one and none is there; or a campaign is
            running there.
    """

    def __init__(self, directory: Path, mode: Mode = Mode.NEW):
        self.path = directory / FILE_NAME
        self._lock: int | None = None
        self._new = mode is Mode.NEW
        try:
            self._db = self._opened(directory, mode)
        except OSError as error:
            self._unlock()
            raise JournalError(f"cannot write to {directory}: {error.strerror}") from error
        except sqlite3.Error as error:
            self._unlock()
            if mode is Mode.NEW:
                reason = f"cannot write to {directory}: {error} (is there room?)"
                raise JournalError(reason) from error
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
        # ``--resume`` goes on with one that was interrupted.
        failed = kind is not None and issubclass(kind, Exception)
        unused = failed and self._new and not self.identifiers("", 1)
        self._db.close()
        if self._lock is not None and not has_log(self.path):
            os.ftruncate(self._lock, 0)
        if unused:
            remove(self.path)
        self._unlock()

    def _opened(self, directory: Path, mode: Mode) -> sqlite3.Connection:
        if mode is Mode.NEW:
            directory.mkdir(parents=True, exist_ok=True)
        elif not self.path.is_file():
            raise JournalError(f"{directory} holds no campaign ({FILE_NAME} is missing)")
        if mode is Mode.READ:
            return self._of_this_format(connect_to_read(self.path))
        self._lock = locked(directory)
        if self._lock is None:
            raise JournalError(f"a campaign is running in {directory}; wait for its end")
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
        """Open the journal of a campaign that resumes; salvage it first if it is damaged.

        If its last records are gone without a trace, the cases are drawn again.
        """
        cut = os.pread(lock, len(_OPEN), 0) == _OPEN and not has_log(self.path)
        os.pwrite(lock, _OPEN, 0)
        trouble = self._trouble()
        if trouble is not None:
            salvage(self.path, trouble)
        database = connect(self.path)
        # The records that come now are packed.
        database.execute(f"PRAGMA user_version = {FORMAT}")
        if cut:
            database.execute(
                "INSERT INTO events (what, text) VALUES (?, ?)",
                (str(EventType.SALVAGED), f"{FILE_NAME}-wal was gone; what it held is drawn again"),
            )
        return database

    def _trouble(self) -> str | None:
        """A description of the damage to the file, or None; leaves the file closed."""
        try:
            with closing(connect(self.path)) as database:
                return damage(self._of_this_format(database))
        except sqlite3.OperationalError:
            raise
        except sqlite3.DatabaseError as error:
            return str(error)

    def _of_this_format(self, database: sqlite3.Connection) -> sqlite3.Connection:
        (version,) = database.execute("PRAGMA user_version").fetchone()
        if version not in READABLE:
            database.close()
            raise JournalError(
                f"{self.path} was written by another version of relaxcheck "
                f"(format {version}, not {FORMAT})"
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
        # Out of the log into the database: without a description nothing can be resumed.
        self._read("PRAGMA wal_checkpoint")

    @property
    def description(self) -> dict[str, str]:
        """The facts that ``describe`` wrote."""
        return dict(self._read("SELECT key, value FROM meta WHERE key <> ?", _LEFT))

    def write_left(self, seconds: float, most_cases: int | None) -> None:
        """Write how long the campaign has left, and the number of cases that ends it, if any."""
        text = f"{seconds} {most_cases or ''}"
        self._write("INSERT OR REPLACE INTO meta VALUES (?, ?)", (_LEFT, text))

    @property
    def left(self) -> tuple[float, int | None] | None:
        """The seconds and cases that ``write_left`` wrote; None if it never did."""
        for (text,) in self._read("SELECT value FROM meta WHERE key = ?", _LEFT):
            seconds, _, cases = text.partition(" ")
            return float(seconds), int(cases) if cases else None
        return None

    def start(self, case: AnyCase, purpose: str) -> bool:
        """Write ``case`` before it runs; False if the journal has it already.

        A case that was only a trial so far becomes a drawn one when it is drawn.
        """
        before = self._db.total_changes
        self._write(
            "INSERT INTO cases (id, json, purpose) VALUES (?, ?, ?)"
            " ON CONFLICT (id) DO UPDATE SET purpose = excluded.purpose"
            f" WHERE purpose = '{TRIAL}' AND excluded.purpose <> '{TRIAL}'",
            (case.identifier, pack(encode(case)), purpose),
        )
        return self._db.total_changes > before

    def end(
        self,
        case: AnyCase,
        outcome: Outcome,
        expected_by: str | None = None,
        purpose: str | None = None,
    ) -> None:
        """Write the outcome of ``case``, and the expected failure that covers it, if any.

        With a ``purpose``, do so only if the case was started for it.
        """
        record = pack(msgspec.json.encode(outcome))
        self._write(
            "UPDATE cases SET verdict = ?, outcome = ?, expected_by = ? WHERE id = ?"
            " AND (?5 IS NULL OR purpose = ?5)",
            (str(outcome.verdict), record, expected_by, case.identifier, purpose),
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

    def identifiers(self, begin: str, most: int = 5) -> list[str]:
        """At most so many identifiers of cases that begin with ``begin``."""
        rows = self._read("SELECT id FROM cases WHERE id GLOB ? LIMIT ?", begin + "*", most)
        return [identifier for (identifier,) in rows]

    def ended(self, identifier: str) -> Outcome | None:
        """The outcome of the drawn case ``identifier``; None if it is not there or never ended."""
        try:
            record = self.find(identifier)
        except KeyError:
            return None
        return record.outcome if record.purpose == DRAWN else None

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
        """The number of cases of ``purpose`` by verdict."""
        rows = self._read(
            "SELECT verdict, count(*) FROM cases WHERE purpose = ? AND verdict NOT NULL"
            " GROUP BY verdict",
            purpose,
        )
        return {Verdict(verdict): count for verdict, count in rows}

    def tallies(self) -> tuple[Tally, ...]:
        """The drawn cases that ended, counted by verdict, declaration and finding."""
        return tuple(
            Tally(Verdict(verdict), *rest)
            for verdict, *rest in self._read(
                "SELECT verdict, expected_by, finding, count(*), min(started), max(started)"
                f" FROM cases WHERE purpose = '{DRAWN}' AND verdict NOT NULL GROUP BY 1, 2, 3"
            )
        )

    def unfinished(self) -> int:
        """The number of cases that were started and never ended."""
        ((count,),) = self._read("SELECT count(*) FROM cases WHERE verdict IS NULL")
        return int(count)

    def count_to(self, case: AnyCase, fingerprint: str) -> bool:
        """Count ``case`` to the finding ``fingerprint`` if it was drawn; False if it was not."""
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
        """Write ``event`` with the present time."""
        self._write("INSERT INTO events (what, text) VALUES (?, ?)", (str(event.type), event.text))

    def events(self) -> list[Event]:
        """All events in their order."""
        return [
            Event(EventType(kind), text)
            for kind, text in self._read("SELECT what, text FROM events ORDER BY rowid")
        ]

    def write_coverage(self, cells: Mapping[Cell, int]) -> None:
        """Write the number of drawn cases in each cell, replacing earlier numbers."""
        self._write(
            "INSERT OR REPLACE INTO coverage VALUES (?, ?, ?, ?)",
            *((*cell, count) for cell, count in cells.items()),
        )

    def coverage(self) -> dict[Cell, int]:
        """The number of drawn cases in each cell, as last written."""
        rows = self._read("SELECT family, axis, value, cases FROM coverage")
        return {(family, axis, value): count for family, axis, value, count in rows}

    def stored(self, table: str) -> Iterator[tuple[Any, ...]]:
        """The rows of ``table`` as they are stored, in order of its first column."""
        try:
            yield from self._db.execute(f"SELECT {TABLES[table]} FROM {table} ORDER BY 1")
        except sqlite3.Error as error:
            raise self._unreadable(error) from error

    def store(self, table: str, rows: Iterable[tuple[Any, ...]]) -> None:
        """Write ``rows`` that ``stored`` gave of the ``table`` of other journals."""
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
        identifier, case, purpose, outcome, expected_by, finding = row
        try:
            ended = None if outcome is None else decode_record(unpack(outcome), Outcome)
            return Recorded(decode(unpack(case), "journal"), purpose, ended, expected_by, finding)
        except (CaseError, msgspec.DecodeError, UnicodeDecodeError, PackingError) as error:
            words = " ".join(str(error).split())
            raise self._unreadable(
                JournalError(f"the record of case {identifier} makes no sense ({words})")
            ) from error
