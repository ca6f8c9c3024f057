"""A campaign's shards on an existing Dask cluster: each is one task, run in processes of its own.

The optional package ``distributed`` is imported only where it is needed.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Self

import msgspec

from relaxcheck.generators.core.case import CaseError
from relaxcheck.harness.journal.journal import FILE_NAME, Journal
from relaxcheck.harness.journal.journal_file import whole
from relaxcheck.harness.paths import WORKING
from relaxcheck.harness.triage.finding import Finding

if TYPE_CHECKING:
    from distributed import Future

_CONNECT_SECONDS = 15
_LOOK_EVERY_SECONDS = 0.5


class ClusterError(CaseError):
    """The cluster cannot be used, in one line that says why."""


@dataclass(frozen=True, slots=True)
class Task:
    """One shard: its arguments for ``relaxcheck fuzz``, and the findings known before.

    ``stop`` names the Dask event that asks all shards to end.
    """

    number: int
    arguments: tuple[str, ...]
    known: tuple[bytes, ...]
    stop: str


@dataclass(frozen=True, slots=True)
class ShardResult:
    """The result of a shard: its journal as one file, its summary, and its last error line."""

    number: int
    journal: bytes | None
    summary: dict[str, Any]
    last_error: str


class Cluster:
    """The Dask cluster whose scheduler is at ``address``. Use as a context manager.

    Raises:
        ClusterError: ``distributed`` is not installed, or nobody answers.
    """

    def __init__(self, address: str):
        try:
            from distributed import Client, Event
        except ImportError as error:
            raise ClusterError(
                f"--cluster needs the package distributed ({error}): "
                "pip install 'relaxcheck[cluster]'"
            ) from error
        try:
            self._client: Client = Client(address, timeout=_CONNECT_SECONDS, set_as_default=False)
        except (OSError, TimeoutError, ValueError) as error:
            raise ClusterError(f"no Dask scheduler answers at {address}: {error}") from error
        self._stop = f"relaxcheck-stop-{self._client.id}"
        self._event = Event(self._stop, client=self._client)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *unused: object) -> None:
        self._client.close()

    @property
    def threads(self) -> int:
        """The number of tasks that can run at once."""
        return sum(self._client.nthreads().values())

    def run(
        self,
        arguments: Sequence[tuple[str, ...]],
        known: Sequence[Finding],
        asked: Callable[[], object],
    ) -> Iterator[ShardResult]:
        """Run a shard for each of ``arguments``; yield its result as it ends.

        Dask restarts a shard whose worker dies on another worker, a few times. As soon as ``asked``
        returns a reason, all shards are asked to end.
        """
        records = tuple(msgspec.json.encode(finding) for finding in known)
        running: dict[int, Future] = {}
        for number, argument in enumerate(arguments, 1):
            task = Task(number, argument, records, self._stop)
            # Not pure: the same shard again is another run.
            running[number] = self._client.submit(run_shard, task, pure=False)
        while running:
            for number, future in tuple(running.items()):
                if future.done():
                    del running[number]
                    yield self._part(number, future)
            if asked():
                self.stop()
            time.sleep(_LOOK_EVERY_SECONDS)

    def _part(self, number: int, future: "Future") -> ShardResult:
        if future.status == "finished":
            part: ShardResult = future.result()
            return part
        return ShardResult(number, None, {}, _reason(future.exception()))

    def stop(self) -> None:
        """Ask all shards to finish their running cases, and end."""
        self._event.set()


def run_shard(task: Task) -> ShardResult:
    """Run ``task`` to its end, in this Dask worker's folder; the processes die with the worker."""
    from distributed import Event, get_worker

    stop = Event(task.stop)
    with tempfile.TemporaryDirectory(dir=get_worker().local_directory) as folder:
        out, known = Path(folder, "out"), Path(folder, "known")
        arguments = [*task.arguments, "--out", str(out), "--format", "jsonl"]
        if task.known:
            _write_known(known, task.known)
            arguments += ["--known", str(known)]
        with (
            tempfile.TemporaryFile("w+", dir=folder) as stdout,
            tempfile.TemporaryFile("w+", dir=folder) as failed,
        ):
            process = subprocess.Popen(
                [
                    sys.executable,
                    "-m",
                    "relaxcheck.cli.bound",
                    str(os.getpid()),
                    "fuzz",
                    *arguments,
                ],
                cwd=WORKING,
                stdin=subprocess.DEVNULL,
                stdout=stdout,
                stderr=failed,
            )
            while True:
                try:
                    process.wait(_LOOK_EVERY_SECONDS)
                    break
                except subprocess.TimeoutExpired:
                    if stop.is_set():
                        process.terminate()
            summary, last_error = _last_line(stdout), _last_line(failed)
        journal = whole(out / FILE_NAME) if (out / FILE_NAME).is_file() else None
    return ShardResult(
        task.number,
        journal,
        json.loads(summary) if summary else {},
        last_error or f"exit code {process.returncode}",
    )


def _write_known(folder: Path, records: Sequence[bytes]) -> None:
    with Journal(folder) as journal:
        for number, record in enumerate(records):
            journal.write_finding(str(number), record)


def _last_line(file: IO[str]) -> str:
    file.seek(0)
    last = ""
    for line in file:
        last = line.strip() or last
    return last


def _reason(error: BaseException | None) -> str:
    """Dask's reason to give a task up, in one line."""
    words = " ".join(str(error).split())
    return f"{type(error).__name__}: {words}"
