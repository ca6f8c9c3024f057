"""``subprocess`` starts Python processes that need TVM as forks of one that has imported it.

To import TVM, PyTorch and ONNX Runtime takes three seconds, as long as most tests that start such a
process take in all. The new process has its own arguments, environment, folder and file
descriptors, and is a child of this one. The one difference: modules are there before it begins.
"""

import ctypes
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from tests.prepared.request import Request

COMMAND_LINE = "relaxcheck"
WITH_TVM = (
    COMMAND_LINE,
    "relaxcheck.harness.models.child",
    "relaxcheck.harness.releases.patching",
    "relaxcheck.harness.releases.surveying",
    "relaxcheck.harness.workers.zygote",
    "tests.harness.triage.bisection.wrong_pass_zygote",
    "tests.measure.quality.control.zygote",
    "tests.measure.quality.onnx.zygote",
)
"""Modules that run so, none of which has to come before the imports. Others
start as they do anywhere."""
WITHOUT_TVM = ("tests.harness.toy_zygote", "tests.harness.workers.hostile_zygote")
"""Modules that run as forks of a second such process, which has imported these alone."""

_PR_SET_CHILD_SUBREAPER = 36
_AT_THE_START = ("LD_", "PYTHON", "TVM_", "MALLOC_")
"""Beginnings of variables that count when a process starts, or imports: no fork has others."""
_SEARCH = "PYTHONPATH"
_IMPORTED = ("numpy", "onnx", "onnxruntime", "relaxcheck", "torch", "tvm")
"""Modules that are there before the process begins."""
_ROOT = Path(__file__).resolve().parents[2]

_fork_exec: Any = subprocess._fork_exec  # type: ignore[attr-defined]


def install(connection: socket.socket | None = None) -> "Forks":
    """Have ``subprocess`` start them so, by the server on ``connection`` or a new one."""
    forks = Forks(connection)
    subprocess._fork_exec = forks.fork_exec  # type: ignore[attr-defined]
    return forks


class Forks:
    """Forks the servers, and starts them at their first use.

    A ``connection`` leads to the one with TVM, if that has started.
    """

    def __init__(self, connection: socket.socket | None) -> None:
        self._connections = {} if connection is None else {True: connection}
        """By whether the server has TVM."""
        self._lock = threading.Lock()
        self._started = _counting(os.environ)

    def close(self) -> None:
        """Start processes as anywhere again, and end the server."""
        subprocess._fork_exec = _fork_exec  # type: ignore[attr-defined]
        for connection in self._connections.values():
            connection.close()

    def fork_exec(
        self,
        command: Sequence[str | bytes | os.PathLike[str]],
        executables: object,
        close: object,
        kept: Sequence[int],
        folder: str | None,
        variables: Sequence[bytes] | None,
        *others: Any,
    ) -> int:
        """Start a process, as the function of ``subprocess`` does that this stands for."""
        words = [os.fsdecode(word) for word in command]
        environment = _decoded(variables)
        module, script = _program(words)
        place = os.path.abspath(folder or os.curdir)
        script = script and os.path.join(place, script)
        search = tuple(filter(None, environment.get(_SEARCH, "").split(os.pathsep)))
        if (
            not (module or script)
            or _counting(environment) != self._started
            or any(map(_elsewhere, (os.path.dirname(script) or place, *search)))
        ):
            return int(_fork_exec(command, executables, close, kept, folder, variables, *others))
        stdin, _, _, stdout, _, stderr, _, errors, _, new_session, group, *_ = others
        streams = {number: max(each, number) for number, each in enumerate((stdin, stdout, stderr))}
        streams |= {each: each for each in kept if each != errors}
        request = Request(
            arguments=tuple(words[3 if module else 2 :]),
            folder=place,
            environment=environment,
            descriptors=tuple(streams),
            module=module,
            script=script,
            search=search,
            new_session=bool(new_session),
            group=group,
        )
        return self._fork(request, tuple(streams.values()))

    def _fork(self, request: Request, descriptors: Sequence[int]) -> int:
        with_tvm = request.module not in WITHOUT_TVM
        with self._lock:
            if with_tvm not in self._connections:
                self._connections[with_tvm] = _server(() if with_tvm else WITHOUT_TVM)
            connection = self._connections[with_tvm]
            # The process is an orphan at first. In between no other is adopted: it would stay.
            _adopt(True)
            try:
                message = msgspec.json.encode(request)
                socket.send_fds(connection, [message], list(descriptors))
                answer = connection.recv(20)
            finally:
                _adopt(False)
        if not answer:
            raise RuntimeError("the process that is forked has ended")
        return int(answer)


def _server(modules: Sequence[str]) -> socket.socket:
    """Start the server that has imported ``modules``, or TVM if there are none."""
    from relaxcheck.harness.native.memory import WITHOUT_CACHE
    from relaxcheck.harness.releases.environment import single_threaded

    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    subprocess.Popen(
        [sys.executable, "-m", "tests.prepared.server", str(theirs.fileno()), *modules],
        env=single_threaded() | WITHOUT_CACHE | {_SEARCH: os.pathsep.join([str(_ROOT), *sys.path])},
        pass_fds=[theirs.fileno()],
        stdin=subprocess.DEVNULL,
        cwd=_ROOT,
        start_new_session=True,
    )
    theirs.close()
    return ours


def _program(words: Sequence[str]) -> tuple[str, str]:
    """The module, and the script, that ``words`` run in a fork; both are empty if neither."""
    if len(words) < 2 or words[0] != sys.executable:
        return "", ""
    if words[1] == "-m":
        return words[2] if words[2] in (*WITH_TVM, *WITHOUT_TVM) else "", ""
    return "", words[1] if words[1].endswith(".py") else ""


def _decoded(variables: Sequence[bytes] | None) -> dict[str, str]:
    if variables is None:
        return dict(os.environ)
    parts = [each.partition(b"=") for each in variables]
    return {os.fsdecode(name): os.fsdecode(value) for name, _, value in parts}


def _counting(variables: Mapping[str, str]) -> dict[str, str]:
    """Those that a fork cannot have otherwise."""
    return {
        name: value
        for name, value in variables.items()
        if name.startswith(_AT_THE_START) and name != _SEARCH
    }


def _elsewhere(folder: str) -> bool:
    """True if modules that are imported before the fork may be others in ``folder``."""
    return folder not in sys.path and any(
        Path(folder, file).exists() for name in _IMPORTED for file in (name, f"{name}.py")
    )


def _adopt(orphans: bool) -> None:
    """Have processes whose parent ends become children of this one, or no longer."""
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, int(orphans), 0, 0, 0)
