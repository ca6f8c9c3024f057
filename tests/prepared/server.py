"""A process that has imported TVM, PyTorch and ONNX Runtime, and forks others from that state.

It stays single-threaded and runs nothing itself. ``python -m tests.prepared.server DESCRIPTOR``
answers each request on that socket with the number of a process that is then a child of whoever
asked: its first parent has ended, and who asks adopts orphans meanwhile. With modules as further
arguments it imports these, and no TVM.
"""

import atexit
import contextlib
import fcntl
import gc
import importlib
import os
import pkgutil
import runpy
import signal
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Sequence

import msgspec

from relaxcheck import cli
from relaxcheck.harness import kinds
from tests.prepared import needs, starting
from tests.prepared.request import LARGEST, MOST_DESCRIPTORS, Request
from tests.torch_exports import hasten

_SPARE = 512
"""A number above those of all file descriptors that a process has open."""
_SHARING = (
    starting.COMMAND_LINE,
    "relaxcheck.harness.models.child",
    "relaxcheck.harness.workers.zygote",
)
"""Modules that put the fixes on, in the TVM that they import."""
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""Sent to whole groups of processes. Whoever asked decides what ends."""


def main() -> None:
    """Serve on the socket whose file descriptor is the first argument, until it is closed."""
    # Memory that nobody collects in is shared.
    gc.disable()
    modules = sys.argv[2:]
    for module in modules:
        importlib.import_module(module)
    if not modules:
        for kind in kinds.every():
            kind.prepare()
            kind.warm()
        for command in pkgutil.walk_packages(cli.__path__, f"{cli.__name__}."):
            importlib.import_module(command.name)
        hasten()
    kinds.families()
    gc.freeze()
    gc.enable()
    if threading.active_count() != 1:
        raise RuntimeError("only a process of a single thread can be forked")
    for number in _SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    connection = socket.socket(fileno=int(sys.argv[1]))
    while True:
        request, descriptors = _requested(connection)
        within = _serve_from(request, descriptors)
        if within is None:
            return _run(request, descriptors)
        connection.close()
        connection = within


def _requested(connection: socket.socket) -> tuple[Request, Sequence[int]]:
    """Fork for each request on ``connection``; returns in the new process, with its request."""
    while True:
        message, descriptors, _, _ = socket.recv_fds(connection, LARGEST, MOST_DESCRIPTORS)
        if not message:
            # To unload everything would take a second.
            os._exit(0)
        numbers, answer = os.pipe()
        between = os.fork()
        if between == 0:
            parent = os.getpid()
            pid = os.fork()
            if pid:
                os.write(answer, str(pid).encode())
                os._exit(0)
            while os.getppid() == parent:
                time.sleep(0.001)
            return msgspec.json.decode(message, type=Request), descriptors
        for descriptor in (answer, *descriptors):
            os.close(descriptor)
        os.waitpid(between, 0)
        connection.send(os.read(numbers, 20))
        os.close(numbers)


def _serve_from(request: Request, descriptors: Sequence[int]) -> socket.socket | None:
    """Fork a server for what the command line starts itself; returns its socket in that process."""
    if request.module != starting.COMMAND_LINE:
        return None
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    if os.fork() == 0:
        ours.close()
        for descriptor in descriptors:
            os.close(descriptor)
        return theirs
    theirs.close()
    # A number that the program's own file descriptors do not get.
    kept = fcntl.fcntl(ours, fcntl.F_DUPFD_CLOEXEC, 2 * _SPARE)
    ours.close()
    starting.install(socket.socket(fileno=kept))
    return None


def _run(request: Request, descriptors: Sequence[int]) -> None:
    """Be the process that ``request`` asks for."""
    _take(descriptors, request.descriptors)
    for number in _SIGNALS:
        default = number is signal.SIGINT
        signal.signal(number, signal.default_int_handler if default else signal.SIG_DFL)
    if request.new_session:
        os.setsid()
    if request.group >= 0:
        os.setpgid(0, request.group)
    shared = needs.note(os.environ)
    os.environ.clear()
    os.environ.update(request.environment)
    os.chdir(request.folder)
    tempfile.tempdir = None
    first = os.path.dirname(request.script) if request.script else request.folder
    sys.path[:] = [first, *request.search, *sys.path[1:]]
    sys.argv[:] = [request.script, *request.arguments]
    if request.module in _SHARING and shared is not None:
        needs.share(shared)
    code = _code(request)
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    with contextlib.suppress(BrokenPipeError):
        sys.stdout.flush()
        # To unload TVM, PyTorch and ONNX Runtime takes a third of a second.
        os._exit(code)
    sys.exit(code)


def _code(request: Request) -> int:
    """Run what ``request`` asks for; returns the exit code, as the interpreter would have it."""
    try:
        if request.script:
            runpy.run_path(request.script, run_name="__main__")
        else:
            # It runs as a module of its own, whoever has imported it.
            sys.modules.pop(request.module, None)
            runpy.run_module(request.module, run_name="__main__", alter_sys=True)
    except SystemExit as error:
        if error.code is None or isinstance(error.code, int):
            return (error.code or 0) & 0xFF
        print(error.code, file=sys.stderr)
        return 1
    except Exception:
        sys.excepthook(*sys.exc_info())
        return 1
    return 0


def _take(descriptors: Sequence[int], numbers: Sequence[int]) -> None:
    """Give ``descriptors`` their ``numbers``, and close all others."""
    spare = [fcntl.fcntl(each, fcntl.F_DUPFD, _SPARE) for each in descriptors]
    os.closerange(0, _SPARE)
    for each, number in zip(spare, numbers, strict=True):
        os.dup2(each, number)
        os.close(each)


if __name__ == "__main__":
    main()
