"""The reference's views of bytes. Bits of what is uncertain, or of NaN, are unknown."""

import numpy as np

from relaxcheck.generators.core.program import Node
from relaxcheck.generators.core.values import numpy_dtype
from relaxcheck.oracles.reference.attribute_values import integers, text
from relaxcheck.oracles.reference.bounds import unconstrain
from relaxcheck.oracles.reference.estimate import FORMATS, Estimate, Flags, exact
from relaxcheck.oracles.reference.evaluation import operator
from relaxcheck.oracles.reference.operators.movement import moved


@operator("memory.view")
def _view(node: Node, operands: list[Estimate]) -> Estimate:
    (x,) = operands
    dtype = text(node, "dtype", x.dtype)
    absent = node.attributes.get("shape") is None
    shape = x.value.shape if absent else integers(node, "shape")
    (offset,) = (
        integers(node, "relative_byte_offset")
        if node.attributes.get("relative_byte_offset") is not None
        else (0,)
    )
    old, new = (numpy_dtype(each).itemsize for each in (x.dtype, dtype))
    count = int(np.prod(shape, dtype=np.int64))
    if min((offset, *shape)) < 0 or offset + count * new > x.value.size * old:
        raise ValueError(f"{count} elements of {dtype} from byte {offset} of {x.value.size * old}")
    if dtype == x.dtype and offset % old == 0:
        first = offset // old
        return moved(x, lambda each: each.reshape(-1)[first : first + count].reshape(shape))
    if dtype == "bool":
        raise ValueError("a bool other than 0 and 1 has no meaning")
    end = offset + count * new
    with np.errstate(over="ignore", invalid="ignore"):
        raw = x.value.astype(numpy_dtype(x.dtype)).tobytes()[offset:end]
    known = np.repeat(_has_known_bits(x).reshape(-1), old)[offset:end]
    read = np.frombuffer(raw, numpy_dtype(dtype)).reshape(shape)
    unknown = ~known.reshape(count, new).all(-1)
    return unconstrain(exact(read, dtype), unknown.reshape(shape))


def _has_known_bits(x: Estimate) -> Flags:
    """Flag elements whose bits all correct implementations agree on."""
    known: Flags = x.error == 0
    if x.dtype in FORMATS:
        known = known & ~np.isnan(x.value) & ((x.value != 0) | np.bool_(x.signed))
    return known


@operator("memory.ensure_zero_offset")
def _ensure_zero_offset(node: Node, operands: list[Estimate]) -> Estimate:
    return operands[0]
