"""TVM releases side by side: each in an environment of its own, in which only workers run.

Environments lie in the folder that ``$RELAXCHECK_RELEASES`` names, ``.releases`` of the checkout
without it: ``.releases/0.25`` and so on, each pinned by ``constraints-0.25.txt``. The engine's own
environment is a release too, and is used for it.
"""

import enum
import hashlib
import os
import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from importlib import metadata, util
from pathlib import Path

from generators.program import CaseError
from harness.environment import single_threaded

CHECKOUT = Path(__file__).resolve().parent.parent
FOLDER_VARIABLE = "RELAXCHECK_RELEASES"
ALL = "all"
"""What names every release that is installed, where several may be named."""
LOCAL = "local"
"""The name of a TVM that ``import tvm`` finds outside an installed package: a source build, say."""

_READY = "ready"
"""The file in an environment that says what it was made from; it is written last."""
_PREFIX = "constraints-"
_LEADING_ELSEWHERE = ("PYTHONPATH", "PYTHONHOME", "TVM_HOME", "TVM_LIBRARY_PATH")
"""Variables that may name the modules or the libraries of the engine's own TVM."""
_LIBRARIES = "LD_LIBRARY_PATH"
_TVM_LIBRARY = "libtvm*"


class ReleaseError(CaseError):
    """A release cannot be used, in one line that says what to do."""


@dataclass(frozen=True, slots=True)
class Release:
    """A TVM release by its ``name`` (0.25), and the interpreter of the environment it is in.

    ``own`` is the engine's.
    """

    name: str
    python: Path
    own: bool = False


class State(enum.StrEnum):
    """What there is of a release."""

    OWN = "this environment"
    READY = "installed"
    STALE = "installed from other constraints"
    HALF = "half made"
    MISSING = "not installed"

    @property
    def usable(self) -> bool:
        """Whether workers may run in it."""
        return self in (State.OWN, State.READY)


def folder() -> Path:
    """Where the environments are."""
    return Path(os.environ.get(FOLDER_VARIABLE) or CHECKOUT / ".releases").absolute()


def constraints(name: str) -> Path:
    """The file that pins the release ``name``.

    Raises:
        ReleaseError: there is none.
    """
    if name not in supported():
        there = ", ".join(supported()) or "none (relaxcheck does not run from a checkout)"
        raise ReleaseError(f"no release {name!r}; those with a constraints file: {there}")
    return CHECKOUT / f"{_PREFIX}{name}.txt"


def supported() -> tuple[str, ...]:
    """The names of the releases that have a constraints file, the oldest first."""
    names = [path.stem.removeprefix(_PREFIX) for path in CHECKOUT.glob(f"{_PREFIX}*.txt")]
    return by_age(names)


def by_age(names: Iterable[str]) -> tuple[str, ...]:
    """``names`` of releases, the oldest first; a build that has no number comes last."""
    return tuple(sorted(names, key=_order))


def known() -> tuple[str, ...]:
    """The supported releases, and the engine's own one where it is another; the oldest first."""
    return by_age({*supported(), own().name})


def own() -> Release:
    """The release in this environment, that ``import tvm`` finds. TVM is not imported."""
    return Release(_own_name(), Path(sys.executable), own=True)


def state(name: str) -> State:
    """What there is of the release ``name``."""
    if name == own().name:
        return State.OWN
    if not (folder() / name).is_dir():
        return State.MISSING
    try:
        made_from = (folder() / name / _READY).read_text()
    except FileNotFoundError:
        return State.HALF
    return State.READY if made_from == pinned(name) else State.STALE


def release(name: str) -> Release:
    """The release ``name``, ready to run workers.

    Raises:
        ReleaseError: it is not supported, or not installed.
    """
    if name == own().name:
        return own()
    constraints(name)
    found = state(name)
    if not found.usable:
        raise ReleaseError(f"TVM {name} is {found}; {advice(name)}")
    return Release(name, interpreter(name))


def named(text: str) -> tuple[str, ...]:
    """The names of the releases that ``text`` asks for, as many as are ready; the oldest first.

    ``text`` is ``all``, for everything that is installed, or names separated by commas.

    Raises:
        ReleaseError: one is not supported or not installed, or ``all`` is no more than one.
    """
    if text == ALL:
        ready = tuple(name for name in known() if state(name).usable)
        if len(ready) < 2:
            raise ReleaseError(
                f"TVM {', '.join(ready)} is all that is installed, so there is nothing to compare "
                "it with; run: relaxcheck releases install"
            )
        return ready
    return by_age({release(name.strip()).name for name in text.split(",")})


def left_out() -> tuple[str, ...]:
    """What ``all`` does not name, a line each that says why."""
    return tuple(
        f"TVM {name} is {state(name)}, and is left out; {advice(name)}"
        for name in known()
        if not state(name).usable
    )


def within(version: str, name: str) -> bool:
    """Whether ``version`` of TVM is of the release ``name``: 0.25.1 is of 0.25, and none of 0.2."""
    rest = version.removeprefix(name)
    return version.startswith(name) and not rest[:1].isdigit()


def advice(name: str) -> str:
    """What to do about an environment that is not there, or does not work."""
    return f"run: relaxcheck releases install {name}"


def environment(given: Release) -> dict[str, str]:
    """The environment variables of the workers of ``given``: nothing in them leads to another."""
    variables = single_threaded()
    if not given.own:
        for name in _LEADING_ELSEWHERE:
            variables.pop(name, None)
        # Not all of it: a compiler that a worker calls may need its own part.
        paths = variables.pop(_LIBRARIES, "").split(os.pathsep)
        kept = [path for path in paths if path and not any(Path(path).glob(_TVM_LIBRARY))]
        if kept:
            variables[_LIBRARIES] = os.pathsep.join(kept)
    return variables


def interpreter(name: str) -> Path:
    """The Python of the environment of the release ``name``."""
    return folder() / name / "bin" / "python"


def pinned(name: str) -> str:
    """A digest of everything that pins the release ``name``: it is the same for the same pins.

    The list of dependencies has no part in it: what is installed for one is pinned as well.
    """
    digest = hashlib.sha256()
    for path in (constraints(name), CHECKOUT / "constraints.txt"):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def declare_ready(name: str) -> None:
    """Say that the environment of the release ``name`` is complete, as its pins are now."""
    (folder() / name / _READY).write_text(pinned(name))


def _own_name() -> str:
    found = util.find_spec("tvm")
    try:
        installed = metadata.distribution("apache-tvm")
    except metadata.PackageNotFoundError:
        return LOCAL
    package = Path(str(installed.locate_file("tvm/__init__.py"))).resolve()
    if found is None or found.origin is None or Path(found.origin).resolve() != package:
        return LOCAL
    return ".".join(installed.version.split(".")[:2])


def _order(name: str) -> tuple[bool, tuple[int, ...]]:
    numbers = tuple(int(part) for part in name.split(".") if re.fullmatch(r"\d+", part))
    return (not numbers, numbers)
