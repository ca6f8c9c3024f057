"""Shares between the processes of a test run which fixes its TVM needs.

To probe for all takes as long as most tests that put them on take in all. A process that changes
TVM before it probes must not share.
"""

import os
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from zlib import crc32

import msgspec

_FOLDER = "RELAXCHECK_TESTS_SHARED"
"""The variable that names the folder of this test run, to its parallel processes and the others."""


def begin() -> Callable[[], None]:
    """Make the folder of this test run, unless this is one of its processes; returns its end."""
    if _FOLDER in os.environ:
        return lambda: None
    folder = tempfile.TemporaryDirectory(prefix="relaxcheck-tests-")
    os.environ[_FOLDER] = folder.name

    def end() -> None:
        del os.environ[_FOLDER]
        folder.cleanup()

    return end


def note(variables: Mapping[str, str]) -> Path | None:
    """The file of the test run that ``variables`` name, for this interpreter's TVM, if any."""
    folder = variables.get(_FOLDER)
    return Path(folder, f"{crc32(sys.executable.encode())}.json") if folder else None


def share(shared: Path) -> None:
    """Have installations in this process take the needed fixes from ``shared``, or write them."""
    from relaxcheck.fixes import ALL
    from relaxcheck.fixes.framework import installation
    from relaxcheck.fixes.framework.fix import Fix

    class Needs(dict[Fix, bool]):
        """The need for each fix that this process, or another before it, has probed for."""

        def __contains__(self, fix: object) -> bool:
            if not super().__contains__(fix) and shared.is_file():
                names = msgspec.json.decode(shared.read_bytes(), type=list[str])
                installation.assume_needed(ALL, names)
            return super().__contains__(fix)

        def __setitem__(self, fix: Fix, need: bool) -> None:
            super().__setitem__(fix, need)
            if self.keys() >= set(ALL) and not shared.exists():
                # Whole at once: another process may be reading.
                own = shared.with_suffix(f".{os.getpid()}")
                own.write_bytes(msgspec.json.encode([each.name for each in ALL if self[each]]))
                own.rename(shared)

    installation._NEED = Needs(installation._NEED)
