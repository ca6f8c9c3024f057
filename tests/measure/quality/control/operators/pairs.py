"""``atan2``, ``log_add_exp``, ``mod`` and ``ewise_fma``."""

from collections.abc import Sequence

import numpy as np

from relaxcheck.generators.core.program import Node
from tests.measure.quality.control.operator import (
    FLOATS,
    Array,
    Type,
    broadcast,
    one_dtype,
    operator,
    refuse,
)
from tests.measure.quality.control.rounding import computed_in, faithful, function
from tests.measure.quality.control.summation import Freedom


def _infer_float(node: Node, operands: Sequence[Type]) -> Type:
    shape = broadcast(node, [each.shape for each in operands])
    return Type(shape, one_dtype(node, operands, FLOATS))


def _infer_any(node: Node, operands: Sequence[Type]) -> Type:
    return Type(broadcast(node, [each.shape for each in operands]), one_dtype(node, operands))


@operator("atan2", _infer_float)
def _atan2(node: Node, operands: Sequence[Array], freedom: Freedom) -> Array:
    """The angle from the right half plane; the left one is half a turn further on."""
    y, x = (each.astype(np.longdouble) for each in operands)
    right = np.arctan2(y, np.abs(x))
    left = np.copysign(np.longdouble(np.pi) + _REST, y) - right
    return faithful(np.where(np.signbit(x), left, right), operands[0].dtype, freedom)


_REST = np.longdouble("1.2246467991473531772e-16")
"""Pi minus its float64."""


@operator("log_add_exp", _infer_float)
def _log_add_exp(node: Node, operands: Sequence[Array], freedom: Freedom) -> Array:
    """With the larger operand outside the sum, or by a softplus of the difference."""

    def compute(a: Array, b: Array) -> Array:
        most, least = np.maximum(a, b), np.minimum(a, b)
        if freedom.choice(("softplus", "sum")) == "softplus":
            return most + function(np.log1p, function(np.exp, least - most, freedom), freedom)
        terms = [function(np.exp, each - most, freedom) for each in (a, b)]
        return most + function(np.log, terms[0] + terms[1], freedom)

    return computed_in(operands[0].dtype, freedom, *operands, compute=compute)


def _infer_alike(node: Node, operands: Sequence[Type]) -> Type:
    shapes = {each.shape for each in operands}
    if len(shapes) > 1:
        raise refuse(node, f"the shapes {sorted(shapes)} differ")
    return Type(operands[0].shape, one_dtype(node, operands))


@operator("ewise_fma", _infer_alike)
def _multiply_add(node: Node, operands: Sequence[Array], freedom: Freedom) -> Array:
    """The product is rounded before it is added, or not."""
    a, b, c = operands
    if a.dtype.kind in "iu":
        return a * b + c

    def compute(x: Array, y: Array, z: Array) -> Array:
        return x * y + z

    return computed_in(a.dtype, freedom, a, b, c, compute=compute)


@operator("mod", _infer_any)
def _mod(node: Node, operands: Sequence[Array], freedom: Freedom) -> Array:
    """The remainder of magnitudes, with the dividend's sign."""
    a, b = operands
    if a.dtype.kind in "iu":
        b = np.where(b == 0, np.ones((), b.dtype), b)
        rest = np.mod(a, b)
        return np.where((rest != 0) & ((a < 0) != (b < 0)), rest - b, rest)
    size = np.mod(np.abs(a.astype(np.longdouble)), np.abs(b.astype(np.longdouble)))
    return np.copysign(size, a.astype(np.longdouble)).astype(a.dtype)
