"""Operators that make a tensor of a shape, or of a number."""

from collections.abc import Sequence

import numpy as np

from relaxcheck.generators.core.program import Node
from relaxcheck.generators.core.values import numpy_dtype
from tests.measure.quality.control.operator import (
    Array,
    Type,
    number,
    operator,
    refuse,
    text,
    wholes,
)
from tests.measure.quality.control.summation import Freedom


@operator("shape_of", lambda node, operands: Type((operands[0].rank,), "int64", operands[0].shape))
def _shape_of(node: Node, operands: Sequence[Array], freedom: Freedom) -> Array:
    return np.array(operands[0].shape, np.int64)


@operator("shape_to_tensor", lambda node, operands: operands[0])
def _shape_to_tensor(node: Node, operands: Sequence[Array], freedom: Freedom) -> Array:
    return operands[0]


def _infer_made(node: Node, operands: Sequence[Type]) -> Type:
    shape = wholes(node, "shape")
    if min(shape, default=0) < 0:
        raise refuse(node, f"shape {list(shape)} is negative")
    return Type(shape, text(node, "dtype", "float32"))


def _made(node: Node, value: float) -> Array:
    result = _infer_made(node, ())
    return np.full(result.shape, np.array(value).astype(numpy_dtype(result.dtype)))


@operator("zeros", _infer_made)
def _zeros(node: Node, operands: Sequence[Array], freedom: Freedom) -> Array:
    return _made(node, 0)


@operator("ones", _infer_made)
def _ones(node: Node, operands: Sequence[Array], freedom: Freedom) -> Array:
    return _made(node, 1)


@operator("full", _infer_made)
def _full(node: Node, operands: Sequence[Array], freedom: Freedom) -> Array:
    return _made(node, number(node, "fill_value"))
