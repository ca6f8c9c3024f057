"""Asks the TVM of a release for names, in a process of its environment."""

import subprocess

import msgspec

from relaxcheck.fixes.sym_api.root import TVM
from relaxcheck.harness.paths import WORKING
from relaxcheck.harness.releases.doctor.shape import Signature
from relaxcheck.harness.releases.processes import running
from relaxcheck.harness.releases.releases import Release, ReleaseError, environment

_MODULE = "relaxcheck.harness.releases.doctor.looking"
_SECONDS = 900


class Question(msgspec.Struct, frozen=True):
    """The names to look for; ``members`` in all classes among ``paths``.

    ``search``: say where names are that are missing. ``root`` is the package that is imported: two
    of TVM do not go together in one process.
    """

    paths: tuple[str, ...]
    members: tuple[str, ...] = ()
    globals: tuple[str, ...] = ()
    operators: tuple[str, ...] = ()
    search: bool = False
    root: str = TVM


class There(msgspec.Struct, frozen=True):
    """A name that is there: a module, class, function, member or value; its signature if known."""

    kind: str
    signature: Signature | None = None


class Looked(msgspec.Struct, frozen=True):
    """The answer: by name, what is there. ``elsewhere`` has places of the same last name.

    ``beside`` has the names in each package or class that lacks some.
    """

    version: str
    error: str
    paths: dict[str, There | None]
    members: dict[str, dict[str, There]]
    globals: tuple[str, ...]
    operators: tuple[str, ...]
    elsewhere: dict[str, tuple[str, ...]]
    beside: dict[str, tuple[str, ...]]


def ask(release: Release, question: Question) -> Looked:
    """Ask ``release``; takes as long as importing TVM.

    Raises:
        ReleaseError: its process does not start, or ends early.
    """
    command = [str(release.python), "-m", _MODULE]
    asked = msgspec.json.encode(question)
    try:
        with running(command, environment(release), WORKING, subprocess.PIPE) as process:
            output, errors = process.communicate(asked, timeout=_SECONDS)
    except OSError as error:
        raise ReleaseError(f"{release.title}: {error}") from error
    except subprocess.TimeoutExpired as error:
        raise ReleaseError(f"{release.title}: no answer within {_SECONDS} s") from error
    try:
        return msgspec.json.decode(_last(output), type=Looked)
    except msgspec.DecodeError as error:
        lines = errors.decode(errors="replace").strip().splitlines() or [str(error)]
        raise ReleaseError(f"{release.title}: the doctor's process ended: {lines[-1]}") from error


def _last(output: bytes) -> bytes:
    """The last line: a TVM, or its environment, may write before the answer."""
    return output.strip().rpartition(b"\n")[2]
