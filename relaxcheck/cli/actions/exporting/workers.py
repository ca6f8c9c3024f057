"""The workers of exports, on every release, and TVM with patches in copies."""

import contextlib
import tempfile
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any, Protocol, Self, TypeVar

from relaxcheck.harness.releases.patched_copy import PatchedCopy, patched_copy
from relaxcheck.harness.releases.processes import end_all
from relaxcheck.harness.releases.releases import release
from relaxcheck.harness.workers.jobs import Limits
from relaxcheck.harness.workers.pool import Pool

T = TypeVar("T")

_BESIDE = 2
"""Threads beside the caller's: each waits for a process, mostly one that imports a TVM."""

Names = tuple[str, ...]

Say = Callable[[str], None]
"""Called with each step as it begins."""


class Submit(Protocol):
    """Submits work that runs beside other work."""

    def __call__(self, function: Callable[..., T], /, *arguments: object) -> "Future[T]":
        """Call ``function`` with ``arguments`` once a thread is free."""


class Workers:
    """A pool with one worker for each release, and copies of TVM with patches, made when needed.

    A release takes seconds to import: ``begin`` starts its pool beside other work. Use as a context
    manager.
    """

    def __init__(self, limits: Limits):
        self.limits = limits
        self._pools: dict[str, Future[Pool]] = {}
        self._beside = ThreadPoolExecutor(max_workers=_BESIDE)
        self._copies: dict[tuple[str, Names, Names], tuple[PatchedCopy, Path]] = {}
        self._stack = contextlib.ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._beside.shutdown(cancel_futures=True)
        for begun in self._pools.values():
            if not begun.cancelled() and begun.exception() is None:
                self._stack.callback(begun.result().close)
        self._stack.close()

    def begin(self, names: Iterable[str]) -> None:
        """Start the pools of the releases ``names`` beside other work, in this order.

        Errors are those of ``of``, which raises them.
        """
        for name in names:
            if name not in self._pools:
                self._pools[name] = self._beside.submit(self._pool, name)

    def of(self, name: str) -> Pool:
        """The pool of the release ``name``.

        Raises:
            ReleaseError: it is not installed.
            PoolError: its workers do not start.
        """
        self.begin([name])
        return self._pools[name].result()

    @contextlib.contextmanager
    def beside(self) -> Iterator[Submit]:
        """Submit functions that run beside this thread's work, and begin in their order.

        No two may use the same pool, and none a pool that this thread uses. Those that have not
        begun at the end of the block are cancelled; it waits for the others. An exception ends
        the processes that they wait for, but for workers, which end their case.
        """
        begun: list[Future[Any]] = []

        def submit(function: Callable[..., T], /, *arguments: object) -> "Future[T]":
            future = self._beside.submit(function, *arguments)
            begun.append(future)
            return future

        try:
            yield submit
        except BaseException:
            end_all()
            raise
        finally:
            for future in begun:
                future.cancel()
            wait(begun)

    def _pool(self, name: str) -> Pool:
        return Pool(1, self.limits, release=release(name, alone=True))

    def copy(self, name: str, fixes: Names, operators: Names) -> tuple[PatchedCopy, Path]:
        """The patch of ``fixes``, and the folder with a copy of the release ``name`` that has it.

        With ``operators``, it has the parts of the fixes for these.

        Raises:
            ReleaseError: it is not installed, or the process that copies does not start.
        """
        key = name, fixes, operators
        if key not in self._copies:
            folder = tempfile.TemporaryDirectory(prefix="relaxcheck-tvm-")
            to = Path(self._stack.enter_context(folder))
            self._copies[key] = patched_copy(release(name), fixes, operators, to), to
        return self._copies[key]
