"""Shared by all commands: the folder of campaigns, the console, errors in one line."""

import contextlib
import errno
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import typer
from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from relaxcheck.cli.exit_codes import BAD_INPUT, INTERRUPTED
from relaxcheck.harness.wording import in_sight

RUNS = Path("runs")
"""The folder of campaigns."""

_PLAIN_WIDTH = 120
"""Columns where there is no terminal to ask."""


def campaigns() -> list[Path]:
    """The folders of all campaigns in ``RUNS``, the one written last first."""
    from relaxcheck.harness.journal.journal import FILE_NAME

    written = {file.parent: file.stat().st_mtime_ns for file in RUNS.glob(f"*/{FILE_NAME}")}
    return sorted(written, key=lambda folder: (written[folder], folder.name), reverse=True)


def newest_campaign() -> Path:
    """The folder of the campaign written last. Raises ``CaseError`` where there is none."""
    from relaxcheck.generators.core.case import CaseError

    there = campaigns()
    if not there:
        raise CaseError(f"no campaign in {RUNS}/; give a campaign's folder")
    return there[0]


def check_writable(folder: Path) -> None:
    """Check that ``folder`` can be written to, or made; make nothing.

    Raises:
        CaseError: it cannot, in one line.
    """
    from relaxcheck.generators.core.case import CaseError

    there = folder.absolute()
    try:
        while not there.exists():
            there = there.parent
    except PermissionError as error:
        raise CaseError(f"cannot write to {folder}: {error.strerror}") from error
    if not there.is_dir():
        raise CaseError(f"cannot write to {folder}: {there} is not a folder")
    if not os.access(there, os.W_OK | os.X_OK):
        raise CaseError(f"cannot write to {folder}: no permission to write to {there}")


class _SafeConsole(Console):
    """Shows control characters of foreign text, of a journal or of TVM, instead of obeying them."""

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterator[Segment]:
        """The segments of ``renderable``; those that rich itself controls the terminal by stay."""
        for segment in super().render(renderable, options):
            text, style, control = segment
            yield segment if control else Segment(in_sight(text), style)


def console() -> Console:
    """Standard output, of a fixed width where it is no terminal."""
    return _SafeConsole(width=None if sys.stdout.isatty() else _PLAIN_WIDTH)


def error_console() -> Console:
    """Standard error."""
    return _SafeConsole(stderr=True)


def warn(text: str) -> None:
    """Print ``text`` as one line on standard error."""
    # Of several lines, such as those of a name in a journal, one is left.
    line = " ".join(f"relaxcheck: {text}".splitlines())
    error_console().print(line, markup=False, highlight=False, soft_wrap=True)


def _warn_of_extensions(beside: str = "") -> None:
    """Name in one line what installed packages bring and this command did without.

    The line leaves out what the message ``beside`` it says.
    """
    from relaxcheck.extensions.entry_points import broken, warning

    if left_out := [each for each in broken() if each.message not in beside]:
        warn(warning(left_out))


def called_as() -> str:
    """The command by which the user called this program, for commands that we suggest."""
    called = Path(sys.argv[0])
    if called.suffix == ".py":
        return "python -m relaxcheck"
    return called.name if shutil.which(called.name) else os.path.relpath(called)


@contextlib.contextmanager
def one_line_errors() -> Iterator[None]:
    """Turn bad input, a full disk or a closed output into one line and an exit code."""
    # Imported here, so that --help needs none of it.
    from relaxcheck.extensions.naming import ExtensionError
    from relaxcheck.generators.core.case import CaseError
    from relaxcheck.harness.journal.journal import JournalError
    from relaxcheck.harness.workers.starting import PoolError

    try:
        yield
        _warn_of_extensions()
    except typer.Exit:
        _warn_of_extensions()
        raise
    except (CaseError, ExtensionError, JournalError, PoolError) as error:
        warn(str(error))
        if isinstance(error, CaseError):
            # A family or a case may be unknown because its package cannot be used.
            _warn_of_extensions(beside=str(error))
        sys.exit(BAD_INPUT)
    except OSError as error:
        if error.errno not in (errno.EPIPE, errno.EIO):
            raise
        # The reader is gone: drop what Python still has to flush.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(BAD_INPUT)
    except KeyboardInterrupt:
        warn("interrupted before there was a result")
        sys.exit(INTERRUPTED)
