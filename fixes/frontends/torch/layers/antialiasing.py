"""Resizing that averages over all the places of the source that a place of the result covers."""

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tvm import relax, te

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework.fix import FaultPart, Fix, refuse
from relaxcheck.fixes.framework.patch import NewFile
from relaxcheck.fixes.frontends.onnx.computing import bounded, computed
from relaxcheck.fixes.frontends.torch import operands
from relaxcheck.fixes.frontends.torch.converting import Convert, Node, patch, rebindings
from relaxcheck.fixes.frontends.torch.layers.resizing import stated_factors
from relaxcheck.fixes.frontends.torch.probing import differs
from relaxcheck.fixes.tvm_api import Expr, PrimExpr, Tensor

UPSTREAM = NewFile("relax/frontend/torch/antialiasing.py")

Array = NDArray[Any]


def _triangle(distance: Array) -> Array:
    weights: Array = np.maximum(1 - np.abs(distance), 0)
    return weights


def _cubic(distance: Array) -> Array:
    """Keys' kernel with the coefficient -1/2, where resizing without averages has -3/4."""
    x = np.abs(distance)
    inner = (1.5 * x - 2.5) * x * x + 1
    outer = ((-0.5 * x + 2.5) * x - 4) * x + 2
    weights: Array = np.where(x < 1, inner, np.where(x < 2, outer, 0))
    return weights


_KERNELS: dict[str, tuple[Callable[[Array], Array], int]] = {
    "_upsample_bilinear2d_aa": (_triangle, 1),
    "_upsample_bicubic2d_aa": (_cubic, 2),
}
"""The kernel of each function, and the distance at which it ends."""


def convert_antialiased(node: Node) -> Expr:
    """``self`` in another size, of weighted averages.

    Raises:
        OpNotImplemented: a size is that of a symbol.
    """
    name = node.operator.partition(".")[0]
    data = node.argument("input" if node.operator.endswith("vec") else "self")
    dtype, dims = tvm_api.dtype_of(data), tvm_api.shape_of(data)[2:]
    factors = stated_factors(node, 2)
    sizes = node.argument("output_size")
    known = [tvm_api.as_int(dim) for dim in dims]
    if None in known or any(not isinstance(size, int) for size in sizes or []):
        raise refuse(node.operator, input=tvm_api.show(dims), output_size=sizes)
    before = [size for size in known if size is not None]
    if sizes is None:
        sizes = [math.floor(size * (by or 1)) for size, by in zip(before, factors, strict=True)]
    result = operands.cast(node, data, operands.inner_dtype(dtype))
    aligns = bool(node.argument("align_corners"))
    for axis in (1, 0):
        step = _step(before[axis], sizes[axis], factors[axis], aligns)
        result = _averaged(node, result, axis + 2, _weights(name, before[axis], sizes[axis], step))
    return operands.cast(node, result, dtype)


def _step(before: int, after: int, factor: float | None, aligns: bool) -> float:
    """The distance in the source of neighbours in the result."""
    if aligns:
        return (before - 1) / (after - 1) if after > 1 else 0.0
    return before / after if factor is None else 1 / factor


def _weights(name: str, before: int, after: int, step: float) -> tuple[Array, Array]:
    """For each place of the result the first place in the source, and the weights from there on."""
    kernel, reach = _KERNELS[name]
    wide = max(step, 1.0)
    support = reach * wide
    centers = step * (np.arange(after) + 0.5)
    starts = np.maximum(np.trunc(centers - support + 0.5), 0).astype(np.int64)
    ends = np.minimum(np.trunc(centers + support + 0.5), before).astype(np.int64)
    places = starts[:, None] + np.arange(max(int((ends - starts).max(initial=1)), 1))
    weights = kernel((places + 0.5 - centers[:, None]) / wide)
    weights = np.where(places < ends[:, None], weights, 0)
    total = weights.sum(axis=1, keepdims=True)
    return starts, weights / np.where(total == 0, 1, total)


def _averaged(node: Node, data: Expr, axis: int, weights: tuple[Array, Array]) -> Expr:
    dtype = tvm_api.dtype_of(data)

    def compute(source: Tensor, first: Tensor, factors: Tensor) -> Tensor:
        size, offset = source.shape[axis], te.reduce_axis((0, factors.shape[1]), name="k")

        def total(*at: PrimExpr) -> PrimExpr:
            place = bounded(first[at[axis]] + offset, size)
            element = source[(*at[:axis], place, *at[axis + 1 :])]
            return te.sum(element * factors[at[axis], offset], axis=offset)

        shape: Sequence[PrimExpr] = [
            *source.shape[:axis],
            first.shape[0],
            *source.shape[axis + 1 :],
        ]
        return te.compute(shape, total, name="averaged")

    tables = (relax.const(weights[0], "int64"), relax.const(weights[1].astype(dtype), dtype))
    return computed(node, compute, data, *tables)


CONVERSIONS: dict[str, Convert] = {
    f"{name}.{kind}": convert_antialiased for name in _KERNELS for kind in ("default", "vec")
}

_DATA = np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4) ** 2

FIX = Fix(
    name="torch_antialiasing",
    operators=tuple(CONVERSIONS),
    fault="antialias=True of interpolation in PyTorch programs is ignored where images shrink",
    issue=None,
    parts=(
        FaultPart(
            "linear", partial(differs, "_upsample_bilinear2d_aa.default", _DATA, [2, 2], False)
        ),
        FaultPart(
            "cubic", partial(differs, "_upsample_bicubic2d_aa.default", _DATA, [2, 3], False)
        ),
    ),
    rebindings=rebindings(CONVERSIONS),
    after="torch_maxima",
    patch=patch(CONVERSIONS),
)
