"""The axes of a reduction, which may be known at run time alone.

With axes at run time, the sizes of the result are symbols. A second set of symbols holds the
extents to reduce over: the size of an axis that is reduced, 1 of another. Element o of the result
is then the reduction of the elements o + k, for k within these extents.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from tvm import relax, te, tirx

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework.fix import refuse
from relaxcheck.fixes.framework.patch import NewFile
from relaxcheck.fixes.frontends.onnx import operands
from relaxcheck.fixes.frontends.onnx.computing import (
    computed,
    filled,
    largest,
    product,
    smallest,
    total,
)
from relaxcheck.fixes.frontends.onnx.converting import Node
from relaxcheck.fixes.tvm_api import Expr, PrimExpr, Tensor

UPSTREAM = NewFile("relax/frontend/onnx/reduction_axes.py")

_FIRST_INPUTS = {"ReduceSum": 13}
"""The opset from which the axes are an input; 18 for the other reductions."""


@dataclass(frozen=True, slots=True)
class Axes:
    """The axes to reduce, all with the size 1 afterwards: known, or as sizes at run time.

    ``known`` is None for axes at run time. ``sizes`` are those of the result, and ``extents`` those
    to reduce over. ``left`` are the sizes that are not reduced, if the result is to have no others,
    and ``order`` is a tensor of their axes.
    """

    known: tuple[int, ...] | None
    sizes: tuple[PrimExpr, ...] = ()
    extents: tuple[PrimExpr, ...] = ()
    left: tuple[PrimExpr, ...] | None = None
    order: Expr = None


def read(node: Node, data: Expr) -> Axes:
    """The axes of ``node``, a reduction of ``data``.

    Raises:
        ValueError: there is no such axis.
        OpNotImplemented: the rank of the result depends on a value at run time.
    """
    rank = operands.rank_of(data)
    as_input = node.opset >= _FIRST_INPUTS.get(node.operator, 18)
    if not as_input:
        axes = [int(axis) for axis in node.attribute("axes", ())]
        return Axes(tuple(operands.normalized_axes(node, axes or list(range(rank)), rank)))
    noop = operands.flag(node, "noop_with_empty_axes")
    given = [] if node.input(1) is None else operands.integers(node, 1)
    if given is None:
        value = operands.required(node, 1, "axes")
        count = _count(value)
        if count != 0 and rank:
            return _at_run_time(node, data, value, count, noop)
        given = []
    default = [] if noop else list(range(rank))
    return Axes(tuple(operands.normalized_axes(node, given or default, rank)))


def _count(axes: Expr) -> int | None:
    """The number of ``axes``, None if it is known at run time alone."""
    dims = tvm_api.shape_of(axes)
    return tvm_api.as_int(dims[0]) if dims else 1


def _at_run_time(node: Node, data: Expr, axes: Expr, count: int | None, noop: bool) -> Axes:
    rank = operands.rank_of(data)
    keeps = operands.flag(node, "keepdims", 1)
    if count is None and not keeps:
        shape = tvm_api.show(tvm_api.shape_of(axes))
        raise refuse(node.operator, keepdims=0, **{"shape of axes": shape})
    counted = operands.widened(node, axes, "int64")
    counted = node.emit(relax.op.reshape(counted, relax.ShapeExpr([-1, 1])))
    numbers = tvm_api.const(np.arange(rank, dtype=np.int64))
    behind = tvm_api.const(np.arange(rank, dtype=np.int64) - rank)
    hit = relax.op.logical_or(relax.op.equal(counted, numbers), relax.op.equal(counted, behind))
    hits = node.emit(relax.op.astype(hit, "int64"))
    mask = _some(node, hits, count, noop)
    dims = node.emit(relax.op.shape_to_tensor(relax.ShapeExpr(tvm_api.shape_of(data))))
    blank = tvm_api.const(np.ones(rank, np.int64))
    both = node.emit(
        relax.op.concat(
            [relax.op.where(mask, blank, dims), relax.op.where(mask, dims, blank)], axis=0
        )
    )
    symbols = operands.at_run_time(node, "reduced", both, 2 * rank)
    sizes, extents = tuple(symbols[:rank]), tuple(symbols[rank:])
    if keeps or count is None:
        return Axes(None, sizes, extents)
    left, order = _left(node, mask, dims, rank, rank - count)
    return Axes(None, sizes, extents, tuple(left), order)


def _some(node: Node, hits: Expr, count: int | None, noop: bool) -> Expr:
    """The mask of the axes to reduce, of (axes, rank) hits; no axes at all may be all of them."""
    rank = tvm_api.as_int(tvm_api.shape_of(hits)[1])
    found = node.emit(relax.op.reshape(reduced(node, hits, Axes((0,)), "sum"), (rank,)))
    mask = node.emit(relax.op.greater(found, tvm_api.const(np.array(0))))
    if count is not None or noop:
        return mask
    number = node.emit(relax.op.shape_to_tensor(relax.ShapeExpr(tvm_api.shape_of(hits)[:1])))
    none = relax.op.equal(number, tvm_api.const(np.array(0)))
    return node.emit(relax.op.logical_or(mask, none))


def _left(node: Node, mask: Expr, dims: Expr, rank: int, count: int) -> tuple[list[PrimExpr], Expr]:
    """The sizes of the axes that are not reduced, in order, and a tensor of these axes."""
    late = relax.op.multiply(relax.op.astype(mask, "int64"), tvm_api.const(np.array(rank)))
    order = relax.op.add(late, tvm_api.const(np.arange(rank, dtype=np.int64)))
    last = max(count, 0)
    first = relax.op.strided_slice(node.emit(relax.op.sort(node.emit(order))), [0], [0], [last])
    axes = node.emit(first)
    if not last:
        return [], axes
    kept = node.emit(relax.op.take(dims, axes, axis=0))
    return operands.at_run_time(node, "kept", kept, last), axes


def reduced(node: Node, data: Expr, axes: Axes, kind: str) -> Expr:
    """``data`` reduced by ``kind`` along ``axes``, all of which stay with the size 1.

    ``kind`` is sum, prod, max or min.
    """
    if axes.known is None or kind in ("max", "min"):
        # TVM's own start with the lowest finite number, which is more than -infinity.
        return _computed(node, data, axes, kind)
    extents = [tvm_api.as_int(tvm_api.shape_of(data)[axis]) for axis in axes.known]
    if None in extents or 0 in extents:
        return _computed(node, data, axes, kind)
    return node.emit(getattr(relax.op, kind)(data, list(axes.known), True))


def _computed(node: Node, data: Expr, axes: Axes, kind: str) -> Expr:
    dims = tvm_api.shape_of(data)
    one = tvm_api.integer(1)
    known = axes.known
    sizes, extents = list(axes.sizes), list(axes.extents)
    if known is not None:
        sizes = [one if axis in known else dim for axis, dim in enumerate(dims)]
        extents = [dim if axis in known else one for axis, dim in enumerate(dims)]

    def compute(source: Tensor, shape: Sequence[PrimExpr], over: Sequence[PrimExpr]) -> Tensor:
        inner = [te.reduce_axis((0, extent), f"k{axis}") for axis, extent in enumerate(over)]

        def element(indices: Sequence[PrimExpr]) -> PrimExpr:
            place = [out + k.var for out, k in zip(indices, inner, strict=True)]
            return _REDUCERS[kind](source[tuple(place)], axis=inner)

        return filled(shape, element, kind)

    return computed(node, compute, data, sizes, extents)


_REDUCERS: dict[str, Any] = {"sum": total, "prod": product, "max": largest, "min": smallest}


def shaped(node: Node, data: Expr, result: Expr, axes: Axes) -> Expr:
    """``result``, in which the reduced axes of ``data`` have the size 1, as ``node`` shapes it."""
    if operands.flag(node, "keepdims", 1):
        return result
    if axes.left is not None:
        return computed(node, _squeezed, result, list(axes.left), axes.order)
    return node.emit(relax.op.squeeze(result, list(axes.known))) if axes.known else result


def _squeezed(source: Tensor, left: Sequence[PrimExpr], order: Tensor) -> Tensor:
    """``source`` without all axes but those of ``order``."""

    def element(indices: Sequence[PrimExpr]) -> PrimExpr:
        place = []
        for axis in range(len(source.shape)):
            at = tvm_api.integer(0)
            for number, index in enumerate(indices):
                here = tvm_api.equal(order[tvm_api.integer(number)], axis)
                at = tirx.Select(here, index, at)
            place.append(at)
        return source[tuple(place)]

    return filled(left, element, "squeezed")
