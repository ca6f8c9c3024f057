"""The file of a journal: creating and reading it, finding damage, salvaging records.

SQLite detects a page that makes no sense, but no changed text: so the records are decoded as well.
"""

import fcntl
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import msgspec

from relaxcheck.generators.core.case import CaseError
from relaxcheck.harness.events import EventType
from relaxcheck.harness.journal.packing import PackingError, unpack
from relaxcheck.harness.kinds import decode, decode_record
from relaxcheck.harness.outcomes.outcome import Outcome
from relaxcheck.harness.wording import plural

FORMAT = 5
"""The format number; it changes with the schema and with the structure of the records."""

READABLE = (4, FORMAT)
"""The formats that can be read: records of format 4 are not packed."""

_SCHEMA = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE cases (
  id TEXT PRIMARY KEY,
  json BLOB NOT NULL,
  started REAL NOT NULL DEFAULT (julianday('now')),
  purpose TEXT NOT NULL,
  verdict TEXT,
  outcome BLOB,
  expected_by TEXT,
  finding TEXT
);
CREATE TABLE findings (fingerprint TEXT PRIMARY KEY, json BLOB NOT NULL);
CREATE TABLE coverage (
  family TEXT NOT NULL,
  axis TEXT NOT NULL,
  value TEXT NOT NULL,
  cases INTEGER NOT NULL,
  PRIMARY KEY (family, axis, value)
);
CREATE TABLE events (
  time REAL NOT NULL DEFAULT (julianday('now')),
  what TEXT NOT NULL,
  text TEXT NOT NULL
);
"""

TABLES = {
    "meta": "key, value",
    "cases": "id, json, started, purpose, verdict, outcome, expected_by, finding",
    "findings": "fingerprint, json",
    "events": "time, what, text",
}
"""Tables and columns that are salvaged and merged; coverage is counted again from the cases."""

_LOCK_NAME = "campaign.lock"

_LEAST_ROW = 64
"""The fewest bytes of a row, to estimate the number of rows if it cannot be read."""

_Row = tuple[object, ...]


def create(path: Path) -> None:
    """Create an empty journal; it appears under its name when it is complete."""
    unfinished = path.with_suffix(".new")
    _fresh(unfinished).close()
    unfinished.rename(path)


def remove(path: Path) -> None:
    """Remove the closed journal ``path`` with its lock, and their folder if it is empty then."""
    for each in (path, _log(path), path.with_name(path.name + "-shm"), path.with_name(_LOCK_NAME)):
        each.unlink(missing_ok=True)
    # Files of the user's own, or of Hypothesis, may be there.
    with suppress(OSError):
        path.parent.rmdir()


def whole(path: Path) -> bytes:
    """The journal in ``path`` as the bytes of one file, its write-ahead log included.

    Raises:
        sqlite3.Error: it is no database, or damaged.
    """
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, path.name)
        with closing(sqlite3.connect(path)) as source, closing(sqlite3.connect(copy)) as target:
            source.backup(target)
        return copy.read_bytes()


def connect(path: Path) -> sqlite3.Connection:
    """Open the file for writing. Raises ``sqlite3.Error``."""
    database = sqlite3.connect(path, isolation_level=None)
    try:
        database.execute("PRAGMA synchronous = NORMAL")
    except sqlite3.Error:
        # A connection that is closed after the next one opens would remove that one's log.
        database.close()
        raise
    return database


def connect_to_read(path: Path) -> sqlite3.Connection:
    """Open the file for reading; from a copy if nothing can be written beside it.

    Raises:
        sqlite3.Error: it is no database, or damaged.
        OSError: it cannot be read.
    """
    # The last connection to close moves the log into the database and removes it. But the log of a
    # campaign that died is left to the campaign that resumes it.
    mode = "ro" if has_log(path) else "rw"
    database = sqlite3.connect(f"{path.absolute().as_uri()}?mode={mode}", uri=True)
    try:
        database.execute("PRAGMA user_version").fetchone()
        return database
    except sqlite3.OperationalError:
        # With write-ahead logging even a reader creates files beside the one that it reads.
        database.close()
    with tempfile.TemporaryDirectory(prefix="relaxcheck-") as folder:
        copy = Path(folder) / path.name
        for each in (path, _log(path)):
            if each.exists():
                shutil.copyfile(each, copy.with_name(each.name))
        database = connect(copy)
        # The folder is removed now, and the copy with it when the connection closes.
        database.execute("PRAGMA user_version").fetchone()
    return database


def locked(directory: Path) -> int | None:
    """A descriptor that holds the lock of ``directory`` until it is closed; None: another has it.

    Raises:
        OSError: it cannot be written.
    """
    lock = os.open(directory / _LOCK_NAME, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(lock)
        return None
    return lock


def has_log(path: Path) -> bool:
    """True if there is a write-ahead log: a campaign runs, or died."""
    return _log(path).exists()


def damage(database: sqlite3.Connection) -> str | None:
    """A description of the damage to the open journal ``database``; None if it is whole.

    Raises:
        sqlite3.OperationalError: it could not be read for another reason than damage.
    """
    try:
        (report,) = database.execute("PRAGMA integrity_check(1)").fetchone()
        if report != "ok":
            return " ".join(str(report).split())
        for row in database.execute(f"SELECT {TABLES['cases']} FROM cases"):
            if _mended(row) != row:
                return f"the record of case {row[0]} makes no sense"
        for row in database.execute(f"SELECT {TABLES['findings']} FROM findings"):
            if not _decodes(row[1], dict):
                return f"the record of finding {row[0]} makes no sense"
    except sqlite3.OperationalError:
        raise
    except sqlite3.DatabaseError as error:
        return str(error)
    return None


def salvage(path: Path, trouble: str) -> None:
    """Replace a damaged file by its readable records; keep the file itself beside it.

    A case whose outcome cannot be read counts as not ended. ``trouble`` describes the damage.

    Raises:
        sqlite3.Error: not even the description of the campaign can be read.
        OSError: there is no room.
    """
    kept = path.with_suffix(".damaged")
    for each, copy in ((path, kept), (_log(path), _log(kept))):
        if each.exists():
            shutil.copyfile(each, copy)
    damaged = sqlite3.connect(path)
    # Otherwise SQLite refuses a truncated file.
    damaged.execute("PRAGMA writable_schema = ON")
    repaired = path.with_suffix(".new")
    whole = _fresh(repaired)
    try:
        with whole:
            whole.execute("BEGIN")
            saved = _copy(damaged, whole, path)
            whole.execute(
                "INSERT INTO events (what, text) VALUES (?, ?)",
                (
                    str(EventType.SALVAGED),
                    f"{path.name} was damaged ({trouble}); {plural(saved, 'case')} could be read, "
                    f"what is missing is drawn again; the damaged file is kept as {kept.name}",
                ),
            )
    finally:
        whole.close()
        damaged.close()
    for each in (_log(path), path.with_name(path.name + "-shm")):
        each.unlink(missing_ok=True)
    repaired.replace(path)


def _log(path: Path) -> Path:
    return path.with_name(path.name + "-wal")


def _fresh(path: Path) -> sqlite3.Connection:
    for each in (path, _log(path), path.with_name(path.name + "-shm")):
        each.unlink(missing_ok=True)
    database = sqlite3.connect(path, isolation_level=None)
    database.execute("PRAGMA journal_mode = WAL")
    database.execute("PRAGMA synchronous = NORMAL")
    # In one transaction: each waits for the disk.
    database.executescript(f"BEGIN; {_SCHEMA}; PRAGMA user_version = {FORMAT}; COMMIT;")
    return database


def _copy(damaged: sqlite3.Connection, whole: sqlite3.Connection, path: Path) -> int:
    """Copy the readable rows; return the number of cases."""
    described = dict(damaged.execute("SELECT key, value FROM meta"))
    whole.executemany("INSERT INTO meta VALUES (?, ?)", described.items())
    saved = 0
    for table in ("cases", "findings", "events"):
        columns = TABLES[table]
        places = ", ".join("?" for _ in columns.split(","))
        for row in _rows(damaged, table, columns, path):
            mended = _mended(row) if table == "cases" else row
            if mended is None or (table == "findings" and not _decodes(row[1], dict)):
                continue
            whole.execute(f"INSERT OR IGNORE INTO {table} ({columns}) VALUES ({places})", mended)
            saved += table == "cases"
    return saved


def _rows(damaged: sqlite3.Connection, table: str, columns: str, path: Path) -> Iterator[_Row]:
    """The rows of ``table``, each looked up by itself, so that a damaged one hides no other."""
    try:
        (last,) = damaged.execute(f"SELECT max(rowid) FROM {table}").fetchone()
    except sqlite3.DatabaseError:
        log = _log(path)
        size = path.stat().st_size + (log.stat().st_size if log.exists() else 0)
        last = size // _LEAST_ROW
    for number in range(1, (last or 0) + 1):
        try:
            row = damaged.execute(
                f"SELECT {columns} FROM {table} WHERE rowid = ?", (number,)
            ).fetchone()
        except sqlite3.DatabaseError:
            continue
        if row is not None:
            yield row


def _mended(row: _Row) -> _Row | None:
    """A row of the table of cases as far as it is readable: None, or without its outcome."""
    identifier, case, started, purpose, _, outcome, _, finding = row
    try:
        if not isinstance(case, bytes) or decode(unpack(case), "journal").identifier != identifier:
            return None
    except (CaseError, PackingError):
        return None
    if outcome is None:
        return row
    if _decodes(outcome, Outcome):
        return row
    return (identifier, case, started, purpose, None, None, None, finding)


def _decodes(record: object, wanted: type) -> bool:
    try:
        decode_record(unpack(record) if isinstance(record, bytes) else b"", wanted)
    except (msgspec.DecodeError, UnicodeDecodeError, PackingError):
        return False
    return True
