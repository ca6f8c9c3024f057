"""TVM releases side by side: each in an environment of its own, in which only workers run.

Environments lie in the folder that ``$RELAXCHECK_RELEASES`` names, without it in ``.releases`` of
the checkout or in the user's cache: ``.releases/0.25`` and so on, each pinned by
``constraints-0.25.txt``. The engine's own environment is a release too, and is used for it.
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

from relaxcheck.generators.core.case import CaseError
from relaxcheck.harness.native.memory import WITHOUT_CACHE
from relaxcheck.harness.paths import CONSTRAINTS
from relaxcheck.harness.paths import releases as default_folder
from relaxcheck.harness.releases.environment import single_threaded

FOLDER_VARIABLE = "RELAXCHECK_RELEASES"
ALL = "all"
"""The name of all installed releases, where several may be named."""
LOCAL = "local"
"""The name of a TVM that is no installed package: a source build, say."""

_READY = "ready"
"""The file in an environment with the digest of its pins; it is written last."""
_PREFIX = "constraints-"
_LEADING_ELSEWHERE = ("PYTHONPATH", "PYTHONHOME", "TVM_HOME", "TVM_LIBRARY_PATH")
"""Variables that may name the modules or the libraries of the engine's own TVM."""
_LIBRARIES = "LD_LIBRARY_PATH"
_TVM_LIBRARY = "libtvm*"


class ReleaseError(CaseError):
    """A release cannot be used; the message is one line that says what to do."""


@dataclass(frozen=True, slots=True)
class Release:
    """A TVM release by its ``name`` (0.25), and the interpreter of its environment.

    ``own`` is the engine's.
    """

    name: str
    python: Path
    own: bool = False


class State(enum.StrEnum):
    """The state of a release's environment."""

    OWN = "this environment"
    READY = "installed"
    STALE = "installed from other constraints"
    HALF = "half made"
    MISSING = "not installed"

    @property
    def usable(self) -> bool:
        """True if workers can run in it."""
        return self in (State.OWN, State.READY)


def folder() -> Path:
    """The folder of the environments."""
    return Path(os.environ.get(FOLDER_VARIABLE) or default_folder()).absolute()


def constraints(name: str) -> Path:
    """The file that pins the release ``name``.

    Raises:
        ReleaseError: there is none.
    """
    if name not in supported():
        raise ReleaseError(f"no release {name!r}; supported are {', '.join(supported())}")
    return CONSTRAINTS / f"{_PREFIX}{name}.txt"


def supported() -> tuple[str, ...]:
    """The names of the releases that have a constraints file, the oldest first."""
    names = [path.stem.removeprefix(_PREFIX) for path in CONSTRAINTS.glob(f"{_PREFIX}*.txt")]
    return by_age(names)


def by_age(names: Iterable[str]) -> tuple[str, ...]:
    """``names`` of releases, the oldest first; a build without a number comes last."""
    return tuple(sorted(names, key=_order))


def known() -> tuple[str, ...]:
    """The supported releases, and the engine's own one if it is another; the oldest first."""
    return by_age({*supported(), own().name})


def own() -> Release:
    """The release that ``import tvm`` finds in this environment; does not import it."""
    return Release(_own_name(), Path(sys.executable), own=True)


def state(name: str) -> State:
    """The state of the environment of the release ``name``."""
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
    installed = state(name)
    if not installed.usable:
        raise ReleaseError(f"TVM {name} is {installed}; {advice(name)}")
    return Release(name, interpreter(name))


def named(text: str) -> tuple[str, ...]:
    """The names of the releases that ``text`` asks for, the oldest first.

    ``text`` is ``all``, for every installed release, or names separated by commas.

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
    """A line for each release that ``all`` leaves out, with the reason."""
    return tuple(
        f"TVM {name} is {state(name)}, and is left out; {advice(name)}"
        for name in known()
        if not state(name).usable
    )


def within(version: str, name: str) -> bool:
    """True if ``version`` of TVM belongs to the release ``name``: 0.25.1 to 0.25, not to 0.2."""
    rest = version.removeprefix(name)
    return version.startswith(name) and not rest[:1].isdigit()


def advice(name: str) -> str:
    """The remedy for an environment that is missing, or does not work."""
    return f"run: relaxcheck releases install {name}"


def environment(release: Release) -> dict[str, str]:
    """The environment variables of the workers of ``release``: none leads to another release."""
    variables = WITHOUT_CACHE | single_threaded()
    if not release.own:
        for name in _LEADING_ELSEWHERE:
            variables.pop(name, None)
        # Keep the rest: a compiler that a worker calls may need it.
        paths = variables.pop(_LIBRARIES, "").split(os.pathsep)
        kept = [path for path in paths if path and not any(Path(path).glob(_TVM_LIBRARY))]
        if kept:
            variables[_LIBRARIES] = os.pathsep.join(kept)
    return variables


def interpreter(name: str) -> Path:
    """The Python of the environment of the release ``name``."""
    return folder() / name / "bin" / "python"


def pinned(name: str) -> str:
    """A digest of everything that pins the release ``name``.

    The list of dependencies is not part of it: the pins cover them all.
    """
    digest = hashlib.sha256()
    for path in (constraints(name), CONSTRAINTS / "constraints.txt"):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def declare_ready(name: str) -> None:
    """Mark the environment of the release ``name`` as complete with its present pins."""
    (folder() / name / _READY).write_text(pinned(name))


def _own_name() -> str:
    spec = util.find_spec("tvm")
    try:
        installed = metadata.distribution("apache-tvm")
    except metadata.PackageNotFoundError:
        return LOCAL
    package = Path(str(installed.locate_file("tvm/__init__.py"))).resolve()
    if spec is None or spec.origin is None or Path(spec.origin).resolve() != package:
        return LOCAL
    return ".".join(installed.version.split(".")[:2])


def _order(name: str) -> tuple[bool, tuple[int, ...]]:
    numbers = tuple(int(part) for part in name.split(".") if re.fullmatch(r"\d+", part))
    return (not numbers, numbers)
