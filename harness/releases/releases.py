"""TVM releases side by side: each in an environment of its own, in which only workers run.

Environments lie in the folder that ``$RELAXCHECK_RELEASES`` names, without it in ``.releases`` of
the checkout or in the user's cache: ``.releases/0.25`` and so on, each pinned by
``constraints-0.25.txt``. The engine's own environment is a release too, and is used for it. So are
a user's own builds (``harness.releases.builds``). TIRx alone (``tirx``), or a build of it, has no
Relax: it runs cases that need none, and is used only when named.
"""

import enum
import hashlib
import os
import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib import metadata, util
from pathlib import Path

from relaxcheck.extensions.entry_points import folders as extension_folders
from relaxcheck.extensions.naming import FOLDERS_VARIABLE, folders_of_extensions
from relaxcheck.fixes.sym_api import root as roots
from relaxcheck.generators.core.case import CaseError
from relaxcheck.harness.native.memory import WITHOUT_CACHE
from relaxcheck.harness.paths import CONSTRAINTS
from relaxcheck.harness.paths import releases as default_folder
from relaxcheck.harness.releases import builds
from relaxcheck.harness.releases.builds import Build
from relaxcheck.harness.releases.environment import BUILD_VARIABLE, single_threaded

FOLDER_VARIABLE = "RELAXCHECK_RELEASES"
ALL = "all"
"""The name of all installed releases, where several may be named."""
ALONE = ("tirx",)
"""The releases of TIRx alone, with a constraints file each: no release of TVM."""
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

    ``own`` is the engine's; ``build`` is set if it is a build of the user's. ``root`` is the
    package that is TVM there.
    """

    name: str
    python: Path
    own: bool = False
    build: Build | None = None
    root: str = roots.TVM

    @property
    def has_relax(self) -> bool:
        """True if programs run on it; TIRx alone has expressions, and no Relax."""
        return self.root == roots.TVM

    @property
    def title(self) -> str:
        """Its name for a person: ``TVM 0.25``, ``TVM build mine (version 0.28.dev0)``."""
        if self.build is None:
            return f"TVM {self.name}"
        return f"TVM build {self.name} (version {self.build.described})"


class State(enum.StrEnum):
    """The state of a release's environment."""

    OWN = "this environment"
    READY = "installed"
    BUILD = "your build"
    GONE = "a build whose files are gone"
    STALE = "installed from other constraints"
    HALF = "half made"
    MISSING = "not installed"

    @property
    def usable(self) -> bool:
        """True if workers can run in it."""
        return self in (State.OWN, State.READY, State.BUILD)


def folder() -> Path:
    """The folder of the environments."""
    return Path(os.environ.get(FOLDER_VARIABLE) or default_folder()).absolute()


def constraints(name: str) -> Path:
    """The file that pins the release ``name``.

    Raises:
        ReleaseError: there is none.
    """
    if name not in (*supported(), *ALONE):
        own_builds = [build.name for build in builds.read(folder())]
        added = f"; your builds are {', '.join(own_builds)}" if own_builds else ""
        to_add = f"; to add a build: relaxcheck releases add {name} --help"
        raise ReleaseError(
            f"no release {name!r}; supported are {', '.join((*supported(), *ALONE))}{added}"
            f"{to_add if builds.is_name(name) else ''}"
        )
    return CONSTRAINTS / f"{_PREFIX}{name}.txt"


def supported() -> tuple[str, ...]:
    """The names of the TVM releases that have a constraints file, the oldest first."""
    return _pinned_in(CONSTRAINTS)


@cache
def _pinned_in(folder: Path) -> tuple[str, ...]:
    # Declared failures are asked for their releases for each case, a hundred times.
    pinned_there = (path.stem.removeprefix(_PREFIX) for path in folder.glob(f"{_PREFIX}*.txt"))
    return by_age(name for name in pinned_there if name not in ALONE)


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
    if build := builds.read_named(folder(), name):
        return State.BUILD if build.usable else State.GONE
    if not (folder() / name).is_dir():
        return State.MISSING
    try:
        made_from = (folder() / name / _READY).read_text()
    except FileNotFoundError:
        return State.HALF
    return State.READY if made_from == pinned(name) else State.STALE


def release(name: str, *, alone: bool = False) -> Release:
    """The release or the build ``name``, ready to run workers.

    Raises:
        ReleaseError: it is not supported, or not installed; or it has no Relax, but where
            ``alone`` says that this is as good.
    """
    ready = _ready(name)
    if not (alone or ready.has_relax):
        raise ReleaseError(
            f"TVM {name} has no Relax, only {ready.root}, and runs the family algebra alone; for "
            f"what is there, run: relaxcheck releases doctor {name}"
        )
    return ready


