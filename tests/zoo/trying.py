"""Imports, compiles, runs and times an exported model on the TVM of this process."""

import logging
import statistics
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import torch
import tvm
from tvm import relax
from tvm.relax.frontend.onnx import from_onnx
from tvm.relax.frontend.torch import from_exported_program

from relaxcheck import fixes
from tests.zoo.exporting import GRAPH, PROGRAM, data
from tests.zoo.judging import THRESHOLD, Array, difference, worst
from tests.zoo.records import ON, TORCH, Result, Trial, Verdict

_RUNS, _SHARE = 9, 0.4
"""The most runs that are timed, and the seconds that they may take together."""

_LONGEST = 400
"""The characters of a message that are kept."""

# TVM has no type information of its own.
Machine = Callable[..., Any]


@dataclass(frozen=True, slots=True)
class _Failed(Exception):
    verdict: Verdict
    message: str


def tried(
    trial: Trial, where: Path, runs: int, which: Sequence[str], release: str
) -> Iterator[Result]:
    """The result of ``trial``, with the fixes off, on or both; timed in turn if both are right."""
    warnings.filterwarnings("ignore")
    logging.disable(logging.WARNING)
    torch.set_num_threads(1)
    machines: dict[str, Machine] = {}
    for state in which:
        if state == ON:
            fixes.install()
        result, machine = _tried(trial, where, runs, state, release)
        yield result
        if machine is not None:
            machines[state] = machine
        fixes.uninstall()
    inputs = [tvm.runtime.tensor(each) for each in data(where, 0)["inputs"]]
    for state, seconds in _timed(machines, inputs).items():
        yield _seconds_of(trial, release, state, seconds)


def _seconds_of(trial: Trial, release: str, state: str, seconds: float) -> Result:
    return Result(trial=trial, release=release, fixes=state, verdict=Verdict.RIGHT, seconds=seconds)


def _tried(
    trial: Trial, where: Path, runs: int, state: str, release: str
) -> tuple[Result, Machine | None]:
    def result(verdict: Verdict, message: str = "", **more: float) -> Result:
        return Result(
            trial=trial, release=release, fixes=state, verdict=verdict, message=message, **more
        )

    begin = time.perf_counter()
    try:
        main = compiled(imported(trial.path, where), fixed=state == ON)
    except _Failed as failed:
        return result(failed.verdict, failed.message), None
    compiling = round(time.perf_counter() - begin, 2)
    ratio = 0.0
    for run in range(runs):
        stored = data(where, run)
        try:
            results = _run(main, stored["inputs"])
        except Exception as error:
            return result(Verdict.RUN, f"{_text(error)} (run {run})", compiling=compiling), None
        ratio = max(ratio, worst(results, stored["eager"], stored["exact"]))
        if ratio > THRESHOLD:
            message = f"{difference(results, stored['eager'])} (run {run})"
            return result(Verdict.WRONG, message, ratio=ratio, compiling=compiling), None
    return result(Verdict.RIGHT, ratio=round(ratio, 2), compiling=compiling), main


def imported(path: str, where: Path) -> Any:
    """The Relax module that TVM imports, by ``path``, from the exported model in ``where``."""
    try:
        if path == TORCH:
            program = torch.export.load(where / PROGRAM)
            with torch.no_grad():
                return from_exported_program(program)
        return from_onnx(onnx.load(where / GRAPH))
    except Exception as error:
        raise _Failed(Verdict.IMPORT, _text(error)) from error


def compiled(module: Any, *, fixed: bool) -> Machine:
    """The main function of ``module``, compiled by the pipeline that fuses."""
    target = tvm.target.Target("llvm")
    try:
        pipeline = fixes.pipeline(target) if fixed else relax.get_default_pipeline(target)
        executable = relax.build(module, target, relax_pipeline=pipeline)
        return relax.VirtualMachine(executable, tvm.cpu())["main"]
    except Exception as error:
        raise _Failed(Verdict.COMPILE, _text(error)) from error


def _run(main: Machine, inputs: Sequence[Array]) -> list[Array]:
    results = main(*(tvm.runtime.tensor(np.array(each, order="C")) for each in inputs))
    return [each.numpy() for each in ([results] if hasattr(results, "numpy") else results)]


def _timed(machines: dict[str, Machine], inputs: Sequence[Any]) -> dict[str, float]:
    """The median of a run of each, in seconds, in turn, so that a busy moment meets all."""
    spent: dict[str, list[float]] = {state: [] for state in machines}
    begin = time.perf_counter()
    for _ in range(_RUNS):
        for state, main in machines.items():
            # Of the processor: beside other work, the wall's time says nothing. Of this thread:
            # where the processor's time is limited, Linux counts that of a process by ticks.
            start = time.thread_time()
            main(*inputs)
            spent[state].append(time.thread_time() - start)
        if time.perf_counter() - begin > _SHARE:
            break
    return {state: statistics.median(each) for state, each in spent.items()}


def _text(error: Exception) -> str:
    """The class and the lines of ``error`` without the module that TVM prints behind them."""
    text = str(error).partition("\nLocation (TVMScript)")[0]
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    kept = [line for line in lines if not line.startswith(("File ", "at ", "Stack trace"))]
    whole = " ".join(kept)
    short = (
        whole if len(whole) <= _LONGEST else f"{whole[: _LONGEST // 2]} … {whole[-_LONGEST // 2 :]}"
    )
    return f"{type(error).__name__}: {short}"
