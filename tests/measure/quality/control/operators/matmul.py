"""The product of two matrices, of stacks of them, or of vectors."""

from collections.abc import Sequence

import numpy as np

from relaxcheck.generators.core.program import Node
from tests.measure.quality.control.operator import (
    Array,
    Type,
    broadcast,
    one_dtype,
    operator,
    refuse,
    text,
)
from tests.measure.quality.control.summation import Freedom, Term, summed


def _infer(node: Node, operands: Sequence[Type]) -> Type:
    a, b = operands
    dtype = one_dtype(node, operands)
    if not a.rank or not b.rank:
        raise refuse(node, f"shapes {list(a.shape)} and {list(b.shape)}: a scalar has no product")
    inner = b.shape[-2] if b.rank > 1 else b.shape[0]
    if a.shape[-1] != inner:
        raise refuse(node, f"shapes {list(a.shape)} and {list(b.shape)}: {a.shape[-1]} and {inner}")
    outer = broadcast(node, (a.shape[:-2], b.shape[:-2]))
    rows, columns = a.shape[-2:-1], b.shape[-1:] if b.rank > 1 else ()
    return Type((*outer, *rows, *columns), text(node, "out_dtype", dtype))


@operator("matmul", _infer, narrows=True, accumulates=True)
def _matmul(node: Node, operands: Sequence[Array], freedom: Freedom) -> Array:
    a, b = operands
    left = a if a.ndim > 1 else a[None]
    right = b if b.ndim > 1 else b[:, None]
    terms = [Term(left[..., :, [at]], right[..., [at], :]) for at in range(left.shape[-1])]
    outer = np.broadcast_shapes(left.shape[:-2], right.shape[:-2])
    whole = (*outer, left.shape[-2], right.shape[-1])
    result = summed(terms, whole, a.dtype, freedom)
    gone = [axis for axis, each in ((-2, a), (-1, b)) if each.ndim == 1]
    return np.squeeze(result, tuple(gone)) if gone else result
