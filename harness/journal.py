"""The journal of a campaign: one SQLite file, written before and after every case.

A case is committed before it runs, so whatever kills the worker, the engine or the machine, its
input is there. Write-ahead logging keeps a half-written transaction from harming the rest.
"""

import enum
import fcntl
import os
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

import msgspec

from generators.program import Case, decode, encode
from harness.outcome import Outcome, Verdict

_SCHEMA = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE cases (
  id TEXT PRIMARY KEY,
  json BLOB NOT NULL,
  started REAL NOT NULL DEFAULT (julianday('now')),
  purpose TEXT NOT NULL,
  verdict TEXT,
  outcome BLOB,
  gap TEXT,
  finding TEXT
);
CREATE TABLE findings (fingerprint TEXT PRIMARY KEY, json BLOB NOT NULL);
"""

DRAWN = "drawn"
TRIAL = "trial"
"""What the cases in the journal are for: drawn, or run to learn more about a failure."""

_COLUMNS = "json, purpose, outcome, gap, finding"

_FORMAT = 2
"""Changes with the schema, and with what the records hold."""

FILE_NAME = "campaign.sqlite"
_LOCK_NAME = "campaign.lock"


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

    case: Case
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
            if mode is Mode.NEW:
                directory.mkdir(parents=True, exist_ok=True)
            elif not self.path.is_file():
                raise JournalError(f"{directory} holds no campaign ({FILE_NAME} is missing)")
            if mode is not Mode.READ:
                self._lock = _locked(directory)
            if mode is Mode.NEW and self.path.exists():
                self._unlock()
                raise JournalError(
                    f"{directory} holds a campaign already; give another folder, or go on with it "
                    f"by --resume {directory}"
                )
            if mode is Mode.NEW:
                _create(self.path)
            self._db = sqlite3.connect(self.path, isolation_level=None)
            self._db.execute("PRAGMA synchronous = NORMAL")
            self._check_format()
        except OSError as error:
            raise JournalError(f"cannot write to {directory}: {error.strerror}") from error
        except sqlite3.Error as error:
            self._unlock()
            raise JournalError(f"cannot use {self.path}: {error}") from error

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._db.close()
        self._unlock()

    def _check_format(self) -> None:
        (found,) = self._db.execute("PRAGMA user_version").fetchone()
        if found != _FORMAT:
            self._unlock()
            raise JournalError(
                f"{self.path} was written by another version of relaxcheck "
                f"(format {found}, not {_FORMAT})"
            )

    def _unlock(self) -> None:
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def describe(self, values: dict[str, str]) -> None:
        """Write facts about the campaign: seed, options, versions."""
        self._write("INSERT OR REPLACE INTO meta VALUES (?, ?)", *values.items())

    @property
    def description(self) -> dict[str, str]:
        """What ``describe`` wrote."""
        return dict(self._db.execute("SELECT key, value FROM meta"))

    def start(self, case: Case, purpose: str) -> bool:
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
        self, case: Case, outcome: Outcome, gap: str | None = None, purpose: str | None = None
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
        rows = self._db.execute(
            f"SELECT {_COLUMNS} FROM cases WHERE id GLOB ? LIMIT 2", (identifier + "*",)
        ).fetchall()
        if len(rows) != 1:
            raise KeyError(identifier)
        return _recorded(*rows[0])

    def cases(self, purpose: str) -> Iterator[Recorded]:
        """The cases that were started with ``purpose``, in that order."""
        for row in self._db.execute(
            f"SELECT {_COLUMNS} FROM cases WHERE purpose = ? ORDER BY rowid", (purpose,)
        ):
            yield _recorded(*row)

    def counts(self, purpose: str) -> dict[Verdict, int]:
        """How many cases of ``purpose`` have each verdict."""
        rows = self._db.execute(
            "SELECT verdict, count(*) FROM cases WHERE purpose = ? AND verdict NOT NULL"
            " GROUP BY verdict",
            (purpose,),
        )
        return {Verdict(verdict): count for verdict, count in rows}

    def unfinished(self) -> int:
        """How many cases were started and never ended."""
        (count,) = self._db.execute("SELECT count(*) FROM cases WHERE verdict IS NULL").fetchone()
        return int(count)

    def count_to(self, case: Case, fingerprint: str) -> bool:
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
        return [record for (record,) in self._db.execute("SELECT json FROM findings")]

    def _write(self, statement: str, *rows: tuple[object, ...]) -> None:
        try:
            self._db.execute("BEGIN")
            self._db.executemany(statement, rows)
            self._db.execute("COMMIT")
        except sqlite3.Error as error:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            raise JournalError(
                f"cannot write to {self.path}: {error}; what was found before is kept"
            ) from error


def _create(path: Path) -> None:
    """Make an empty journal that nobody sees before it is whole."""
    unfinished = path.with_suffix(".new")
    unfinished.unlink(missing_ok=True)
    database = sqlite3.connect(unfinished, isolation_level=None)
    database.execute("PRAGMA journal_mode = WAL")
    database.executescript(_SCHEMA)
    database.execute(f"PRAGMA user_version = {_FORMAT}")
    database.close()
    unfinished.rename(path)


def _recorded(
    case: bytes, purpose: str, outcome: bytes | None, gap: str | None, finding: str | None
) -> Recorded:
    ended = None if outcome is None else msgspec.json.decode(outcome, type=Outcome)
    return Recorded(decode(case, "journal"), purpose, ended, gap, finding)


def _locked(directory: Path) -> int:
    """The descriptor that holds the lock of ``directory`` while it is open."""
    lock = os.open(directory / _LOCK_NAME, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(lock)
        raise JournalError(f"a campaign is running in {directory}; wait for its end") from None
    return lock
