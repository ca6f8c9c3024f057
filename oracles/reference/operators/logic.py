"""The reference's truth values, of numbers and of truth values, and operations on bits.

``bool`` has a single bit. Integers are in two's complement, so that ``~x`` is ``-x - 1``. A shift
to the right keeps the sign of a signed integer; one by less than 0, or by the number of bits or
more, is unconstrained (C, 6.5.7; LLVM gives poison).
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from relaxcheck.generators.core.program import Node
from relaxcheck.generators.core.values import numpy_dtype
from relaxcheck.oracles.answer import Array
from relaxcheck.oracles.reference import bounds
from relaxcheck.oracles.reference.bounds import unconstrain
from relaxcheck.oracles.reference.estimate import FORMATS, Estimate, unknown
from relaxcheck.oracles.reference.evaluation import Plain, operator, same_dtype


def _classed(is_so: Callable[[Array], Array]) -> Plain:
    """The class of a number; unconstrained where the number is."""

    def evaluated(node: Node, operands: list[Estimate]) -> Estimate:
        operand = operands[0]
        value = is_so(operand.value).astype(np.int64)
        result = Estimate(value, np.zeros(value.shape), "bool")
        return unconstrain(result, np.isinf(operand.error))

    return evaluated


for _name, _is_so in {"isfinite": np.isfinite, "isinf": np.isinf, "isnan": np.isnan}.items():
    operator(_name)(_classed(_is_so))


def _bits(node: Node, operands: list[Estimate]) -> str:
    """The dtype of all ``operands``. Raises ``ValueError`` for numbers that are not whole."""
    dtype = same_dtype(node, operands)
    if dtype in FORMATS:
        raise ValueError(f"{node.operator} of {dtype}")
    return dtype


def _truth(node: Node, operands: list[Estimate]) -> None:
    """Raise ``ValueError`` unless all ``operands`` are truth values."""
    if same_dtype(node, operands) != "bool":
        raise ValueError(f"{node.operator} of {operands[0].dtype}")


@operator("logical_not")
def _logical_not(node: Node, operands: list[Estimate]) -> Estimate:
    _truth(node, operands)
    return unconstrain(replace(operands[0], value=1 - operands[0].value), unknown(*operands))


@operator("bitwise_not")
def _bitwise_not(node: Node, operands: list[Estimate]) -> Estimate:
    dtype = _bits(node, operands)
    value = operands[0].value
    return bounds.wrapped(1 - value if dtype == "bool" else ~value, dtype, *operands)


_COMBINED: dict[str, Callable[[Array, Array], Array]] = {
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
}


def _combination(combine: Callable[[Array, Array], Array], *, logical: bool) -> Plain:
    def evaluated(node: Node, operands: list[Estimate]) -> Estimate:
        dtype = _bits(node, operands)
        if logical:
            _truth(node, operands)
        return bounds.wrapped(combine(*(each.value for each in operands)), dtype, *operands)

    return evaluated


for _name, _combine in _COMBINED.items():
    operator(f"bitwise_{_name}")(_combination(_combine, logical=False))
    operator(f"logical_{_name}")(_combination(_combine, logical=True))


def _shift(move: Callable[[Array, Array], Array]) -> Plain:
    def evaluated(node: Node, operands: list[Estimate]) -> Estimate:
        dtype = _bits(node, operands)
        value, by = (each.value for each in operands)
        far = (by < 0) | (by >= 8 * numpy_dtype(dtype).itemsize)
        moved = bounds.wrapped(move(value, np.where(far, 0, by)), dtype, *operands)
        return unconstrain(moved, far)

    return evaluated


operator("left_shift")(_shift(np.left_shift))
operator("right_shift")(_shift(np.right_shift))
