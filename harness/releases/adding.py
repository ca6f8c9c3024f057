"""Adds a user's own TVM build: asks its environment what it has, and unpacks a wheel."""

import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from importlib import metadata
from pathlib import Path
from shlex import join, quote

import msgspec
from packaging.requirements import Requirement

from relaxcheck.fixes.sym_api.root import TVM
from relaxcheck.harness.paths import CHECKOUT, WORKING, link_package
from relaxcheck.harness.releases import builds
from relaxcheck.harness.releases.builds import Build
from relaxcheck.harness.releases.processes import running
from relaxcheck.harness.releases.releases import (
    ReleaseError,
    environment,
    folder,
    of_build,
)

Say = Callable[[str], None]
"""Called with a short line for each step."""

_NEEDED = (
    "torch",
    "onnxruntime",
    "onnx",
    "ml_dtypes",
    "numpy",
    "mpmath",
    "hypothesis",
    "msgspec",
)
"""The packages that workers import, besides TVM."""
NEEDED_ALONE = ("numpy", "hypothesis", "msgspec")
"""The packages that workers import where there is TIRx alone, besides it."""
_OF_TVM = ("tvm", "tvm_tirx", "tvm_ffi")
"""The packages that a folder of ``--pythonpath`` may have."""
_OLDEST_PYTHON = (3, 11)
_SECONDS = 300

# Of the standard library alone: nothing is known of the environment yet.
_QUESTION = """
import importlib.util, json, os, sys
from importlib import metadata
answer = {"python": sys.version_info[:2], "versions": {}, "tvm": "", "root": "", "error": ""}
folders = [folder for folder in os.environ.get("PYTHONPATH", "").split(os.pathsep) if folder]
for name in sys.argv[1:]:
    try:
        answer["versions"][name] = metadata.version(name)
    except metadata.PackageNotFoundError:
        pass
def inside(name):
    spec = importlib.util.find_spec(name)
    return spec is not None and any(
        str(spec.origin).startswith(os.path.join(folder, "")) for folder in folders
    )
roots = ["tvm", "tvm_tirx"]
# Of two, that in the folders of the build: both do not go together in one process.
for name in [name for name in roots if inside(name)][:1] or roots:
    try:
        module = __import__(name)
        answer["file"] = str(module.__file__)
        answer["tvm"] = str(module.__version__)
        answer["root"] = name
        break
    except Exception as error:
        lines = f"{type(error).__name__}: {error}".strip().splitlines()
        answer["error"] = answer["error"] or lines[0]
try:
    if answer["root"] != "tvm":
        raise ImportError
    from tvm import support
    answer["commit"] = str(support.libinfo().get("GIT_COMMIT_HASH", ""))
except Exception:
    answer["commit"] = ""
sys.__stdout__.write("\\n" + json.dumps(answer) + "\\n")
"""


class Answer(msgspec.Struct, frozen=True):
    """List what an environment has: Python, the versions of packages, and its TVM.

    ``root`` is the module that is TVM there: ``tvm``, or ``tvm_tirx`` where there is no Relax.
    ``file`` is where that is imported from; ``error`` is the exception that importing it raised.
    """

    python: tuple[int, int]
    versions: dict[str, str]
    tvm: str
    root: str
    error: str
    commit: str = ""
    file: str = ""


def add(
    name: str,
    *,
    python: Path | None = None,
    pythonpath: Sequence[Path] = (),
    library_path: Path | None = None,
    wheel: Path | None = None,
    say: Say = lambda line: None,
) -> tuple[Build, str]:
    """Add a build as ``name``, for ``relaxcheck … --tvm NAME``.

    Returns it, and why its workers do not start; nothing if they do.

    ``python`` is the interpreter, by default the engine's own, whose packages it then shares.
    ``pythonpath`` are folders that come before its packages: each has ``tvm`` in it, or is the root
    of TVM's sources. ``library_path`` is the folder of TVM's libraries. ``wheel`` is a wheel of
    TVM, unpacked into a folder that comes first; nothing is installed into an environment.

    Raises:
        ReleaseError: there is such a build or release, a path is wrong, the environment lacks
            packages, or TVM cannot be imported there.
    """
    _check_name(name)
    try:
        build = found(
            name, folder(), python, pythonpath, library_path=library_path, wheel=wheel, say=say
        )
        builds.write(folder(), build)
        say("starting a worker")
        return build, worker_fault(build)
    except BaseException as error:
        _forget(name)
        if isinstance(error, OSError):
            raise ReleaseError(f"TVM build {name}: {error}") from error
        raise