def _ready(name: str) -> Release:
    if name == own().name:
        return own()
    if build := builds.read_named(folder(), name):
        if not build.usable:
            again = f"run: relaxcheck releases remove {name}, and add it again"
            raise ReleaseError(f"TVM {name} is {State.GONE}; {again}")
        return of_build(build)
    constraints(name)
    installed = state(name)
    if not installed.usable:
        raise ReleaseError(f"TVM {name} is {installed}; {advice(name)}")
    return of_environment(name)


def is_alone(name: str) -> bool:
    """True if the release or build ``name`` is TIRx alone, installed or not."""
    build = builds.read_named(folder(), name)
    return name in ALONE if build is None else build.root != roots.TVM


def of_environment(name: str) -> Release:
    """The release whose environment ``name`` is, installed or not."""
    return Release(name, interpreter(name), root=roots.TIRX if name in ALONE else roots.TVM)


def of_build(build: Build) -> Release:
    """The release that ``build`` is, ready to run workers."""
    return Release(build.name, Path(build.python), build=build, root=build.root)


def named(text: str, *, alone: bool = False) -> tuple[str, ...]:
    """The names of the releases that ``text`` asks for, the oldest first.

    ``text`` is ``all``, for every installed release of TVM, or names separated by commas, of builds
    too.

    Raises:
        ReleaseError: one is not as ``release`` wants it, or ``all`` is no more than one.
    """
    if text == ALL:
        ready = tuple(name for name in known() if state(name).usable)
        if len(ready) < 2:
            raise ReleaseError(
                f"TVM {', '.join(ready)} is all that is installed, so there is nothing to compare "
                "it with; run: relaxcheck releases install"
            )
        return ready
    return by_age({release(name.strip(), alone=alone).name for name in text.split(",")})


def left_out() -> tuple[str, ...]:
    """A line for each release that ``all`` leaves out, with the reason."""
    return tuple(
        f"TVM {name} is {state(name)}, and is left out; {advice(name)}"
        for name in known()
        if not state(name).usable
    )


@cache
def column(version: str) -> str | None:
    """The release whose declarations hold for ``version`` of TVM; None if it is older than all.

    It is the supported release that ``version`` belongs to, else the newest one before it.
    """
    exact = next((name for name in supported() if within(version, name)), None)
    earlier = (name for name in supported() if _numbers(name) <= _numbers(version))
    return exact or max(earlier, key=_numbers, default=None)


@cache
def covers(declared: str, version: str) -> bool:
    """True if a declaration for ``declared``, a release or a version, holds for ``version`` of TVM.

    A version of no supported release has the declarations of the newest one before it.
    """
    if within(version, declared):
        return True
    nearest = column(version)
    return nearest is not None and not within(version, nearest) and within(declared, nearest)


def within(version: str, name: str) -> bool:
    """True if ``version`` of TVM belongs to the release ``name``: 0.25.1 to 0.25, not to 0.2."""
    rest = version.removeprefix(name)
    return version.startswith(name) and not rest[:1].isdigit()


def advice(name: str) -> str:
    """The remedy for an environment that is missing, or does not work."""
    if builds.read_named(folder(), name):
        return f"run: relaxcheck releases doctor {name}"
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
    if release.build is not None:
        variables |= _leading_to(release.build)
    if not release.has_relax:
        variables[roots.VARIABLE] = release.root
    # What is installed here, another environment does not have: it imports it from its folder.
    there = dict.fromkeys((*folders_of_extensions(), *extension_folders()))
    return variables | ({FOLDERS_VARIABLE: os.pathsep.join(there)} if there else {})


def _leading_to(build: Build) -> dict[str, str]:
    """The variables that make an interpreter import ``build``, and its workers name it."""
    variables = {BUILD_VARIABLE: build.name}
    if build.pythonpath:
        variables["PYTHONPATH"] = os.pathsep.join(build.pythonpath)
    if build.library_path:
        variables["TVM_LIBRARY_PATH"] = build.library_path
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


def _order(name: str) -> tuple[bool, tuple[int, ...], str]:
    numbers = tuple(int(part) for part in name.split(".") if re.fullmatch(r"\d+", part))
    own_name = not name[:1].isdigit()
    return (own_name, () if own_name else numbers, name)


def _numbers(version: str) -> tuple[int, int]:
    """The first two numbers of ``version``, which name a release; zeros if there are none."""
    begins = re.match(r"(\d+)\.(\d+)", version)
    return (int(begins[1]), int(begins[2])) if begins else (0, 0)
