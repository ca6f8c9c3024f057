"""Asks the running TVM a question in a forked child, which TVM may kill.

A question is a plain function. Its effects on TVM end with the child.
"""

import os
import resource
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NoReturn

SECONDS = 60
"""Time limit of a child in seconds; generous, for a busy machine."""

_YES, _NO, _RAISED = 0, 1, 2
_SIGNALS = (signal.SIGSEGV, signal.SIGFPE, signal.SIGABRT, signal.SIGBUS, signal.SIGILL)
_LENGTH = 500
_STANDARD_ERROR = 2


class AskingError(Exception):
    """A question got no answer, and TVM is not to blame; the message is one line."""


def ask_child(question: Callable[[], bool], seconds: int = SECONDS) -> tuple[bool, int]:
    """Call ``question`` in a child process: its answer and 0, or True and the signal that killed
    it.

    A child that has not answered after ``seconds`` dies of SIGALRM.

    Raises:
        AskingError: the question raised, or a signal that says nothing about TVM ended the child.
    """
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        os.close(reader)
        _answer(question, writer, seconds)
    os.close(writer)
    try:
        with os.fdopen(reader, "rb") as answer:
            error = answer.read().decode(errors="replace")
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
def stderr_discarded() -> Iterator[None]:
    """Discard everything written to standard error, including by C++.

    A question may make TVM raise on purpose, and TVM's C++ then prints warnings.
    """
    try:
        heard = os.dup(_STANDARD_ERROR)
    except OSError:
        # Standard error is closed: nothing to discard.
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
    """Exit with the answer as exit code."""
    code = _RAISED
    try:
        for number in _SIGNALS:
            # A handler would write a stack trace to our standard error.
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
