"""Evaluates nodes whose inputs are known while a model is imported.

Exporters compute the operands of Reshape, Expand, Slice and others by such nodes, from shapes.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from tvm import relax

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework.patch import NewFile
from relaxcheck.fixes.frontends.onnx.graph import known
from relaxcheck.fixes.frontends.onnx.graph.arithmetic import ARITHMETIC, Evaluate
from relaxcheck.fixes.frontends.onnx.graph.known import Known
from relaxcheck.fixes.frontends.onnx.graph.places import MOVEMENT
from relaxcheck.fixes.tvm_api import functions

UPSTREAM = NewFile("relax/frontend/onnx/evaluating.py")

EVALUATE: dict[str, Evaluate] = {**ARITHMETIC, **MOVEMENT}

_SIZES = ("Shape", "Size")

_COMPARISONS = {
    "Equal": np.equal,
    "Greater": np.greater,
    "GreaterOrEqual": np.greater_equal,
    "Less": np.less,
    "LessOrEqual": np.less_equal,
}
"""Of constants, TVM gives these the dtype of the operands before 0.27."""


def evaluated(operator: str, inputs: Sequence[Any], attributes: Any, parameters: Any) -> Any:
    """The value of a node, if it is known; None if it has to be converted.

    ``inputs`` are values of Relax, None for one that is left out. ``parameters`` are as for
    ``known``.
    """
    if operator in _SIZES:
        return _sizes(operator, inputs[0], attributes)
    evaluate = EVALUATE.get(operator)
    # Of parameters alone, weights that the user may replace, nothing is computed.
    if evaluate is None or not any(map(_is_own, inputs)):
        return None
    if operator in _COMPARISONS and all(map(_is_constant, inputs)):
        return _compared(operator, inputs)
    values = [known.known(each, parameters) for each in inputs]
    present = [value for each, value in zip(inputs, values, strict=True) if each is not None]
    if any(each is None for each in present):
        return None
    result = evaluate(values, attributes)
    return None if result is None or not _can_be_written(result) else known.expression(result)


def _compared(operator: str, inputs: Sequence[Any]) -> Any:
    left, right = (tvm_api.tensor_of(each).numpy() for each in inputs)
    return tvm_api.const(np.asarray(_COMPARISONS[operator](left, right)))


def _is_own(value: Any) -> bool:
    # A symbol may be of the same class as a parameter.
    return known.is_shape(value) or (value is not None and _is_constant(value))


def _is_constant(value: Any) -> bool:
    return isinstance(value, relax.Expr) and functions.is_constant(value)


def _can_be_written(value: Known) -> bool:
    return not value.symbolic or (value.values.ndim <= 1 and value.dtype == "int64")


def _sizes(operator: str, data: Any, attributes: Any) -> Any:
    """The shape of ``data``, or part of it, or its number of elements, where it is known."""
    dims = _dims(data)
    if dims is None:
        return None
    if operator == "Size":
        count: Any = 1
        for dim in dims:
            count = count * dim
        return known.expression(known.scalar(count))
    part = dims[attributes.get("start", 0) : attributes.get("end")]
    return known.expression(known.vector(part))


def _dims(data: Any) -> list[Any] | None:
    """The dimensions of a tensor, or of the tensor that stands for a shape; None if unknown."""
    value = known.known(data, {}) if known.is_shape(data) else None
    if value is not None:
        return list(value.values.shape)
    if not isinstance(data, relax.Expr) or not tvm_api.is_tensor(data):
        return None
    return list(tvm_api.shape_of(data)) if tvm_api.has_shape(data) else None
