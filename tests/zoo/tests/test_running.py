"""A trial that never reaches TVM, and a server whose processes die."""

import os
import signal
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.zoo import running
from tests.zoo.exporting import Note
from tests.zoo.model import Input, Model
from tests.zoo.records import FIXES, ONNX, TORCH, Result, Trial, Verdict, merged, read
from tests.zoo.running import ModelError, Server, ready


def _fails() -> Any:
    raise ZeroDivisionError("no layers")


MODEL = Model("failing", _fails, (Input(("batch", 2)),))


def _verdicts(made: Note, path: str, *, dynamic: bool) -> list[Verdict]:
    trial = Trial("failing", path, dynamic)
    # No process: none is asked.
    results = list(Server("0.27").tried(MODEL, trial, made, FIXES, 1.0))
    return [each.verdict for each in results]


def test_what_pytorch_does_not_export_is_not_tvms() -> None:
    export = [Verdict.EXPORT] * 2
    assert _verdicts(Note(torch_error="no"), TORCH, dynamic=False) == export
    assert _verdicts(Note(onnx_error="no"), ONNX, dynamic=False) == export
    assert _verdicts(Note(specialised=("batch",)), TORCH, dynamic=True) == export
    differs = Note(onnx_differs="result 0: off by 2")
    assert _verdicts(differs, ONNX, dynamic=False) == [Verdict.EXPORTER] * 2


def test_a_server_that_does_not_run_is_an_error() -> None:
    with pytest.raises(RuntimeError, match="with statement"):
        _verdicts(Note(onnx_error="no"), TORCH, dynamic=False)


def test_a_model_that_fails_in_pytorch_is_our_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RELAXCHECK_ZOO", str(tmp_path))
    with pytest.raises(ModelError, match="no layers"):
        ready(MODEL, dynamic=False)


def test_an_export_that_dies_is_a_verdict(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RELAXCHECK_ZOO", str(tmp_path))
    monkeypatch.setattr(running, "exported", _dying)
    assert ready(MODEL, dynamic=False).torch_error == "SIGKILL"


def _dying(model: Model, where: Path, *, dynamic: bool) -> Iterator[Note]:
    yield Note()
    os.kill(os.getpid(), signal.SIGKILL)


def test_onnx_is_left_out_without_its_exporter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "ONNX_EXPORTER", "no_such_package")
    lines: list[str] = []
    results = running.results([], [TORCH, ONNX], [False], [], FIXES, progress=lines.append)
    assert list(results) == []
    assert lines == ["onnx is left out: no_such_package is not installed"]


def test_results_replace_those_of_the_same_cell(tmp_path: Path) -> None:
    result = partial(Result, trial=Trial("a", TORCH), release="0.27", fixes="on")
    path = tmp_path / "results.jsonl"
    assert read(path) == []
    merged(path, [result(verdict=Verdict.WRONG)])
    other = msgspec.structs.replace(result(verdict=Verdict.RIGHT), release="0.26")
    merged(path, [other, result(verdict=Verdict.RIGHT)])
    assert read(path) == [other, result(verdict=Verdict.RIGHT)]


def test_cells_that_are_done_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[Trial, list[str]]] = []

    def tried(
        self: Server, model: Model, trial: Trial, made: Note, fixes: list[str], seconds: float
    ) -> Iterator[Result]:
        asked.append((trial, fixes))
        yield from ()

    monkeypatch.setattr(Server, "__enter__", lambda self: self)
    monkeypatch.setattr(Server, "tried", tried)
    monkeypatch.setattr(running, "ready", lambda model, *, dynamic: Note())
    monkeypatch.setattr(running, "ONNX_EXPORTER", "onnx")
    done = {(Trial("failing", TORCH), "0.27", state) for state in FIXES}
    done.add((Trial("failing", ONNX), "0.27", "off"))
    paths = [TORCH, ONNX]
    every = running.results([MODEL], paths, [False], ["0.27"], FIXES, progress=print, done=done)
    assert list(every) == []
    assert asked == [(Trial("failing", ONNX), ["on"])]
