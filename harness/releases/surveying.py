"""Finds out which fixes a TVM release needs, in a process of that release's environment.

``python -m relaxcheck.harness.releases.surveying`` is that process. It runs each probe in a child,
since a fault may kill it, and writes one JSON object.
"""

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from typing import IO, TYPE_CHECKING, TypeVar

import msgspec

from relaxcheck.extensions.entry_points import FIXES, require
from relaxcheck.extensions.naming import ExtensionError
from relaxcheck.harness.paths import WORKING
from relaxcheck.harness.releases.processes import running
from relaxcheck.harness.releases.releases import (
    Release,
    ReleaseError,
    advice,
    environment,
)

if TYPE_CHECKING:
    # Only the process in the release's environment imports TVM.
    from relaxcheck import fixes

_SECONDS = 900
"""Time limit of a process in seconds; generous, for a busy machine."""

_T = TypeVar("_T")


class SurveyedPart(msgspec.Struct, frozen=True):
    """A part of a fault: present or not, and the signal that killed its probe, or 0."""

    name: str
    present: bool
    signal: int = 0


class Surveyed(msgspec.Struct, frozen=True):
    """A fix, and how much a release needs it (``relaxcheck.fixes.framework.fix.Need``).

    ``over_cpp``: its patch does nothing but override faults in C++. ``passes``: it consists
    of passes in ``fixes.pipeline(target)`` and has no patch.
    """

    name: str
    operators: tuple[str, ...]
    fault: str
    issue: str | None
    need: str
    parts: tuple[SurveyedPart, ...]
    over_cpp: bool = False
    passes: bool = False


class Survey(msgspec.Struct, frozen=True):
    """The fixes of one release; ``tvm`` is the version found there."""

    release: str
    tvm: str
    fixes: tuple[Surveyed, ...]


def survey(release: Release) -> Survey:
    """Survey ``release``; takes some seconds, mostly to import TVM.

    Raises:
        ReleaseError: its process does not start, or ends early.
    """
    return msgspec.structs.replace(
        query(release, "relaxcheck.harness.releases.surveying", type=Survey), release=release.name
    )


def query(release: Release, module: str, *arguments: str, type: type[_T]) -> _T:
    """Run ``module`` in the environment of ``release`` and decode its output, one JSON object.

    Raises:
        ReleaseError: it failed, with the last line of its errors; or the output is not such an
            object.
    """
    try:
        return msgspec.json.decode(run_there(release, module, *arguments), type=type)
    except msgspec.DecodeError as error:
        fault = f"{module} wrote no complete result: {error}"
        raise ReleaseError(f"{release.title}: {fault}") from error


def run_there(release: Release, module: str, *arguments: str) -> bytes:
    """The standard output of ``module``, run in the environment of ``release``.

    An interruption also ends the processes that it started.

    Raises:
        ReleaseError: it failed, with the last line of its errors.
    """
    command = [str(release.python), "-m", module, *arguments]
    try:
        with running(command, environment(release), WORKING) as process:
            output, errors = process.communicate(timeout=_SECONDS)
    except OSError as error:
        raise ReleaseError(f"{release.title}: {error}; {advice(release.name)}") from error
    except subprocess.TimeoutExpired as error:
        raise ReleaseError(f"{release.title}: no answer within {_SECONDS} s") from error
    if process.returncode:
        lines = errors.decode(errors="replace").strip().splitlines()
        last = lines[-1] if lines else f"ended with {process.returncode}"
        raise ReleaseError(f"{release.title}: {last}")
    return output


def probe_parts(fix: "fixes.Fix") -> Iterator[SurveyedPart]:
    """Probe each part of the fault that ``fix`` cures, in a child process.

    Raises:
        SystemExit: a probe raised, which is an error of ours; names the probe and the exception.
    """
    from relaxcheck.fixes.framework.asking import AskingError, ask_child

    for part in fix.parts:
        try:
            yield SurveyedPart(part.name, *ask_child(part.probe))
        except AskingError as error:
            raise SystemExit(f"the probe of {fix.name}, {part.name}, failed: {error}") from error


def _surveyed() -> Iterator[Surveyed]:
    from relaxcheck import fixes
    from relaxcheck.fixes.framework.fix import Need
    from relaxcheck.fixes.upstream import over_cpp

    try:
        require(FIXES)
    except ExtensionError as error:
        # The engine quotes the last line.
        raise SystemExit(str(error)) from error
    for fix in fixes.ALL:
        parts = tuple(probe_parts(fix))
        need = Need.of([part.present for part in parts])
        yield Surveyed(
            fix.name,
            fix.operators,
            fix.fault,
            fix.issue,
            need,
            parts,
            over_cpp(fix.patch),
            bool(fix.passes),
        )


@contextlib.contextmanager
def result_stream() -> Iterator[IO[bytes]]:
    """Redirect standard output, where TVM may write, and yield the original for the result."""
    with os.fdopen(os.dup(1), "wb") as out:
        os.dup2(2, 1)
        end_later()
        yield out


def end_later() -> None:
    """End this process after fifteen minutes from now: its parent may have gone."""
    signal.alarm(_SECONDS)


def main() -> None:
    """Write the survey to standard output as one JSON object; the release has no name here."""
    with result_stream() as out:
        surveyed = tuple(_surveyed())
        out.write(msgspec.json.encode(Survey("", str(sys.modules["tvm"].__version__), surveyed)))


if __name__ == "__main__":
    main()
