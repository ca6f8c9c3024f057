"""Work that is spread over processes which do not outlive the measurement."""

import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager
from functools import partial
from typing import Any

from relaxcheck.harness.campaign.interruption import SIGNALS

Submit = Callable[..., "Future[Any]"]
"""Has a function called with arguments in one of the processes, once one is free."""


@contextmanager
def processes(workers: int, *, start: str) -> Iterator[Submit]:
    """So many processes, started in the way that ``start`` ("fork", "spawn") names.

    Where the body ends by an exception, an interrupt for one, what they are doing is interrupted
    too, and what they have not begun is not begun: their work can take minutes.
    """
    before = set(multiprocessing.active_children())
    executor = ProcessPoolExecutor(
        workers,
        mp_context=multiprocessing.get_context(start),
        initializer=_answer,
        initargs=(signal.SIG_DFL,),
    )
    try:
        yield partial(executor.submit, _until_asked)
    except BaseException:
        for child in set(multiprocessing.active_children()) - before:
            child.terminate()
        raise
    finally:
        executor.shutdown(wait=True, cancel_futures=True)


def _until_asked(function: Callable[..., Any], *arguments: Any) -> Any:
    try:
        _answer(_end)
        return function(*arguments)
    except KeyboardInterrupt:
        # The work's files and processes are closed by now. Other work may be queued behind it.
        os._exit(128 + signal.SIGTERM)
    finally:
        _answer(signal.SIG_DFL)


def _end(number: int, frame: object) -> None:
    # Once: a terminal signals all, the parent signals again, and what closes is not to be cut.
    _answer(signal.SIG_IGN)
    raise KeyboardInterrupt


def _answer(handler: Any) -> None:
    for number in SIGNALS:
        signal.signal(number, handler)
