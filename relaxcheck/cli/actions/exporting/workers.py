"""The workers of exports, on every release, and TVM with patches in copies."""

import contextlib
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Self

from relaxcheck.harness.releases.patched_copy import PatchedCopy, patched_copy
from relaxcheck.harness.releases.releases import release
from relaxcheck.harness.workers.jobs import Limits
from relaxcheck.harness.workers.pool import Pool, PoolError

Say = Callable[[str], None]
"""Called with each step as it begins."""


class Workers:
    """A pool with one worker for each release, and copies of TVM with patches, made when needed.

    Use as a context manager.
    """

    def __init__(self, limits: Limits):
        self.limits = limits
        self._pools: dict[str, Pool] = {}
        self._broken: dict[str, str] = {}
        self._copies: dict[tuple[str, tuple[str, ...]], tuple[PatchedCopy, Path]] = {}
        self._stack = contextlib.ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._stack.close()

    def of(self, name: str) -> Pool:
        """The pool of the release ``name``.

        Raises:
            ReleaseError: it is not installed.
            PoolError: its workers do not start.
        """
        if name in self._broken:
            raise PoolError(self._broken[name])
        if name not in self._pools:
            try:
                pool = Pool(1, self.limits, release=release(name))
            except PoolError as error:
                self._broken[name] = str(error)
                raise
            self._pools[name] = self._stack.enter_context(pool)
        return self._pools[name]

    def copy(self, name: str, fixes: tuple[str, ...]) -> tuple[PatchedCopy, Path]:
        """The patch of ``fixes``, and the folder with a copy of the release ``name`` that has it.

        Raises:
            ReleaseError: it is not installed, or the process that copies does not start.
        """
        if (name, fixes) not in self._copies:
            folder = tempfile.TemporaryDirectory(prefix="relaxcheck-tvm-")
            to = Path(self._stack.enter_context(folder))
            self._copies[name, fixes] = patched_copy(release(name), fixes, to), to
        return self._copies[name, fixes]