def found(
    name: str,
    home: Path,
    python: Path | None = None,
    pythonpath: Sequence[Path] = (),
    *,
    library_path: Path | None = None,
    wheel: Path | None = None,
    say: Say = lambda line: None,
) -> Build:
    """The build as ``add`` has it, which nothing describes yet; a wheel is unpacked in ``home``.

    Raises:
        ReleaseError: as ``add``; what was unpacked is still there.
        OSError: nothing can be written in ``home``.
    """
    interpreter = Path(sys.executable) if python is None else _interpreter(name, python)
    if python is None and not pythonpath and wheel is None:
        raise ReleaseError(
            f"TVM build {name}: say which TVM it is: --python PATH, the interpreter of an "
            "environment; --pythonpath DIR, a source build; or --wheel FILE"
        )
    folders = [_importable(name, path) for path in pythonpath]
    libraries = "" if library_path is None else _folder(name, "--library-path", library_path)
    build = Build(name, str(interpreter), tuple(folders), libraries)
    if wheel is not None:
        build = _unpacked(build, home, wheel, say)
    build = _with_relaxcheck(build, home)
    say("importing TVM")
    answer = ask(build)
    _check(build, answer)
    return msgspec.structs.replace(
        build, root=answer.root, version=answer.tvm, commit=answer.commit
    )


def ask(build: Build) -> Answer:
    """Ask the environment of ``build`` what it has.

    Raises:
        ReleaseError: its interpreter does not run.
    """
    _, output, errors = _ran(build, "-c", _QUESTION, *_NEEDED)
    try:
        return msgspec.json.decode(_last(output), type=Answer)
    except msgspec.DecodeError:
        raise ReleaseError(
            f"TVM build {build.name}: importing TVM ended its process: {_last(errors)}"
        ) from None


def lacking(versions: dict[str, str], root: str = TVM) -> tuple[str, ...]:
    """The requirements of workers that ``versions``, those of an environment, do not fulfil.

    ``root`` is the package that is TVM there.
    """
    names = _NEEDED if root == TVM else NEEDED_ALONE
    return tuple(
        str(needed)
        for needed in _requirements()
        if needed.name in names
        and (
            needed.name not in versions
            or not needed.specifier.contains(versions[needed.name], prereleases=True)
        )
    )


def _requirements() -> Iterator[Requirement]:
    for text in metadata.requires("relaxcheck") or ():
        requirement = Requirement(text)
        if requirement.marker is None and requirement.name in _NEEDED:
            yield requirement


def _check(build: Build, answer: Answer) -> None:
    if answer.python < _OLDEST_PYTHON:
        oldest = ".".join(map(str, _OLDEST_PYTHON))
        there = ".".join(map(str, answer.python))
        raise ReleaseError(
            f"TVM build {build.name}: {build.python} is Python {there}, and {oldest} is the oldest "
            "that can run workers; build TVM for a newer one"
        )
    missing = lacking(answer.versions, answer.root or TVM)
    if missing:
        command = join([build.python, "-m", "pip", "install", *missing])
        raise ReleaseError(
            f"TVM build {build.name}: its environment lacks {', '.join(missing)}; run: {command}"
        )
    inside = any(Path(answer.file).is_relative_to(each) for each in build.pythonpath)
    if answer.file and build.pythonpath and not inside:
        raise ReleaseError(
            f"TVM build {build.name}: {answer.root} is imported from {answer.file}, and not from "
            f"{build.pythonpath[0]}"
        )
    if not answer.root:
        raise ReleaseError(
            f"TVM build {build.name}: importing TVM raised {answer.error}; the command is: "
            f"{_command(build)}"
        )


def _command(build: Build) -> str:
    """A command for a shell that imports the TVM of ``build``."""
    path = f"PYTHONPATH={quote(':'.join(build.pythonpath))} " if build.pythonpath else ""
    libraries = f"TVM_LIBRARY_PATH={quote(build.library_path)} " if build.library_path else ""
    return f"{path}{libraries}{quote(build.python)} -c 'import tvm'"


def worker_fault(build: Build) -> str:
    """Why workers of ``build`` do not start, as they import more than TVM; nothing if they do.

    Raises:
        ReleaseError: its interpreter does not run.
    """
    code, _, errors = _ran(build, "-m", "relaxcheck.harness.workers.zygote", "--help")
    return _last(errors) if code else ""


def _last(output: bytes) -> str:
    lines = output.decode(errors="replace").strip().splitlines()
    return lines[-1] if lines else "no word of why"


def _ran(build: Build, *arguments: str) -> tuple[int, bytes, bytes]:
    """The exit code, standard output and error of its interpreter with ``arguments``."""
    release = of_build(build)
    try:
        with running([build.python, *arguments], environment(release), WORKING) as process:
            output, errors = process.communicate(timeout=_SECONDS)
            return process.returncode, output, errors
    except OSError as error:
        raise ReleaseError(f"TVM build {build.name}: {error}") from error
    except subprocess.TimeoutExpired as error:
        raise ReleaseError(f"TVM build {build.name}: no answer within {_SECONDS} s") from error


