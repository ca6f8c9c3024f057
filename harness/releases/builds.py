"""TVM builds of a user's own, beside the releases: each is a file in the folder of environments.

A build is an interpreter, with the folders that come before its packages: a source build is one on
``PYTHONPATH``, a wheel is unpacked beside the packages of an environment that has all the rest.
"""

import re
import shutil
from pathlib import Path

import msgspec

from relaxcheck.fixes.sym_api.root import TVM

FILE_NAME = "build.json"
"""The file in the folder of a build that describes it."""

PACKAGES, OWN = "packages", "relaxcheck"
"""The folders in that of a build: what a wheel is unpacked to, and relaxcheck itself."""

_UNFINISHED = f"{FILE_NAME}.new"

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.-]*")
_RESERVED = ("all", "local", "tirx")


class Build(msgspec.Struct, frozen=True, omit_defaults=True):
    """A build called ``name``, which ``python`` imports from the folders ``pythonpath`` first.

    ``library_path`` is the folder of TVM's libraries, if it is not where TVM looks for them.
    ``root`` is the package that is TVM there (``fixes.sym_api.root``). ``version`` and
    ``commit`` are those that it had when it was added; ``wheel`` is the file that it was unpacked
    from.
    """

    name: str
    python: str
    pythonpath: tuple[str, ...] = ()
    library_path: str = ""
    root: str = TVM
    version: str = ""
    commit: str = ""
    wheel: str = ""

    @property
    def usable(self) -> bool:
        """True if its files are still there."""
        paths = (self.python, *self.pythonpath, *filter(None, (self.library_path,)))
        return all(Path(path).exists() for path in paths)

    @property
    def described(self) -> str:
        """Its version, and its commit as far as it is known."""
        return f"{self.version}, commit {self.commit[:10]}" if self.commit else self.version

    @property
    def place(self) -> str:
        """The folder that TVM is imported from, else the interpreter."""
        return self.pythonpath[0] if self.pythonpath else self.python


def is_name(text: str) -> bool:
    """True if a build may be called ``text``: a release begins with a digit, a build does not."""
    return bool(_NAME.fullmatch(text)) and text not in _RESERVED


def read(folder: Path) -> tuple[Build, ...]:
    """The builds in ``folder``, by name; a file that cannot be read is no build."""
    found = (_read(path) for path in sorted(folder.glob(f"*/{FILE_NAME}")))
    return tuple(build for build in found if build is not None)


def read_named(folder: Path, name: str) -> Build | None:
    """The build ``name`` in ``folder``, or None."""
    return _read(folder / name / FILE_NAME) if is_name(name) else None


def write(folder: Path, build: Build) -> None:
    """Describe ``build`` in ``folder``. Raises ``OSError``."""
    place = folder / build.name
    place.mkdir(parents=True, exist_ok=True)
    text = msgspec.json.format(msgspec.json.encode(build), indent=1) + b"\n"
    unfinished = place / _UNFINISHED
    unfinished.write_bytes(text)
    unfinished.replace(place / FILE_NAME)


def is_left_over(folder: Path, name: str) -> bool:
    """True if adding the build ``name`` was cut off, or nothing can read its file any more.

    A folder with anything else in it is somebody's own.
    """
    place = folder / name
    if not is_name(name) or not place.is_dir() or read_named(folder, name) is not None:
        return False
    return {path.name for path in place.iterdir()} <= {FILE_NAME, _UNFINISHED, PACKAGES, OWN}


def remove(folder: Path, name: str) -> None:
    """Remove the description of the build ``name``, and what was unpacked for it.

    The user's own files stay. Raises ``OSError``.
    """
    place = folder / name
    # First: without it there is no build, however far the rest comes.
    (place / FILE_NAME).unlink(missing_ok=True)
    shutil.rmtree(place)


def _read(path: Path) -> Build | None:
    try:
        build = msgspec.json.decode(path.read_bytes(), type=Build)
    except (OSError, msgspec.DecodeError):
        return None
    return build if build.name == path.parent.name else None
