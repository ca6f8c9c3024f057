"""The control of ONNX models: other implementations of ONNX, where each of them is right.

ONNX Runtime computes a model as it is or after its own optimizations, ONNX's evaluator operator by
operator. An implementation is right where no entry of ``oracles.onnx.faults`` applies to it. Where
several are, the case's seed chooses. An implementation that is an oracle as well stands in for TVM
only where the reference, which knows neither, holds the outputs.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from random import Random
from typing import Any

from relaxcheck.generators.core.case import Invalid
from relaxcheck.generators.core.values import Array, constants
from relaxcheck.generators.onnx.case import OnnxCase
from relaxcheck.generators.onnx.model import Model
from relaxcheck.generators.onnx.static import static
from relaxcheck.generators.onnx.walk import operators_of
from relaxcheck.oracles.answer import Unsupported
from relaxcheck.oracles.onnx import evaluator, runtime
from relaxcheck.oracles.onnx.faults import fault
from relaxcheck.oracles.onnx.reference import evaluate as reference

Implementation = Callable[[Model, Mapping[str, Array]], tuple[Array, ...]]

IMPLEMENTATIONS: Mapping[str, tuple[str, Implementation]] = {
    "as it is": ("onnxruntime", runtime.outputs),
    "optimized": ("onnxruntime", partial(runtime.outputs, optimized=True)),
    "evaluator": ("evaluator", evaluator.outputs),
}
"""The implementations: the oracle whose faults each has, and its function."""

_NO_ORACLE = "optimized"
"""The implementation that answers as no oracle. Where the reference has no answer, the bounds are
those of the oracles' own answers, and only this one can lie outside of them."""


class Uncontrolled(Exception):
    """No implementation is right and can compute a model: its message says why."""


def evaluate(case: OnnxCase, arguments: Sequence[Any]) -> tuple[Array, ...]:
    """The outputs of ``case`` for the arguments of its main function, in their order.

    Raises:
        Uncontrolled: the control cannot compute them.
    """
    if isinstance(case.expect, Invalid):
        # They compute many of these; TVM's importer is asked to refuse them.
        raise Uncontrolled("an invalid model has no right outputs")
    own = {tensor.name: value for tensor, value in zip(case.model.inputs, arguments, strict=True)}
    arrays = {**constants(case), **own}
    traced = reference.trace(static(case.model, _binding(case, own)), arrays)
    reasons = []
    for name in _order(case) if traced.outputs is not None else [_NO_ORACLE]:
        oracle, outputs = IMPLEMENTATIONS[name]
        if name == _NO_ORACLE and _may_be_fused_in_float32(case.model):
            reasons.append(f"{oracle}: it computes fused float64 with numbers of float32")
            continue
        if reason := fault(oracle, case.model, traced.values):
            reasons.append(f"{oracle}: {reason}")
            continue
        try:
            return outputs(case.model, arrays)
        except Unsupported as error:
            reasons.append(str(error))
    raise Uncontrolled("; ".join(dict.fromkeys(reasons)))


def _may_be_fused_in_float32(model: Model) -> bool:
    """True if ONNX Runtime's optimizations may make layers of ``model`` whose scale is float32.

    Seen in attention and layer normalization of float64 that are written out.
    """
    float64 = any(tensor.dtype == "float64" for tensor in model.tensors)
    return float64 and len(operators_of(model)) > 1


def _order(case: OnnxCase) -> list[str]:
    """The names of ``IMPLEMENTATIONS`` in the order in which they are asked; a slow one is last."""
    names = list(IMPLEMENTATIONS)
    Random(case.seed).shuffle(names)
    if evaluator.is_slow(case.model):
        names.sort(key=lambda name: IMPLEMENTATIONS[name][0] == "evaluator")
    return names


def _binding(case: OnnxCase, own: Mapping[str, Array]) -> Mapping[str, int]:
    """The binding of ``case`` that the shapes of its inputs agree with."""
    for binding in case.bindings:
        if all(array.shape == case.shape(name, binding) for name, array in own.items()):
            return binding
    raise ValueError("no binding has these sizes")
