"""Write files whole or not at all.

A full disk must not leave an empty ``repro.py``: it would exit with 0 and say that the bug is gone.
"""

import contextlib
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path


def write_whole(folder: Path, files: Mapping[str, bytes]) -> list[Path]:
    """Write ``files``, by name, into ``folder``; their paths, sorted.

    All are written to a folder of their own there, and then renamed in the order of ``files``.

    Raises:
        OSError: there is no room, or no permission; ``folder`` is as it was before.
    """
    is_new = not folder.exists()
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with tempfile.TemporaryDirectory(prefix=".new-", dir=folder) as unfinished:
            for name, content in files.items():
                with Path(unfinished, name).open("wb") as file:
                    file.write(content)
                    file.flush()
                    # Some file systems find out only here that there is no room.
                    os.fsync(file.fileno())
            for name in files:
                Path(unfinished, name).replace(folder / name)
    except OSError:
        if is_new:
            with contextlib.suppress(OSError):
                folder.rmdir()
        raise
    return sorted(folder / name for name in files)
