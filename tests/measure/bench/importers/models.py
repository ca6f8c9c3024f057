"""The naive loop over ONNX models: import, ``relax.build``, one run, each oracle anew."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import onnxruntime
import tvm
from onnx import ModelProto
from onnx.reference import ReferenceEvaluator
from tvm import relax

from relaxcheck.generators.core.values import Array, arrays, constants
from relaxcheck.generators.onnx.case import OnnxCase
from relaxcheck.generators.onnx.proto import model_proto
from relaxcheck.harness.compiling.pipelines import PIPELINES
from relaxcheck.harness.onnx.importing import imported
from tests.measure.bench.spent import Spent


def naive(case: OnnxCase, tolerance: float) -> Spent:
    """One case as the naive loop has it; a check is an output at the first binding."""
    target = tvm.target.Target("llvm")
    made = imported(case)
    fused = PIPELINES[case.pipeline].relax_pipeline == "target"
    passes = relax.get_default_pipeline(target) if fused else "default"
    executable = relax.build(made.module, target, relax_pipeline=passes)
    main = relax.VirtualMachine(executable, tvm.cpu())["main"]
    values = arrays(case, 0)
    feeds = {tensor.name: values[tensor.name] for tensor in case.model.inputs}
    arguments = (*feeds.values(), *made.parameters)
    result = main(*(tvm.runtime.tensor(np.asarray(each)) for each in arguments))
    outputs = [result] if hasattr(result, "numpy") else list(result)
    for answers in _answers(model_proto(case.model, constants(case)), feeds):
        for output, answer in zip(outputs, answers, strict=True):
            actual, wanted = output.numpy(), np.asarray(answer)
            # The evaluator gives other shapes in places: a failure of the loop's, and no end of it.
            if actual.shape == wanted.shape:
                np.allclose(
                    actual.astype(np.float64),
                    wanted.astype(np.float64),
                    rtol=tolerance,
                    atol=tolerance,
                    equal_nan=True,
                )
    return Spent(cases=1, checks=len(outputs))


def _answers(proto: ModelProto, feeds: Mapping[str, Array]) -> Iterator[list[Any]]:
    """The outputs of each outside oracle that can run the model."""
    for oracle in (_by_runtime, _by_evaluator):
        try:
            yield oracle(proto, feeds)
        except Exception:
            # Neither has a class for what it does not support.
            continue


def _by_runtime(proto: ModelProto, feeds: Mapping[str, Array]) -> list[Any]:
    session = onnxruntime.InferenceSession(
        proto.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    outputs: list[Any] = session.run(None, dict(feeds))
    return outputs


def _by_evaluator(proto: ModelProto, feeds: Mapping[str, Array]) -> list[Any]:
    outputs: list[Any] = ReferenceEvaluator(proto).run(None, dict(feeds))
    return outputs
