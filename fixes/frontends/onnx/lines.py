"""Tensors as lines along an axis, which may be known at run time alone.

The tensor becomes (outer, length, inner); these sizes are symbols if the axis is.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from tvm import tirx

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework.patch import NewFile
from relaxcheck.fixes.frontends.onnx import operands
from relaxcheck.fixes.frontends.onnx.computing import computed, filled
from relaxcheck.fixes.frontends.onnx.converting import Node
from relaxcheck.fixes.tvm_api import Expr, PrimExpr, Tensor

UPSTREAM = NewFile("relax/frontend/onnx/axis_lines.py")

Dims = list[PrimExpr]


@dataclass(frozen=True, slots=True)
class Lines:
    """The lines of a tensor of ``dims``: along ``axis``, or one that the tensor ``place`` holds."""

    dims: tuple[PrimExpr, ...]
    outer: PrimExpr
    length: PrimExpr
    inner: PrimExpr
    axis: int | None
    place: Expr = None

    @property
    def shape(self) -> Dims:
        """The shape (outer, length, inner)."""
        return [self.outer, self.length, self.inner]


def read(node: Node, name: str, dims: Sequence[PrimExpr], index: int, default: int) -> Lines:
    """The lines of a tensor of ``dims`` along the axis that is input number ``index``.

    Raises:
        ValueError: there is no such axis.
    """
    known = operands.integers(node, index)
    if known is None and node.input(index) is None:
        known = [default]
    if known is not None:
        return along(node, name, dims, known[0])
    place = operands.required(node, index, name)

    def compute(sizes: Dims, at: Tensor) -> Tensor:
        axis = _axis(at, len(sizes))

        def element(indices: Sequence[PrimExpr]) -> PrimExpr:
            one = tvm_api.integer(1)
            parts = [one, one, one]
            for number, size in enumerate(sizes):
                here = tvm_api.integer(number)
                conditions = (here < axis, tvm_api.equal(here, axis), here > axis)
                parts = [
                    part * tirx.Select(condition, size, one)
                    for part, condition in zip(parts, conditions, strict=True)
                ]
            last = tirx.Select(indices[0] == tvm_api.integer(1), parts[1], parts[2])
            return tirx.Select(indices[0] == tvm_api.integer(0), parts[0], last)

        return filled((tvm_api.integer(3),), element, "lines")

    symbols = operands.at_run_time(node, "lines", computed(node, compute, list(dims), place), 3)
    outer, length, inner = symbols
    return Lines(tuple(dims), outer, length, inner, None, place)


def along(node: Node, name: str, dims: Sequence[PrimExpr], axis: int) -> Lines:
    """The lines of a tensor of ``dims`` along ``axis``.

    Raises:
        ValueError: there is no such axis.
    """
    axis = operands.normalized(node, name, axis, len(dims))
    parts = []
    for part in (dims[:axis], dims[axis + 1 :]):
        product: PrimExpr = tvm_api.integer(1)
        for dim in part:
            product = product * dim
        parts.append(product)
    return Lines(tuple(dims), parts[0], dims[axis], parts[1], axis)


def _axis(place: Tensor, rank: int) -> PrimExpr:
    """The axis that the tensor ``place`` holds, a scalar or of one element, from 0 on."""
    at = place[tuple(tvm_api.integer(0) for _ in place.shape)].astype("int64")
    return tirx.Select(at < tvm_api.integer(0), at + tvm_api.integer(rank), at)


def resized(node: Node, lines: Lines, length: PrimExpr) -> Dims:
    """The dimensions of the tensor if its lines have ``length``."""
    if lines.axis is not None:
        return [length if axis == lines.axis else dim for axis, dim in enumerate(lines.dims)]
    if tvm_api.proves_equal(length, lines.length):
        return list(lines.dims)

    def compute(sizes: Dims, count: Dims, at: Tensor) -> Tensor:
        axis = _axis(at, len(sizes))

        def element(indices: Sequence[PrimExpr]) -> PrimExpr:
            result = sizes[-1]
            for number, size in reversed(list(enumerate(sizes[:-1]))):
                result = tirx.Select(indices[0] == tvm_api.integer(number), size, result)
            return tirx.Select(tvm_api.equal(indices[0], axis), count[0], result)

        return filled((tvm_api.integer(len(sizes)),), element, "sizes")

    sizes = computed(node, compute, list(lines.dims), [length], lines.place)
    return operands.at_run_time(node, "size", sizes, len(lines.dims))
