"""A question to the running TVM in a child process: the answer may be the death of the asker.

The child is a fork, so a question is a plain function, and what it does to TVM is gone with it.
"""

import os
import resource
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NoReturn

SECONDS = 60
"""How long a child may think; far more than any question takes, on a machine that is busy."""

_YES, _NO, _RAISED = 0, 1, 2
_SIGNALS = (signal.SIGSEGV, signal.SIGFPE, signal.SIGABRT, signal.SIGBUS, signal.SIGILL)
_LENGTH = 500
_STANDARD_ERROR = 2


class AskingError(Exception):
    """A question had no answer, which is no fault of TVM's: why, in one line."""


def asked(question: Callable[[], bool], seconds: int = SECONDS) -> tuple[bool, int]:
    """What ``question()`` says in a child process, or True and the signal that the child died of.

    One that has not answered after ``seconds`` dies of SIGALRM.

    Raises:
        AskingError: it raised, or was ended by a signal that says nothing of TVM.
    """
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        os.close(reader)
        _answer(question, writer, seconds)
    os.close(writer)
    try:
        with os.fdopen(reader, "rb") as said:
            error = said.read().decode(errors="replace")
    except BaseException:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        raise
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if code >= 0 and code not in (_YES, _NO):
        raise AskingError(error or f"ended with {code}")
    if code < 0 and -code not in (*_SIGNALS, signal.SIGALRM):
        raise AskingError(f"ended by {signal.Signals(-code).name}")
    return code != _NO, max(-code, 0)


@contextmanager
def unheard() -> Iterator[None]:
    """Nothing that is written to standard error meanwhile is seen, whoever writes it.

    A question may make TVM raise on purpose, and its C++ then warns of what was being built.
    """
    try:
        heard = os.dup(_STANDARD_ERROR)
    except OSError:
        # It is closed: there is nothing to be heard.
        yield
        return
    if sys.stderr is not None:
        sys.stderr.flush()
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, _STANDARD_ERROR)
    os.close(nowhere)
    try:
        yield
    finally:
        os.dup2(heard, _STANDARD_ERROR)
        os.close(heard)


def _answer(question: Callable[[], bool], writer: int, seconds: int) -> NoReturn:
    """Answer by the exit code, and end."""
    code = _RAISED
    try:
        for number in _SIGNALS:
            # Whoever handles these would write a stack trace to our standard error.
            signal.signal(number, signal.SIG_DFL)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        signal.alarm(seconds)
        code = _YES if question() else _NO
    except Exception as error:
        line = " ".join(f"{type(error).__name__}: {error}".split())
        os.write(writer, line[:_LENGTH].encode())
    finally:
        os._exit(code)
