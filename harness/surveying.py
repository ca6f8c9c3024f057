"""Which fixes a TVM release needs: asked in a process of that release's environment.

``python -m harness.surveying`` is that process. It asks each probe in a child of its own, for a
fault may be the death of whoever looks for it, and writes one JSON object a line.
"""

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import IO

import msgspec

from harness.releases import CHECKOUT, Release, ReleaseError, advice, environment

_SECONDS = 900
"""How long a process may take; far more than it needs, on a machine that is busy."""

_PRESENT, _ABSENT, _RAISED = 0, 1, 2


class Part(msgspec.Struct, frozen=True):
    """A part of a fault, whether it is ``present``, and the signal that its probe died of, or 0."""

    name: str
    present: bool
    signal: int = 0


class Surveyed(msgspec.Struct, frozen=True):
    """What one fix is about, and how much it is needed (``fixes.fix.Need``).

    ``over_cpp``: as a patch it leaves the fault in C++ as it is, and stands above it.
    """

    name: str
    operators: tuple[str, ...]
    fault: str
    issue: str | None
    need: str
    parts: tuple[Part, ...]
    over_cpp: bool = False


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
    lines = run_there(release, "harness.surveying").splitlines()
    version, *told = lines or [b'""']
    fixes = tuple(msgspec.json.decode(line, type=Surveyed) for line in told)
    return Survey(release.name, msgspec.json.decode(version, type=str), fixes)


def run_there(release: Release, module: str, *arguments: str) -> bytes:
    """The standard output of ``module``, run in the environment of ``release``.

    Raises:
        ReleaseError: it failed, with the last line that it said.
    """
    command = [str(release.python), "-m", module, *arguments]
    try:
        ended = subprocess.run(
            command,
            capture_output=True,
            stdin=subprocess.DEVNULL,
            env=environment(release),
            cwd=CHECKOUT,
            timeout=_SECONDS,
            check=False,
        )
    except OSError as error:
        raise ReleaseError(f"TVM {release.name}: {error}; {advice(release.name)}") from error
    except subprocess.TimeoutExpired as error:
        raise ReleaseError(f"TVM {release.name}: no answer within {_SECONDS} s") from error
    if ended.returncode:
        said = ended.stderr.decode(errors="replace").strip().splitlines()
        last = said[-1] if said else f"ended with {ended.returncode}"
        raise ReleaseError(f"TVM {release.name}: {last}")
    return ended.stdout


def asked(present: Callable[[], bool]) -> tuple[bool, int]:
    """What ``present()`` says in a child process, or True and the signal that the child died of.

    Raises:
        RuntimeError: it raised; the exception is written on standard error.
    """
    child = os.fork()
    if not child:
        code = _RAISED
        try:
            code = _PRESENT if present() else _ABSENT
        except Exception as error:
            sys.stderr.write(f"{type(error).__name__}: {error}\n")
        finally:
            sys.stderr.flush()
            os._exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if code not in (_PRESENT, _ABSENT) and code >= 0:
        raise RuntimeError("a probe failed")
    return code != _ABSENT, max(-code, 0)


def _surveyed() -> Iterator[Surveyed]:
    import fixes
    from fixes.fix import Need
    from fixes.patches import over_cpp

    for fix in fixes.ALL:
        parts = tuple(Part(part.name, *asked(part.present)) for part in fix.parts)
        need = Need.of([part.present for part in parts])
        yield Surveyed(
            fix.name, fix.operators, fix.fault, fix.issue, need, parts, over_cpp(fix.name)
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
    """The version of TVM and then each fix, one JSON value a line on standard output."""
    with only_answers() as out:
        found = [msgspec.json.encode(one) for one in _surveyed()]
        version = msgspec.json.encode(str(sys.modules["tvm"].__version__))
        out.write(b"\n".join([version, *found]))


if __name__ == "__main__":
    main()
