"""Making the environment of a release: a venv, the pinned packages, a worker tried in it."""

import fcntl
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from harness.releases import (
    CHECKOUT,
    Release,
    ReleaseError,
    State,
    constraints,
    declare_ready,
    environment,
    folder,
    interpreter,
    state,
)

Say = Callable[[str], None]
"""Is told what is being done, a short line each time."""

_SAID_BY_PIP = ("Collecting ", "Downloading ", "Building ", "Installing ", "Successfully ")
_ERROR = "ERROR: "
_TOLD = 4
"""Words of a command that are written to the log: ``python -m pip install``."""


def install(name: str, pip_arguments: Sequence[str], say: Say) -> bool:
    """Make the environment of the release ``name``, or complete it; whether anything was to do.

    A venv that is there is used again, with what pip had installed when it was interrupted; one
    whose Python does not run is made anew. It counts as installed once a worker started in it.
    All that the commands said is in ``NAME.log`` beside it.

    Raises:
        ReleaseError: no such release, another process is installing it, or it cannot be made: what
            pip said last, where all of it is.
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
    """Let no other process install ``name``; the lock goes with the last one that has the file.

    Given is its descriptor, for commands to inherit: what is killed leaves its pip behind.
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
    release = Release(name, interpreter(name))
    log.unlink(missing_ok=True)
    if state(name) is not State.MISSING and not _runs(release.python):
        say("what is there does not run; made anew")
    if not _runs(release.python):
        say("making a venv")
        _call([sys.executable, "-m", "venv", "--clear", str(place)], log, release, say, lock)
    pip = ["-m", "pip", "install", "--disable-pip-version-check", "--progress-bar", "off"]
    # With what the prover may ask, so that a release is not told from another by that.
    ours = f"{CHECKOUT}[prover]"
    wanted = ["--constraint", str(pins), *pip_arguments, "--editable", ours]
    _call([str(release.python), *pip, *wanted], log, release, say, lock)
    say("trying a worker")
    # It imports everything, and then only says how it is called.
    _call([str(release.python), "-m", "harness.zygote", "--help"], log, release, say, lock)
    declare_ready(name)
    return True


def _runs(python: Path) -> bool:
    with suppress(OSError):
        return (
            subprocess.run([python, "-m", "pip", "--version"], capture_output=True).returncode == 0
        )
    return False


def _call(command: list[str], log: Path, release: Release, say: Say, lock: int) -> None:
    """Run ``command`` to its end; all that it says is added to ``log``, after it itself."""
    with (
        log.open("a") as kept,
        subprocess.Popen(
            command,
            env=environment(release),
            cwd=CHECKOUT,
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
        kept.write(f"$ {shlex.join(command[:_TOLD])}\n")
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
    """What a command that failed said last, its error where it marks one."""
    said = [line for line in lines if line] or ["it failed without a word"]
    errors = [line for line in said if line.startswith(_ERROR)]
    return (errors or said)[-1].removeprefix(_ERROR)
