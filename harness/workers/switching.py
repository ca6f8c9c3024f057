"""The bundled fixes, on or off in this process."""

import os
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import msgspec

from relaxcheck import fixes
from relaxcheck.harness.kind import Progress
from relaxcheck.harness.outcomes.outcome import INSTALLING
from relaxcheck.harness.workers.protocol import SCRATCH, BundledFix


def switch_fixes(on: bool, progress: Progress = lambda stage: None) -> None:
    """Install the fixes, or uninstall them; most cases want them as the last case left them.

    ``progress`` gets the stage ``INSTALLING`` if they are not on yet.
    """
    if on:
        if not fixes.installed():
            progress(INSTALLING)
        _learn()
        _teach(fixes.install())
    else:
        fixes.uninstall()


@contextmanager
def only_fixes(names: Collection[str]) -> Iterator[None]:
    """Install the fixes ``names`` alone, so that ``switch_fixes(True)`` adds none, for a block."""
    fixes.uninstall()
    _learn()
    with fixes.install(names):
        yield


_NOTE = "needed-fixes.json"
"""The file in the workers' folder that names the fixes which their TVM needs.

To probe for all takes seconds: as long as a worker needs for a hundred cases.
"""


def _note() -> Path | None:
    """The file; None outside of a worker."""
    return Path(os.environ[SCRATCH], _NOTE) if SCRATCH in os.environ else None


def _learn() -> None:
    """Take the need for fixes from a worker of the same TVM, as soon as one has written it."""
    note = _note()
    if note is not None and note.is_file():
        _assume(note)


@cache
def _assume(note: Path) -> None:
    fixes.assume_needed(msgspec.json.decode(note.read_bytes(), type=list[str]))


def _teach(installed: fixes.Installation) -> None:
    """Write for other workers the fixes that are on, if this call put all that are needed on."""
    note = _note()
    if note is None or not installed.owner or note.is_file():
        return
    # Whole at once: another worker may be reading.
    own = note.with_suffix(f".{os.getpid()}")
    own.write_bytes(msgspec.json.encode([fix.name for fix in installed.fixes]))
    own.rename(note)


def bundled() -> tuple[BundledFix, ...]:
    """Every fix, in the order in which they are put on."""
    return tuple(
        BundledFix(
            fix.name, _bare(fix.operators), _bare(fix.mends_one_fault_of), fix.mends_one_fault
        )
        for fix in fixes.ALL
    )


def _bare(operators: Iterable[str]) -> tuple[str, ...]:
    return tuple(name.removeprefix("relax.") for name in operators)