def _check_name(name: str) -> None:
    if not builds.is_name(name):
        raise ReleaseError(
            f"TVM build {name!r}: a name begins with a letter, has letters, digits, '.', '_' and "
            "'-' only, and is not all or local"
        )
    if (folder() / name).exists():
        raise ReleaseError(
            f"TVM build {name}: there is one; to replace it, run: relaxcheck releases remove {name}"
        )


def _interpreter(name: str, path: Path) -> Path:
    """The interpreter that ``path`` is, or that is in the environment ``path``."""
    there = path.expanduser().absolute()
    if there.is_dir():
        there = there / "bin" / "python"
    if not there.is_file():
        raise ReleaseError(f"TVM build {name}: --python {path}: there is no interpreter")
    # Not resolved: a venv's interpreter is a link, and knows its packages by the link's place.
    return there


def _importable(name: str, path: Path) -> str:
    """The folder to import ``tvm`` from: ``path``, or ``python`` in TVM's sources."""
    there = path.expanduser().absolute()
    _folder(name, "--pythonpath", path)
    for candidate in (there, there / "python"):
        if any((candidate / package / "__init__.py").is_file() for package in _OF_TVM):
            return str(candidate)
    raise ReleaseError(
        f"TVM build {name}: --pythonpath {path}: neither it nor its folder python has one of the "
        f"packages {', '.join(_OF_TVM)}"
    )


def _folder(name: str, option: str, path: Path) -> str:
    there = path.expanduser().absolute()
    if not there.is_dir():
        raise ReleaseError(f"TVM build {name}: {option} {path}: there is no such folder")
    return str(there)


def _with_relaxcheck(build: Build, home: Path) -> Build:
    """``build`` with relaxcheck on its path, where no checkout is the working directory."""
    if CHECKOUT is not None:
        return build
    place = home / build.name / builds.OWN
    place.mkdir(parents=True, exist_ok=True)
    link_package(place)
    return msgspec.structs.replace(build, pythonpath=(*build.pythonpath, str(place)))


def _unpacked(build: Build, home: Path, wheel: Path, say: Say) -> Build:
    """``build`` with ``wheel`` in a folder of its own, and what the wheel needs besides."""
    file = wheel.expanduser().absolute()
    if not file.is_file() or file.suffix != ".whl":
        raise ReleaseError(f"TVM build {build.name}: --wheel {wheel}: there is no such wheel")
    to = home / build.name / builds.PACKAGES
    unpack(build, file, to, say)
    return msgspec.structs.replace(build, pythonpath=(str(to), *build.pythonpath), wheel=str(file))


def unpack(build: Build, wheel: Path, to: Path, say: Say = lambda line: None) -> None:
    """Install ``wheel`` into the folder ``to``, with those of its dependencies that are missing.

    Raises:
        ReleaseError: pip failed; the message has its last line.
    """
    say(f"unpacking {wheel.name}")
    _pip(build, "--no-deps", "--target", str(to), str(wheel))
    missing = _missing(build, to)
    if missing:
        say(f"installing {', '.join(missing)} beside it")
        _pip(build, "--no-deps", "--upgrade", "--target", str(to), *missing)


def _missing(build: Build, to: Path) -> list[str]:
    """The requirements of the packages in ``to`` that the environment of ``build`` lacks."""
    needed = [
        Requirement(text)
        for distribution in metadata.distributions(path=[str(to)])
        for text in distribution.requires or ()
    ]
    wanted = [each for each in needed if each.marker is None or each.marker.evaluate({"extra": ""})]
    question = (
        "import json, sys\nfrom importlib import metadata\nthere = {}\n"
        "for name in sys.argv[1:]:\n    try:\n        there[name] = metadata.version(name)\n"
        "    except metadata.PackageNotFoundError:\n        pass\nprint(json.dumps(there))"
    )
    _, output, _ = _ran(build, "-c", question, *(each.name for each in wanted))
    there = msgspec.json.decode(output or b"{}", type=dict[str, str])
    return [
        str(each)
        for each in wanted
        if each.name not in there or not each.specifier.contains(there[each.name], prereleases=True)
    ]


def _pip(build: Build, *arguments: str) -> None:
    command = ("-m", "pip", "install", "--quiet", "--disable-pip-version-check", *arguments)
    code, _, errors = _ran(build, *command)
    if code:
        raise ReleaseError(f"TVM build {build.name}: pip: {_last(errors)}")


def _forget(name: str) -> None:
    """Leave nothing of a build that could not be added."""
    place = folder() / name
    if place.is_dir():
        builds.remove(folder(), name)
