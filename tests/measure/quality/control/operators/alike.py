"""``zeros_like``, ``ones_like`` and ``full_like``."""

from collections.abc import Sequence

import numpy as np

from relaxcheck.generators.core.program import Node
from relaxcheck.generators.core.values import numpy_dtype
from tests.measure.quality.control.operator import Array, Type, number, operator, text
from tests.measure.quality.control.summation import Freedom


def _infer(node: Node, operands: Sequence[Type]) -> Type:
    return Type(operands[0].shape, text(node, "dtype", operands[0].dtype))


def _declare(name: str, value: float | None) -> None:
    @operator(name, _infer)
    def compute(node: Node, operands: Sequence[Array], freedom: Freedom) -> Array:
        (x,) = operands
        filled = number(node, "fill_value") if value is None else value
        dtype = numpy_dtype(text(node, "dtype", x.dtype.name))
        return np.full(x.shape, np.array(filled).astype(dtype))


_declare("zeros_like", 0)
_declare("ones_like", 1)
_declare("full_like", None)
