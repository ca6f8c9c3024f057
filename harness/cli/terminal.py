"""What the commands share: where they write, how they end, how they are called again."""

import contextlib
import enum
import errno
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

from rich.console import Console

from generators.program import CaseError
from harness.journal import FILE_NAME, JournalError
from harness.pool import PoolError

EXIT_CODES = """Exit codes: 0 done, and nothing that is new fails; 1 a failure that is new; 2 bad
input, or the environment is not fit for it; 3 a fault of relaxcheck itself; 130 interrupted. See
docs/exit-codes.md."""

RUNS = Path("runs")
"""Where campaigns are written, and looked for."""

_PLAIN_WIDTH = 120
"""Columns where there is no terminal to ask."""


class ResultFormat(enum.StrEnum):
    """How one result is written on standard output: for a person, or for a program."""

    TEXT = "text"
    JSON = "json"


def campaigns() -> list[Path]:
    """The folders of all campaigns in ``RUNS``, the one that was written to last first."""
    written = {file.parent: file.stat().st_mtime_ns for file in RUNS.glob(f"*/{FILE_NAME}")}
    return sorted(written, key=lambda folder: (written[folder], folder.name), reverse=True)


def newest_campaign() -> Path:
    """The folder of the campaign that was written to last. Raises ``CaseError``: there is none."""
    there = campaigns()
    if not there:
        raise CaseError(f"no campaign in {RUNS}/; give a campaign's folder")
    return there[0]


def check_writable(folder: Path) -> None:
    """See that ``folder`` can be written to, or made; nothing is.

    Raises:
        CaseError: it cannot, in one line.
    """
    there = folder.absolute()
    try:
        while not there.exists():
            there = there.parent
    except PermissionError as error:
        raise CaseError(f"cannot write to {folder}: {error.strerror}") from error
    if not there.is_dir():
        raise CaseError(f"cannot write to {folder}: {there} is no folder")
    if not os.access(there, os.W_OK | os.X_OK):
        raise CaseError(f"cannot write to {folder}: {there} cannot be written")


def console() -> Console:
    """Standard output, of a fixed width where it is no terminal."""
    return Console(width=None if sys.stdout.isatty() else _PLAIN_WIDTH)


def called_as() -> str:
    """How the user can call this program again: by name if it is on the path, else by its file."""
    called = Path(sys.argv[0])
    if called.suffix == ".py":
        return "python -m harness.cli"
    return called.name if shutil.which(called.name) else os.path.relpath(called)


@contextlib.contextmanager
def one_line_errors() -> Iterator[None]:
    """Bad input, a full disk, an output that is closed: one line and exit code 2, no traceback."""
    try:
        yield
    except (CaseError, JournalError, PoolError) as error:
        Console(stderr=True).print(f"relaxcheck: {error}", markup=False, soft_wrap=True)
        sys.exit(2)
    except OSError as error:
        if error.errno not in (errno.EPIPE, errno.EIO):
            raise
        # Nobody listens any more, nor would to what is still to be flushed.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(2)
    except KeyboardInterrupt:
        Console(stderr=True).print("relaxcheck: interrupted before there was anything to tell")
        sys.exit(130)
