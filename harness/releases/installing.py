"""Creates the environment of a release: a venv, the pinned packages, a test of a worker."""

import fcntl
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib import metadata
from pathlib import Path

from relaxcheck.harness.paths import CHECKOUT, WORKING, link_package
from relaxcheck.harness.releases.adding import NEEDED_ALONE
from relaxcheck.harness.releases.releases import (
    Release,
    ReleaseError,
    State,
    constraints,
    declare_ready,
    environment,
    folder,
    of_environment,
    state,
)

Say = Callable[[str], None]
"""Called with a short line for each step."""

_SAID_BY_PIP = ("Collecting ", "Downloading ", "Building ", "Installing ", "Successfully ")
_ERROR = "ERROR: "
_ALONE = ("apache-tvm-tirx", *NEEDED_ALONE)
_SHOWN = 4
"""The number of words of a command that the log shows: ``python -m pip install``."""


def install(name: str, pip_arguments: Sequence[str], say: Say) -> bool:
    """Create or complete the environment of the release ``name``; False if it was complete.

    An existing venv is reused, with the packages that an interrupted pip had installed; a venv
    whose Python does not run is created anew. It counts as installed once a worker started in it.
    The output of all commands goes to ``NAME.log`` beside it.

    Raises:
        ReleaseError: no such release, another process is installing it, or a command failed; the
            message has its last line and names the log.
    """
    pins = constraints(name)
    if state(name).usable:
        return False
    try:
        folder().mkdir(parents=True, exist_ok=True)
        with _alone(name) as lock:
            # Whoever had it before may have come to the end.
            return not state(name).usable and _made(name, pins, pip_arguments, say, lock)
    except OSError as error:
        raise ReleaseError(f"TVM {name}: {error}") from error


@contextmanager
def _alone(name: str) -> Iterator[int]:
    """Hold a lock, so that no other process installs ``name``; yields its descriptor.

    Commands inherit the descriptor: a killed installation leaves its pip behind, which then holds
    the lock.
    """
    with (folder() / f"{name}.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ReleaseError(
                f"TVM {name} is being installed by another process; wait for its end"
            ) from None
        yield lock.fileno()


def _made(name: str, pins: Path, pip_arguments: Sequence[str], say: Say, lock: int) -> bool:
    place = folder() / name
    log = folder() / f"{name}.log"
    release = of_environment(name)
    log.unlink(missing_ok=True)
    if state(name) is not State.MISSING and not _runs(release.python):
        say("what is there does not run; made anew")
    if not _runs(release.python):
        say("making a venv")
        _call([sys.executable, "-m", "venv", "--clear", str(place)], log, release, say, lock)
    pip = ["-m", "pip", "install", "--disable-pip-version-check", "--progress-bar", "off"]
    wanted = ["--constraint", str(pins), *pip_arguments, *_packages(release)]
    _call([str(release.python), *pip, *wanted], log, release, say, lock)
    if CHECKOUT is None:
        link_package(next(place.glob("lib/python*/site-packages")))
    say("trying a worker")
    # It imports everything, and then only says how it is called.
    _call(
        [str(release.python), "-m", "relaxcheck.harness.workers.zygote", "--help"],
        log,
        release,
        say,
        lock,
    )
    declare_ready(name)
    return True


def _packages(release: Release) -> list[str]:
    """The arguments for pip: relaxcheck editable from a checkout, else its dependencies alone.

    The prover is always among them, so that releases do not differ by it. With TIRx alone there are
    neither: no more than the analyzer and what asks it.
    """
    if not release.has_relax:
        return list(_ALONE)
    if CHECKOUT:
        return ["--editable", f"{CHECKOUT}[prover]"]
    # Each as "z3-solver>=4.13; extra == 'prover'", or without a condition.
    needed = (text.partition(";") for text in metadata.requires("relaxcheck") or ())
    return [package for package, _, when in needed if not when or "prover" in when]


def _runs(python: Path) -> bool:
    with suppress(OSError):
        return (
            subprocess.run([python, "-m", "pip", "--version"], capture_output=True).returncode == 0
        )
    return False


def _call(command: list[str], log: Path, release: Release, say: Say, lock: int) -> None:
    """Run ``command`` to its end; append it and its output to ``log``."""
    with (
        log.open("a") as kept,
        subprocess.Popen(
            command,
            env=environment(release),
            cwd=WORKING,
            pass_fds=(lock,),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        ) as process,
    ):
        assert process.stdout is not None
        # Not the rest of it: an index may be named with a password.
        kept.write(f"$ {shlex.join(command[:_SHOWN])}\n")
        lines = []
        try:
            for line in process.stdout:
                kept.write(line)
                lines.append(line.strip())
                if lines[-1].startswith(_SAID_BY_PIP):
                    say(lines[-1])
        except BaseException:
            # It would go on beside the installation that completes this one.
            process.terminate()
            raise
    if process.returncode:
        raise ReleaseError(f"TVM {release.name}: {_last_error(lines)} (all of it: {log})")


def _last_error(lines: Sequence[str]) -> str:
    """The last line of a failed command's output, or the line that it marks as an error."""
    words = [line for line in lines if line] or ["it failed without a word"]
    errors = [line for line in words if line.startswith(_ERROR)]
    return (errors or words)[-1].removeprefix(_ERROR)
