"""The file that a journal is kept in: how it is made and read, what shows damage, what is saved.

SQLite finds a page that makes no sense, not one whose text changed: so records are read as well.
"""

import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import msgspec

from generators.cases import decode
from generators.program import CaseError
from harness.events import What
from harness.outcome import Outcome

FORMAT = 3
"""Changes with the schema, and with what the records hold."""

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
    "cases": "id, json, started, purpose, verdict, outcome, gap, finding",
    "findings": "fingerprint, json",
    "events": "time, what, text",
}
"""Tables and columns that are saved and merged; coverage is counted again from the cases."""

_LEAST_ROW = 64
"""Bytes that a row takes at the least, for the number of rows where it cannot be read."""

_Row = tuple[object, ...]


def create(path: Path) -> None:
    """Make an empty journal that nobody sees before it is whole."""
    unfinished = path.with_suffix(".new")
    _fresh(unfinished).close()
    unfinished.rename(path)


def whole(path: Path) -> bytes:
    """The journal in ``path`` as the bytes of one file, with what its write-ahead log holds.

    Raises:
        sqlite3.Error: it is no database, or damaged.
    """
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, path.name)
        with closing(sqlite3.connect(path)) as source, closing(sqlite3.connect(copy)) as target:
            source.backup(target)
        return copy.read_bytes()


def connect(path: Path) -> sqlite3.Connection:
    """Open the file to write to it. Raises ``sqlite3.Error``."""
    database = sqlite3.connect(path, isolation_level=None)
    try:
        database.execute("PRAGMA synchronous = NORMAL")
    except sqlite3.Error:
        # One that is closed later than the next is opened would take that one's log away.
        database.close()
        raise
    return database


def connect_to_read(path: Path) -> sqlite3.Connection:
    """Open the file to read it, also where nothing can be written: then from a copy.

    Raises:
        sqlite3.Error: it is no database, or damaged.
        OSError: it cannot be read.
    """
    # The last who has it open puts the log into the database, and removes it: but what a campaign
    # that died left there is the business of the one that goes on with it.
    mode = "ro" if has_log(path) else "rw"
    database = sqlite3.connect(f"{path.absolute().as_uri()}?mode={mode}", uri=True)
    try:
        database.execute("PRAGMA user_version").fetchone()
        return database
    except sqlite3.OperationalError:
        # With write-ahead logging even a reader has to make files beside the one that it reads.
        database.close()
    with tempfile.TemporaryDirectory(prefix="relaxcheck-") as folder:
        copy = Path(folder) / path.name
        for each in (path, _log(path)):
            if each.exists():
                shutil.copyfile(each, copy.with_name(each.name))
        database = connect(copy)
        # The copy has no name from here on, and is gone with the connection.
        database.execute("PRAGMA user_version").fetchone()
    return database


def has_log(path: Path) -> bool:
    """Whether the write-ahead log is there, as it is while a campaign runs or after it died."""
    return _log(path).exists()


def damage(database: sqlite3.Connection) -> str | None:
    """What is wrong with the journal that is open as ``database``; None if it is whole.

    Raises:
        sqlite3.OperationalError: it could not be read, for another reason than damage.
    """
    try:
        (found,) = database.execute("PRAGMA integrity_check(1)").fetchone()
        if found != "ok":
            return " ".join(str(found).split())
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
    """Put what can be read of the damaged file into its place; the file itself is kept beside it.

    A case whose outcome cannot be read is one that has not ended. ``trouble`` says what is wrong.

    Raises:
        sqlite3.Error: not even the description of the campaign can be read.
        OSError: there is no room.
    """
    kept = path.with_suffix(".damaged")
    for each, copy in ((path, kept), (_log(path), _log(kept))):
        if each.exists():
            shutil.copyfile(each, copy)
    damaged = sqlite3.connect(path)
    # Otherwise SQLite refuses a file that is shorter than it was.
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
                    str(What.SALVAGED),
                    f"{path.name} was damaged ({trouble}); {saved} cases could be read, what is "
                    f"missing is drawn again; the damaged file is kept as {kept.name}",
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
    database.executescript(_SCHEMA)
    database.execute(f"PRAGMA user_version = {FORMAT}")
    return database


def _copy(damaged: sqlite3.Connection, whole: sqlite3.Connection, path: Path) -> int:
    """Copy the rows that can be read; how many cases there were."""
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
    """The rows of ``table``, each looked up by itself, so that one takes no other with it."""
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
    """A row of the table of cases as far as it makes sense: None, or without its outcome."""
    identifier, case, started, purpose, _, outcome, _, finding = row
    try:
        if not isinstance(case, bytes) or decode(case, "journal").identifier != identifier:
            return None
    except CaseError:
        return None
    if outcome is None:
        return row
    if _decodes(outcome, Outcome):
        return row
    return (identifier, case, started, purpose, None, None, None, finding)


def _decodes(record: object, kind: object) -> bool:
    try:
        msgspec.json.decode(record if isinstance(record, bytes) else b"", type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return False
    return True
