"""A contestant in one process of its own: ``python -m tests.measure.bench.solitary naive|execute``.

It takes lists of cases as JSON lines on standard input, and answers each with a ``Spent``.

``naive`` is the loop that one writes first: ``relax.build`` for ``llvm``, one run on random inputs,
PyTorch, a new ONNX Runtime session, ``allclose``; of a model ONNX's evaluator in place of PyTorch.
``execute`` is what the engine's workers do with a case, without the engine.
"""

import os
import resource
import sys
import time
from collections.abc import Callable, Sequence

import msgspec

from relaxcheck.harness.releases.environment import VARIABLES

os.environ.update(VARIABLES)

import numpy as np
import onnxruntime
import torch
import tvm
from tvm import relax

from relaxcheck import fixes
from relaxcheck.generators.core.case import AnyCase
from relaxcheck.generators.core.program import Case
from relaxcheck.generators.core.values import arrays
from relaxcheck.generators.emission.programs import emit
from relaxcheck.generators.onnx.case import OnnxCase
from relaxcheck.generators.torch.case import TorchCase
from relaxcheck.harness.compiling import legalization_log
from relaxcheck.harness.compiling.pipelines import PIPELINES
from relaxcheck.harness.kinds import decode, of
from relaxcheck.harness.programs.compile import STEPS
from relaxcheck.harness.workers.jobs import Limits
from relaxcheck.oracles.answer import Unsupported
from relaxcheck.oracles.independent import ORACLES
from relaxcheck.oracles.onnxruntime import graph as onnx_graph
from tests.measure.bench.importers import models, torch_programs
from tests.measure.bench.spent import Spent, total

TOLERANCE = 1e-2
"""Relative and absolute, as fuzzers of deep-learning compilers have it."""


def naive(case: Case) -> Spent:
    """One case as the naive loop has it; a check is an output at the first binding."""
    pipeline = PIPELINES[case.pipeline]
    target = tvm.target.Target("llvm")
    module = emit(case, constants_as_parameters=pipeline.constants_as_parameters)
    for step in pipeline.before:
        with target:
            module = STEPS[step](module, case)
    fused = pipeline.relax_pipeline == "target"
    passes = relax.get_default_pipeline(target) if fused else "default"
    executable = relax.build(module, target, relax_pipeline=passes, exec_mode=case.exec_mode)
    main = relax.VirtualMachine(executable, tvm.cpu())["main"]
    inputs = arrays(case, 0)
    inputs_in_order = [inputs[tensor.name] for tensor in case.program.inputs if not tensor.constant]
    result = main(*(tvm.runtime.tensor(array) for array in inputs_in_order))
    outputs = [result] if hasattr(result, "numpy") else list(result)
    for oracle in ORACLES.values():
        try:
            answers = oracle(case.program, inputs)
        except Unsupported:
            continue
        for output, answer in zip(outputs, answers, strict=True):
            np.allclose(
                output.numpy().astype(np.float64),
                answer.astype(np.float64),
                rtol=TOLERANCE,
                atol=TOLERANCE,
                equal_nan=True,
            )
    return Spent(cases=1, checks=len(outputs))


def _as_it_comes() -> None:
    """PyTorch and ONNX Runtime with the options that nobody gave."""
    torch.backends.mkldnn.enabled = True
    onnx_graph._ready = lambda model: onnxruntime.InferenceSession(  # type: ignore[assignment]
        onnx_graph._written(model).SerializeToString(), providers=["CPUExecutionProvider"]
    )


def naively(cases: Sequence[AnyCase]) -> Spent:
    """All of ``cases`` by the naive loop."""
    return total(map(_naive, cases))


def _naive(case: AnyCase) -> Spent:
    if isinstance(case, OnnxCase):
        return models.naive(case, TOLERANCE)
    if isinstance(case, TorchCase):
        return torch_programs.naive(case, TOLERANCE)
    assert isinstance(case, Case)
    return naive(case)


def executed(cases: Sequence[AnyCase]) -> Spent:
    """All of ``cases`` as workers do them, as many at a time."""
    done = []
    for kind in dict.fromkeys(map(of, cases)):
        own = [case for case in cases if of(case) is kind]
        for first in range(0, len(own), Limits().together):
            lot = own[first : first + Limits().together]
            for outcome in kind.execute_together(lot, lambda number, stage: None):
                done.append(Spent(cases=1, checks=len(outcome.checks), parts=outcome.seconds))
    return total(done)


def cpu() -> float:
    """CPU seconds of this process and of all that it waited for."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


def serve(work: Callable[[Sequence[AnyCase]], Spent]) -> None:
    """Answer lists of cases until the input ends."""
    for line in sys.stdin.buffer:
        cases = [decode(bytes(each)) for each in msgspec.json.decode(line, type=list[msgspec.Raw])]
        began, wall = cpu(), time.monotonic()
        spent = work(cases)
        spent = msgspec.structs.replace(spent, cpu=cpu() - began, wall=time.monotonic() - wall)
        sys.stdout.buffer.write(msgspec.json.encode(spent) + b"\n")
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    fixes.install()
    if sys.argv[1] == "naive":
        _as_it_comes()
        serve(naively)
    else:
        legalization_log.listen()
        serve(executed)
