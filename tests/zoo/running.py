"""Runs models of the zoo: exports each once, and asks a server of each release to try it."""

import importlib.util
import subprocess
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from types import TracebackType
from typing import Self

import msgspec

from relaxcheck.harness.paths import WORKING
from relaxcheck.harness.releases.releases import environment, release
from tests.zoo.children import ChildError, Ended, in_child
from tests.zoo.exporting import Note, exported, note, place, warm
from tests.zoo.model import Model
from tests.zoo.packages import load
from tests.zoo.records import ONNX, Cell, Result, Trial, Verdict

EXPORTING = 240.0
"""The seconds that an export may take."""

ONNX_EXPORTER = "onnxscript"
"""The package without which PyTorch writes no ONNX."""

Progress = Callable[[str], None]


class ModelError(Exception):
    """A model of the zoo cannot be made, or fails in PyTorch."""


def ready(model: Model, *, dynamic: bool) -> Note:
    """Export ``model`` unless that was done; the note about it.

    Raises:
        ModelError: the model fails in PyTorch.
    """
    where = place(model, dynamic=dynamic)
    if (stored := note(where)) is not None:
        return stored
    # Forked processes have what this one has imported.
    warm()
    for package in model.needs:
        load(package)
    made = Note(torch_error="no note")
    try:
        for each in in_child(partial(exported, model, where, dynamic=dynamic), EXPORTING):
            made = Note(torch_error=each.cause) if isinstance(each, Ended) else each
    except ChildError as error:
        raise ModelError(f"the model {model.name} fails itself:\n{error}") from error
    return made


@dataclass(slots=True)
class Server:
    """The process that tries models on the release ``name``; a context manager."""

    name: str
    process: subprocess.Popen[str] | None = field(default=None, init=False)

    def __enter__(self) -> Self:
        place = release(self.name)
        environ = environment(place) | {"PYTHONPATH": str(WORKING)}
        self.process = subprocess.Popen(
            [str(place.python), "-m", "tests.zoo.serving", self.name],
            cwd=WORKING,
            env=environ,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()

    def tried(
        self, model: Model, trial: Trial, made: Note, fixes: Sequence[str], seconds: float
    ) -> Iterator[Result]:
        """The results of ``trial``, whose ``model`` was exported as ``made`` says.

        Raises:
            RuntimeError: the server died.
        """
        for verdict, message in _not_tvm(trial, made):
            for state in fixes:
                yield Result(
                    trial=trial,
                    release=self.name,
                    fixes=state,
                    verdict=verdict,
                    message=message,
                )
            return
        if self.process is None or self.process.stdin is None or self.process.stdout is None:
            raise RuntimeError("the server is not running: use it in a with statement")
        request = {
            "trial": trial,
            "where": str(place(model, dynamic=trial.dynamic).absolute()),
            "runs": made.runs,
            "fixes": fixes,
            "seconds": seconds,
        }
        self.process.stdin.write(msgspec.json.encode(request).decode() + "\n")
        self.process.stdin.flush()
        while line := self.process.stdout.readline():
            if not line.strip():
                return
            yield msgspec.json.decode(line, type=Result)
        raise RuntimeError(f"the server of TVM {self.name} ended at {trial}")


def _not_tvm(trial: Trial, made: Note) -> Iterator[tuple[Verdict, str]]:
    if made.torch_error:
        yield Verdict.EXPORT, made.torch_error
    elif trial.dynamic and made.specialised:
        yield Verdict.EXPORT, f"the export makes {', '.join(made.specialised)} constant"
    elif trial.path == ONNX and made.onnx_error:
        yield Verdict.EXPORT, made.onnx_error
    elif trial.path == ONNX and made.onnx_differs:
        yield Verdict.EXPORTER, made.onnx_differs


def results(
    models: Sequence[Model],
    paths: Sequence[str],
    kinds: Sequence[bool],
    releases: Sequence[str],
    fixes: Sequence[str],
    *,
    progress: Progress,
    seconds: float = 120.0,
    minutes: float | None = None,
    done: Collection[Cell] = frozenset(),
) -> Iterator[Result]:
    """The results of ``models`` by all ``paths``, static and dynamic as ``kinds`` says.

    Models that lack packages are left out, ONNX without its exporter, and the cells ``done``. Stops
    to begin new ones after ``minutes``.

    Raises:
        ModelError: a model fails in PyTorch.
    """
    if importlib.util.find_spec(ONNX_EXPORTER) is None and ONNX in paths:
        progress(f"{ONNX} is left out: {ONNX_EXPORTER} is not installed")
        paths = [path for path in paths if path != ONNX]
    end = None if minutes is None else time.monotonic() + 60 * minutes
    for name in releases:
        with Server(name) as server:
            for model in models:
                for dynamic in kinds:
                    if model.missing or (dynamic and not model.varying):
                        continue
                    trials = {
                        trial: left
                        for trial in (Trial(model.name, path, dynamic) for path in paths)
                        if (left := [each for each in fixes if (trial, name, each) not in done])
                    }
                    if not trials:
                        continue
                    if end is not None and time.monotonic() > end:
                        progress(f"out of time before {model.name} on TVM {name}")
                        return
                    progress(f"{model.name} on TVM {name}")
                    made = ready(model, dynamic=dynamic)
                    for trial, left in trials.items():
                        yield from server.tried(model, trial, made, left, seconds)
