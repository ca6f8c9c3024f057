"""Which fixes a TVM release needs: asked in a process of that release's environment.

``python -m harness.surveying`` is that process. It asks each probe in a child of its own, for a
fault may be the death of whoever looks for it, and writes one JSON object.
"""

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from typing import IO, TYPE_CHECKING, TypeVar

import msgspec

from harness.releases import CHECKOUT, Release, ReleaseError, advice, environment

if TYPE_CHECKING:
    # TVM is imported in the process that is asked, and nowhere else.
    import fixes

_SECONDS = 900
"""How long a process may take; far more than it needs, on a machine that is busy."""

_T = TypeVar("_T")


class Part(msgspec.Struct, frozen=True):
    """A part of a fault, whether it is ``present``, and the signal that its probe died of, or 0."""

    name: str
    present: bool
    signal: int = 0


class Surveyed(msgspec.Struct, frozen=True):
    """What one fix is about, and how much it is needed (``fixes.fix.Need``).

    ``over_cpp``: as a patch it leaves the fault in C++ as it is, and stands above it. ``passes``:
    it is no patch, but passes that ``fixes.pipeline(target)`` runs.
    """

    name: str
    operators: tuple[str, ...]
    fault: str
    issue: str | None
    need: str
    parts: tuple[Part, ...]
    over_cpp: bool = False
    passes: bool = False


class Survey(msgspec.Struct, frozen=True):
    """The fixes of one release; ``tvm`` is the version that was found there."""

    release: str
    tvm: str
    fixes: tuple[Surveyed, ...]


def survey(release: Release) -> Survey:
    """Ask ``release``; some seconds, most of which TVM takes to be imported.

    Raises:
        ReleaseError: its process does not start, or ends before it has told everything.
    """
    return msgspec.structs.replace(
        told(release, "harness.surveying", type=Survey), release=release.name
    )


def told(release: Release, module: str, *arguments: str, type: type[_T]) -> _T:
    """What ``module`` tells as one JSON object, run in the environment of ``release``.

    Raises:
        ReleaseError: it failed, with the last line that it said; or what it told is no such object.
    """
    try:
        return msgspec.json.decode(run_there(release, module, *arguments), type=type)
    except msgspec.DecodeError as error:
        raise ReleaseError(f"TVM {release.name}: {module} did not tell all: {error}") from error


def run_there(release: Release, module: str, *arguments: str) -> bytes:
    """The standard output of ``module``, run in the environment of ``release``.

    Where it is not waited for any longer, what it started ends with it.

    Raises:
        ReleaseError: it failed, with the last line that it said.
    """
    command = [str(release.python), "-m", module, *arguments]
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment(release),
            cwd=CHECKOUT,
            # A group of its own, which ends as one.
            start_new_session=True,
        )
    except OSError as error:
        raise ReleaseError(f"TVM {release.name}: {error}; {advice(release.name)}") from error
    with process:
        try:
            output, errors = process.communicate(timeout=_SECONDS)
        except subprocess.TimeoutExpired as error:
            raise ReleaseError(f"TVM {release.name}: no answer within {_SECONDS} s") from error
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
    if process.returncode:
        said = errors.decode(errors="replace").strip().splitlines()
        last = said[-1] if said else f"ended with {process.returncode}"
        raise ReleaseError(f"TVM {release.name}: {last}")
    return output


def present(fix: "fixes.Fix") -> Iterator[Part]:
    """The parts of the fault that ``fix`` cures, each asked for in a child process.

    Raises:
        SystemExit: a probe raised, which is a fault of ours; its name and the exception.
    """
    from fixes.asking import AskingError, asked

    for part in fix.parts:
        try:
            yield Part(part.name, *asked(part.probe))
        except AskingError as error:
            raise SystemExit(f"the probe of {fix.name}, {part.name}, failed: {error}") from error


def _surveyed() -> Iterator[Surveyed]:
    import fixes
    from fixes.fix import Need
    from fixes.patches import over_cpp

    for fix in fixes.ALL:
        parts = tuple(present(fix))
        need = Need.of([part.present for part in parts])
        yield Surveyed(
            fix.name,
            fix.operators,
            fix.fault,
            fix.issue,
            need,
            parts,
            over_cpp(fix.name),
            bool(fix.passes),
        )


@contextlib.contextmanager
def only_answers() -> Iterator[IO[bytes]]:
    """Standard output for what is written to the result alone: TVM may write there too."""
    with os.fdopen(os.dup(1), "wb") as out:
        os.dup2(2, 1)
        # Whoever asked may be gone.
        signal.alarm(_SECONDS)
        yield out


def main() -> None:
    """The survey, as one JSON object on standard output; the release has no name here."""
    with only_answers() as out:
        found = tuple(_surveyed())
        out.write(msgspec.json.encode(Survey("", str(sys.modules["tvm"].__version__), found)))


if __name__ == "__main__":
    main()
