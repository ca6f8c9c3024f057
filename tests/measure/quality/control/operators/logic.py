"""Truth values, of numbers and of truth values, and operations on bits."""

from collections.abc import Callable, Sequence

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
from tests.measure.quality.control.summation import Freedom


def _infer_class(node: Node, operands: Sequence[Type]) -> Type:
    return Type(operands[0].shape, "bool")


def _infer_truth(node: Node, operands: Sequence[Type]) -> Type:
    shape = broadcast(node, [each.shape for each in operands])
    return Type(shape, one_dtype(node, operands, ("bool",)))


def _infer_bits(node: Node, operands: Sequence[Type]) -> Type:
    dtype = one_dtype(node, operands)
    if dtype in FLOATS:
        raise refuse(node, f"{dtype} has no bits to work on")
    return Type(broadcast(node, [each.shape for each in operands]), dtype)


def _from_bits(x: Array) -> tuple[Array, Array]:
    """Flags: all bits of the exponent are set; some bit of the significand is."""
    size = x.dtype.itemsize
    precision = {"float16": 10, "bfloat16": 7, "float32": 23, "float64": 52}[x.dtype.name]
    bits = x.view(f"u{size}").astype(np.uint64)
    exponent = (1 << (8 * size - 1 - precision)) - 1
    significand = bits & np.uint64((1 << precision) - 1)
    return (bits >> np.uint64(precision)) & np.uint64(exponent) == exponent, significand != 0


@operator("isfinite", _infer_class)
def _isfinite(node: Node, operands: Sequence[Array], freedom: Freedom) -> Array:
    (x,) = operands
    return np.ones(x.shape, np.bool_) if x.dtype.kind in "iu" else ~_from_bits(x)[0]


@operator("isinf", _infer_class)
def _isinf(node: Node, operands: Sequence[Array], freedom: Freedom) -> Array:
    (x,) = operands
    if x.dtype.kind in "iu":
        return np.zeros(x.shape, np.bool_)
    last, more = _from_bits(x)
    return last & ~more


@operator("isnan", _infer_class)
def _isnan(node: Node, operands: Sequence[Array], freedom: Freedom) -> Array:
    (x,) = operands
    if x.dtype.kind in "iu":
        return np.zeros(x.shape, np.bool_)
    last, more = _from_bits(x)
    return last & more


def _declare(name: str, combine: Callable[..., Array]) -> None:
    infer = _infer_truth if name.startswith("logical") else _infer_bits

    @operator(name, infer)
    def compute(node: Node, operands: Sequence[Array], freedom: Freedom) -> Array:
        return combine(*operands)


for _name in ("not", "and", "or", "xor"):
    _declare(f"logical_{_name}", getattr(np, f"logical_{_name}"))
    _declare(f"bitwise_{_name}", np.invert if _name == "not" else getattr(np, f"bitwise_{_name}"))


def _shift(move: Callable[[Array, Array], Array]) -> Callable[[Array, Array], Array]:
    """A shift by a number of bits that the dtype lacks is one by none."""

    def shifted(x: Array, by: Array) -> Array:
        far = (by < 0) | (by >= 8 * x.dtype.itemsize)
        return move(x, np.where(far, np.zeros((), by.dtype), by))

    return shifted


_declare("left_shift", _shift(np.left_shift))
_declare("right_shift", _shift(np.right_shift))
