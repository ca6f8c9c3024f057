"""Sorted elements of any dtype, NaN as the largest, and places in a sorted sequence."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from tvm import relax, te, tirx

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework.fix import FaultPart, Fix
from relaxcheck.fixes.framework.patch import NewFile
from relaxcheck.fixes.frontends.onnx.computing import broadcast, computed
from relaxcheck.fixes.frontends.torch import operands
from relaxcheck.fixes.frontends.torch.converting import Convert, Node, patch, rebindings
from relaxcheck.fixes.frontends.torch.elements import broadcast_shape, elementwise
from relaxcheck.fixes.frontends.torch.indexing.choosing import places_where
from relaxcheck.fixes.frontends.torch.probing import differs
from relaxcheck.fixes.tvm_api import Expr, PrimExpr, Tensor

UPSTREAM = NewFile("relax/frontend/torch/ordering.py")

_KEYS = {"float64": "int64", "int64": "int64"}
"""The dtype of the keys of elements; it is int32 for the others."""


def _keys(node: Node, data: Expr) -> Expr:
    """Integers in the order of ``data``, in which NaN is above infinity and both zeros are equal.

    TVM has no order of NaN, and none of bools and of narrow integers.
    """
    dtype = tvm_api.dtype_of(data)
    key = _KEYS.get(dtype, "int32")
    if "float" not in dtype:
        return operands.cast(node, data, key)
    wide = operands.cast(node, data, operands.inner_dtype(dtype))

    def ordered(element: PrimExpr) -> PrimExpr:
        zero = tirx.const(0, tvm_api.dtype_of(element))
        # The sum of both zeros is the one above.
        pattern = tirx.reinterpret(key, element + zero)
        # Of a negative number the pattern is its size above the least integer.
        negative = pattern < tirx.const(0, key)
        signed = tirx.Select(negative, tirx.min_value(key) - pattern, pattern)
        return tirx.Select(tirx.isnan(element), tirx.max_value(key), signed)

    return elementwise(node, ordered, wide)


def _sorted(node: Node, descending: bool) -> tuple[Expr, Expr]:
    """The elements along ``dim`` in order, equal ones in their own, and the places of them."""
    data, rank = node.argument("self"), operands.rank_of(node.argument("self"))
    axis = operands.axis(node, node.argument("dim"), rank)
    lifted = operands.lifted(node, data)
    places = node.emit(relax.op.argsort(_keys(node, lifted), axis, descending, dtype="int64"))
    values = node.emit(relax.op.gather_elements(lifted, places, axis=axis))
    if rank:
        return values, places
    return operands.reshaped(node, values, []), operands.reshaped(node, places, [])


def convert_sort(node: Node) -> Expr:
    """Sorted elements and their places, or the places alone."""
    values, places = _sorted(node, bool(node.argument("descending")))
    return places if node.operator.startswith("argsort") else relax.Tuple([values, places])


def convert_kth(node: Node) -> Expr:
    """The element that is ``k``-th in order along an axis, and its place."""
    values, places = _sorted(node, descending=False)
    rank, kth = operands.rank_of(values), int(node.argument("k"))
    if not rank:
        return relax.Tuple([values, places])
    axis = operands.axis(node, node.argument("dim"), rank)
    both = []
    for each in (values, places):
        only = node.emit(relax.op.strided_slice(each, [axis], [kth - 1], [kth]))
        both.append(only if node.argument("keepdim") else node.emit(relax.op.squeeze(only, [axis])))
    return relax.Tuple(both)


def convert_top(node: Node) -> Expr:
    """The ``k`` largest or smallest elements along an axis, in order, and their places."""
    data, rank = node.argument("self"), operands.rank_of(node.argument("self"))
    count, largest = node.argument("k"), bool(node.argument("largest"))
    axis = operands.axis(node, node.argument("dim"), rank)
    lifted = operands.lifted(node, data)
    if not isinstance(count, int) or count == 0:
        values, places = _sorted(node, largest)
        both = (values, places) if rank else (lifted, operands.lifted(node, places))
        cut = [node.emit(relax.op.strided_slice(each, [axis], [0], [count])) for each in both]
        return relax.Tuple([each if rank else operands.reshaped(node, each, []) for each in cut])
    top = relax.op.topk(
        _keys(node, lifted), k=count, axis=axis, largest=largest, ret_type="indices", dtype="int64"
    )
    places = node.emit(top)
    values = node.emit(relax.op.gather_elements(lifted, places, axis=axis))
    if rank:
        return relax.Tuple([values, places])
    return relax.Tuple([operands.reshaped(node, each, []) for each in (values, places)])


def convert_search(node: Node) -> Expr:
    """The places in sorted sequences at which elements go: before equal ones, or behind them.

    A sequence is along the last axis, one for each row of elements, or one for all.
    """
    sequence = "boundaries" if node.operator.startswith("bucketize") else "sorted_sequence"
    behind = bool(node.argument("right"))
    if sequence == "sorted_sequence":
        behind = behind or node.argument("side") == "right"
    rows = node.argument(sequence)
    order = None if sequence == "boundaries" else node.argument("sorter")
    if order is not None:
        rows = node.emit(relax.op.gather_elements(rows, order, axis=operands.rank_of(rows) - 1))
    value = node.argument("self")
    dtype = tvm_api.dtype_of(rows)
    if operands.is_tensor(value):
        dtype = _promoted(dtype, tvm_api.dtype_of(value))
    rows, value = operands.cast(node, rows, dtype), operands.tensor(node, value, dtype)

    def compute(line: Tensor, values: Tensor) -> Tensor:
        axis = te.reduce_axis((0, line.shape[-1]), name="k")
        one, zero = tvm_api.integer(1), tvm_api.integer(0)

        def count(*at: PrimExpr) -> PrimExpr:
            lead = at[:-1] if len(line.shape) > 1 else ()
            element, wanted = line[(*lead, axis)], values[at]
            ends = element > wanted if behind else element >= wanted
            return te.sum(tirx.Select(ends, zero, one), axis=axis)

        return te.compute(values.shape, count, name="searched")

    return operands.cast(node, computed(node, compute, rows, value), node.dtype)


def _promoted(first: str, second: str) -> str:
    import torch

    both = (getattr(torch, name) for name in (first, second))
    return str(torch.promote_types(*both)).removeprefix("torch.")


def convert_selection(node: Node) -> Expr:
    """The elements where the mask holds, in their order; both broadcast."""
    pair = [node.argument(name) for name in ("self", "mask")]
    dims = broadcast_shape([tvm_api.shape_of(each) for each in pair])

    def compute(tensors: Sequence[Tensor]) -> Tensor:
        shape = broadcast_shape([tensor.shape for tensor in tensors])
        return te.compute(shape, lambda *at: broadcast(tensors[0], at), name="whole")

    flat = []
    for each in pair:
        other = pair[1] if each is pair[0] else pair[0]
        whole = computed(node, compute, [each, other])
        flat.append(operands.reshaped(node, whole, [_product(dims)]))
    (places,) = places_where(node, flat[1])
    return node.emit(relax.op.take(flat[0], places, 0))


def _product(dims: Sequence[PrimExpr]) -> PrimExpr:
    total: Any = tvm_api.integer(1)
    for dim in dims:
        total = total * dim
    known = tvm_api.as_int(total)
    return total if known is None else tvm_api.integer(known)


def convert_nonzero(node: Node) -> Expr:
    """The places of the elements that are not 0, one in each row."""
    data = node.argument("self")
    rows = places_where(node, operands.lifted(node, data))
    length = tvm_api.shape_of(rows[0])[0]
    if not operands.rank_of(data):
        return node.emit(relax.op.zeros(relax.ShapeExpr([length, 0]), "int64"))
    columns = [operands.reshaped(node, row, [length, 1]) for row in rows]
    return columns[0] if len(columns) == 1 else node.emit(relax.op.concat(columns, axis=1))


CONVERSIONS: dict[str, Convert] = {
    **dict.fromkeys(
        ("sort.default", "sort.stable", "argsort.default", "argsort.stable"), convert_sort
    ),
    "kthvalue.default": convert_kth,
    "topk.default": convert_top,
    **dict.fromkeys(
        ("searchsorted.Tensor", "searchsorted.Scalar", "bucketize.Tensor", "bucketize.Scalar"),
        convert_search,
    ),
    "masked_select.default": convert_selection,
    "nonzero.default": convert_nonzero,
}

_DATA = np.array([np.nan, 1, 2], np.float32)
_LINE = np.array([1, 2, 2, 4], np.float32)

FIX = Fix(
    name="torch_ordering",
    operators=tuple(CONVERSIONS),
    fault="sorting in PyTorch programs loses elements where one is NaN; nonzero is missing",
    issue=None,
    parts=(
        FaultPart("NaN", partial(differs, "sort.default", _DATA)),
        FaultPart("bools", partial(differs, "argsort.default", _DATA > 1)),
        FaultPart("nonzero", partial(differs, "nonzero.default", _LINE[None] - 1)),
        FaultPart("searching", partial(differs, "searchsorted.Tensor", _LINE, _DATA)),
    ),
    rebindings=rebindings(CONVERSIONS),
    after="torch_casting",
    patch=patch(CONVERSIONS),
)
