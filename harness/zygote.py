"""The zygote: imports TVM, PyTorch and ONNX Runtime once, then forks workers from that state.

It stays single-threaded and never compiles anything itself, so every worker starts from the same
untouched state, in milliseconds. The engine commands it over a socket: ``fork`` (with the worker's
socket, marker and log as file descriptors) and ``reap``.
"""

import argparse
import ctypes
import mmap
import os
import signal
import socket
import threading

import msgspec

from harness import marker, worker
from harness.environment import versions
from harness.protocol import Command, Reply

_PR_SET_PDEATHSIG = 1


def main() -> None:
    """Serve the engine on the socket whose file descriptor is the first argument."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("descriptor", type=int)
    engine = socket.socket(fileno=parser.parse_args().descriptor)
    _die_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if threading.active_count() != 1:
        raise RuntimeError("the zygote must be single-threaded to fork workers")
    _send(engine, Reply(environment=versions()))
    while True:
        message, descriptors, _, _ = socket.recv_fds(engine, 4096, 3)
        if not message:
            return
        command = msgspec.json.decode(message, type=Command)
        if command.verb == "fork":
            pid = os.fork()
            if pid == 0:
                engine.close()
                connection, shared, log = descriptors
                _become_worker(connection, shared, log, command.memory_limit)
            for descriptor in descriptors:
                os.close(descriptor)
            _send(engine, Reply(pid=pid))
        else:
            _, status = os.waitpid(command.pid, 0)
            ended = os.waitstatus_to_exitcode(status)
            _send(
                engine,
                Reply(
                    command.pid,
                    signal=-ended if ended < 0 else None,
                    exit_code=ended if ended >= 0 else None,
                ),
            )


def _become_worker(connection: int, shared: int, log: int, memory_limit: int) -> None:
    # os._exit in every case: a worker must never fall back into the zygote's loop.
    code = 70
    try:
        _die_with_parent()
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


def _die_with_parent() -> None:
    """Ask the kernel to kill this process when its parent ends, whatever it is doing then."""
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def _send(engine: socket.socket, reply: Reply) -> None:
    engine.sendall(msgspec.json.encode(reply) + b"\n")


if __name__ == "__main__":
    main()
