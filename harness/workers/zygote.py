"""The zygote: imports TVM, PyTorch and ONNX Runtime once, then forks workers from that state.

Where there is TIRx alone, it imports that and no oracle.

It stays single-threaded and never compiles anything itself, so every worker starts from the same
untouched state, in milliseconds. The engine commands it over a socket: ``fork`` (with the worker's
socket, marker and log as file descriptors) and ``reap``.
"""

import argparse
import contextlib
import ctypes
import gc
import mmap
import os
import shutil
import signal
import socket
import sys
import threading
from collections.abc import Collection
from pathlib import Path

import msgspec

from relaxcheck.extensions.entry_points import broken
from relaxcheck.extensions.naming import ExtensionError
from relaxcheck.fixes.sym_api import root as roots
from relaxcheck.harness import kinds
from relaxcheck.harness.releases.environment import OF_TIRX, versions
from relaxcheck.harness.workers import marker, worker
from relaxcheck.harness.workers.protocol import SCRATCH, BundledFix, Command, Reply

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36


def _environment() -> dict[str, str]:
    """The versions of this environment; TVM's is that of the imported module, if there is one.

    A source build of TVM is no installed package, and a zygote need not import TVM at all.
    """
    environment = versions()
    if roots.TVM in sys.modules:
        environment["apache-tvm"] = str(sys.modules[roots.TVM].__version__)
    elif roots.TIRX in sys.modules:
        environment["apache-tvm"] = f"{OF_TIRX}{sys.modules[roots.TIRX].__version__}"
    return environment


def _fixes() -> tuple[BundledFix, ...]:
    """Every fix, where TVM is imported: none can be put on without it."""
    if roots.TVM not in sys.modules:
        return ()
    from relaxcheck.harness.workers.switching import bundled

    return bundled()


def main() -> None:
    """Serve the engine on the socket whose file descriptor is the first argument."""
    # Modules live as long as this process: collecting among their objects costs a tenth of the
    # imports here, and in each worker the memory that it would share.
    gc.disable()
    # Before --help: installing a release checks with it that these imports succeed.
    try:
        for kind in kinds.every():
            kind.prepare()
    except ExtensionError as error:
        # The engine quotes the last line.
        sys.exit(str(error))
    gc.freeze()
    gc.enable()
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("descriptor", type=int)
    engine = socket.socket(fileno=parser.parse_args().descriptor)
    _process_control(_PR_SET_CHILD_SUBREAPER, 1)
    # Terminals and job managers send these to all processes; the engine decides what to do.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    _check_alone()
    # The engine's end closes when it dies, however it dies; then no process may remain.
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        own = _children()
        fixes = _fixes()
        _send(engine, Reply(environment=_environment(), fixes=fixes, broken=broken()))
        _serve(engine, own)
    _end_orphans(set())
    if SCRATCH in os.environ:
        shutil.rmtree(os.environ[SCRATCH], ignore_errors=True)
    # Unloading everything would take seconds, and is of no use.
    os._exit(0)


def _serve(engine: socket.socket, own: set[int]) -> None:
    """Execute commands until the engine is gone; ``own`` are children that stay."""
    workers: set[int] = set()
    warm: set[str] = set()
    while True:
        message, descriptors, _, _ = socket.recv_fds(engine, 4096, 3)
        if not message:
            return
        command = msgspec.json.decode(message, type=Command)
        if command.verb == "fork":
            _warm(set(command.kinds) - warm)
            warm.update(command.kinds)
            pid = os.fork()
            if pid == 0:
                engine.close()
                connection, shared, log = descriptors
                _become_worker(connection, shared, log, command.memory_limit)
            for descriptor in descriptors:
                os.close(descriptor)
            # A process group, to end its children with it.
            os.setpgid(pid, pid)
            workers.add(pid)
            _send(engine, Reply(pid=pid))
        else:
            _, status = os.waitpid(command.pid, 0)
            workers.discard(command.pid)
            _end_orphans(own | workers)
            ended = os.waitstatus_to_exitcode(status)
            _send(
                engine,
                Reply(
                    command.pid,
                    signal=-ended if ended < 0 else None,
                    exit_code=ended if ended >= 0 else None,
                ),
            )


def _warm(names: Collection[str]) -> None:
    """Warm the kinds of these ``names``: workers share the memory of all that it makes."""
    if not names:
        return
    gc.disable()
    for kind in kinds.every():
        if kind.name in names:
            kind.warm()
    gc.freeze()
    gc.enable()
    _check_alone()


def _check_alone() -> None:
    if threading.active_count() != 1:
        raise RuntimeError("the zygote must be single-threaded to fork workers")


def _children() -> set[int]:
    """The children of this process, orphans of workers among them."""
    listed = Path(f"/proc/self/task/{os.getpid()}/children")
    return set(map(int, listed.read_text().split())) if listed.exists() else set()


def _end_orphans(others: set[int]) -> None:
    """End processes that workers left behind, in any session: all children but ``others``.

    If the kernel lists no children, only a worker's process group ends with it.
    """
    while orphans := _children() - others:
        for pid in orphans:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)


def _become_worker(connection: int, shared: int, log: int, memory_limit: int) -> None:
    # os._exit in every case: a worker must never fall back into the zygote's loop.
    code = 70
    try:
        # It must also end if the zygote is killed.
        _process_control(_PR_SET_PDEATHSIG, signal.SIGKILL)
        os.dup2(log, 1)
        os.dup2(log, 2)
        worker.serve(
            socket.socket(fileno=connection),
            mmap.mmap(shared, marker.SIZE),
            log,
            memory_limit,
        )
        code = 0
    except BrokenPipeError:
        code = 0
    finally:
        os._exit(code)


def _process_control(option: int, value: int) -> None:
    ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0)


def _send(engine: socket.socket, reply: Reply) -> None:
    engine.sendall(msgspec.json.encode(reply) + b"\n")


if __name__ == "__main__":
    main()
