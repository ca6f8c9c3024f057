"""Elements put at indices, which count from the end where they are negative.

Where several are put at one place, ``accumulate`` or the reduction says how they combine.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from tvm import relax, tirx

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework.fix import FaultPart, Fix, refuse
from relaxcheck.fixes.framework.patch import NewFile
from relaxcheck.fixes.frontends.onnx.computing import bounded, broadcast, computed, filled, looped
from relaxcheck.fixes.frontends.torch import operands
from relaxcheck.fixes.frontends.torch.converting import Convert, Node, patch, rebindings
from relaxcheck.fixes.frontends.torch.elements import broadcast_shape, loops
from relaxcheck.fixes.frontends.torch.indexing.choosing import count_of, from_front, places_of
from relaxcheck.fixes.frontends.torch.probing import differs
from relaxcheck.fixes.tvm_api import Expr, PrimExpr, Tensor

UPSTREAM = NewFile("relax/frontend/torch/putting.py")


def convert_index_put(node: Node) -> Expr:
    """``self`` with ``values`` at indices of some axes, as in ``x[a, :, b] = values``.

    In place, the tensor that is changed has the new elements from here on.
    """
    data = node.argument("self")
    dtype = tvm_api.dtype_of(data)
    places = places_of(node, data, node.argument("indices"))
    accumulates = bool(node.argument("accumulate"))

    def compute(source: Tensor, values: Tensor, indices: Sequence[Tensor]) -> Tensor:
        inputs = [source, values, *indices]
        (result,) = looped(
            "put",
            [source.shape],
            [dtype],
            inputs,
            lambda ins, outs: _put(ins, outs[0], list(places), accumulates),
        )
        return result

    values = operands.cast(node, node.argument("values"), dtype)
    result = computed(node, compute, data, values, list(places.values()))
    if node.operator.startswith("index_put_."):
        _replace(node, data, result)
    return result


def _put(inputs: Sequence[Any], result: Any, axes: Sequence[int], accumulates: bool) -> Any:
    """Copy the first of ``inputs``, then put the second at the indices of ``axes``, the others."""
    source, values, *indices = inputs
    dims = list(source.shape)
    shape = broadcast_shape([index.shape for index in indices])
    first = axes[0] if list(axes) == list(range(axes[0], axes[-1] + 1)) else 0
    kept = [size for axis, size in enumerate(dims) if axis not in axes]

    def copy(at: Sequence[PrimExpr]) -> Any:
        return tirx.BufferStore(result, source[tuple(at)], list(at))

    def put(at: Sequence[PrimExpr]) -> Any:
        chosen = at[first : first + len(shape)]
        rest = iter([*at[:first], *at[first + len(shape) :]])
        own = dict(zip(axes, indices, strict=True))
        place = [
            from_front(broadcast(own[axis], chosen), size) if axis in own else next(rest)
            for axis, size in enumerate(dims)
        ]
        value = broadcast(values, at)
        if accumulates:
            before = result[tuple(place)]
            value = tirx.any(before, value) if _is_bool(result) else before + value
        return tirx.BufferStore(result, value, place)

    full = [*kept[:first], *shape, *kept[first:]]
    return tirx.SeqStmt([loops(dims, copy), loops(full, put)])


def _is_bool(buffer: Any) -> bool:
    return tvm_api.dtype_of(buffer) == "bool"


def _replace(node: Node, before: Expr, after: Expr) -> None:
    """Let every name of the tensor ``before`` stand for ``after``."""
    for other, value in list(node.importer.env.items()):
        if value is before:
            node.importer.env[other] = after


_REDUCTIONS = {"sum": "add", "prod": "mul", "amax": "max", "amin": "min", "add": "add"}
_REDUCTIONS |= {"multiply": "mul"}


def convert_scatter(node: Node) -> Expr:
    """``self`` with the elements of ``src``, or ``value``, at indices along an axis.

    ``scatter_add`` adds them, ``scatter_reduce`` combines them by a name.

    Raises:
        OpNotImplemented: the mean of integers.
    """
    name, overload = node.operator.split(".")
    data, index = node.argument("self"), node.argument("index")
    rank, dtype = operands.rank_of(data), tvm_api.dtype_of(data)
    if any(tvm_api.as_int(size) == 0 for size in tvm_api.shape_of(index)):
        return data
    axis = operands.axis(node, node.argument("dim"), rank)
    inner = "int8" if dtype == "bool" else dtype
    target = operands.cast(node, operands.lifted(node, data), inner)
    index = operands.cast(node, operands.lifted(node, index), "int64")
    shape = tvm_api.shape_of(index)
    if overload.startswith("value"):
        number = operands.tensor(node, node.argument("value"), inner)
        source = node.emit(relax.op.broadcast_to(number, relax.ShapeExpr(shape)))
    else:
        source = operands.lifted(node, operands.cast(node, node.argument("src"), inner))
        if not all(map(tvm_api.proves_equal, tvm_api.shape_of(source), shape)):
            axes = list(range(len(shape)))
            source = node.emit(relax.op.strided_slice(source, axes, [0] * len(axes), list(shape)))
    if name == "scatter_reduce":
        result = _combined(node, target, index, source, axis)
    else:
        reduction = "add" if name == "scatter_add" else "update"
        if overload in ("reduce", "value_reduce"):
            reduction = _REDUCTIONS[node.argument("reduce")]
        result = _scattered(node, target, index, source, axis, reduction)
    return operands.cast(node, result if rank else operands.reshaped(node, result, []), dtype)


def _scattered(
    node: Node, data: Expr, index: Expr, source: Expr, axis: int, reduction: str
) -> Expr:
    return node.emit(relax.op.scatter_elements(data, index, source, axis, reduction))


def _combined(node: Node, data: Expr, index: Expr, source: Expr, axis: int) -> Expr:
    reduce, includes = node.argument("reduce"), bool(node.argument("include_self"))
    dtype = tvm_api.dtype_of(data)
    if reduce == "mean" and "int" in dtype:
        raise refuse(node.operator, reduce=reduce, dtype=dtype)
    kind = "add" if reduce == "mean" else _REDUCTIONS[reduce]
    if not includes:
        neutral = relax.const(_neutral(kind, dtype), dtype)
        shape = relax.ShapeExpr(tvm_api.shape_of(index))
        blank = node.emit(relax.op.broadcast_to(neutral, shape))
        data = _scattered(node, data, index, blank, axis, "update")
    result = _scattered(node, data, index, source, axis, kind)
    if reduce != "mean":
        return result
    one = node.emit(relax.op.ones_like(source))
    start = relax.op.ones_like(data) if includes else relax.op.zeros_like(data)
    count = _scattered(node, node.emit(start), index, one, axis, "add")
    count = node.emit(relax.op.maximum(count, operands.number(1, dtype)))
    return node.emit(relax.op.divide(result, count))


def _neutral(kind: str, dtype: str) -> Any:
    if kind in ("add", "mul"):
        return 0 if kind == "add" else 1
    if "float" in dtype:
        return float("-inf" if kind == "max" else "inf")
    limits = np.iinfo(dtype)
    return limits.min if kind == "max" else limits.max


def convert_masked_scatter(node: Node) -> Expr:
    """``self`` with the elements of ``source`` in their order where the mask holds."""
    data, source = node.argument("self"), node.argument("source")
    mask = operands.cast(node, node.argument("mask"), "bool")
    dims = broadcast_shape([tvm_api.shape_of(data), tvm_api.shape_of(mask)])
    data, mask = (
        node.emit(relax.op.broadcast_to(each, relax.ShapeExpr(dims))) for each in (data, mask)
    )
    count = count_of(source)
    if tvm_api.as_int(count) == 0:
        return data
    flags = operands.reshaped(node, operands.cast(node, mask, "int64"), [count_of(mask)])
    numbers = operands.reshaped(node, node.emit(relax.op.cumsum(flags, 0)), dims)

    def compute(old: Tensor, new: Tensor, holds: Tensor, number: Tensor) -> Tensor:
        def element(at: Sequence[PrimExpr]) -> PrimExpr:
            place = bounded(number[tuple(at)] - tvm_api.integer(1), new.shape[0])
            return tirx.Select(holds[tuple(at)], new[place], old[tuple(at)])

        return filled(old.shape, element, "scattered")

    flat = operands.reshaped(node, source, [count])
    return computed(node, compute, data, flat, mask, numbers)


def convert_select_scatter(node: Node) -> Expr:
    """``self`` with ``src`` in place of the slice at one index of an axis."""
    data, source = node.argument("self"), node.argument("src")
    axis = operands.axis(node, node.argument("dim"), operands.rank_of(data))

    def compute(old: Tensor, new: Tensor, sizes: Sequence[PrimExpr]) -> Tensor:
        place = from_front(sizes[0], old.shape[axis])

        def element(at: Sequence[PrimExpr]) -> PrimExpr:
            rest = (*at[:axis], *at[axis + 1 :])
            return tirx.Select(tvm_api.equal(at[axis], place), new[rest], old[tuple(at)])

        return filled(old.shape, element, "selected")

    index = node.argument("index")
    where = tvm_api.integer(index) if isinstance(index, int) else index
    return computed(node, compute, data, source, [where])


def convert_slice_scatter(node: Node) -> Expr:
    """``self`` with ``src`` in place of the slice from ``start`` to ``end``, by steps."""
    data, source = node.argument("self"), node.argument("src")
    axis = operands.axis(node, node.argument("dim"), operands.rank_of(data))
    start, step = node.argument("start"), int(node.argument("step"))
    begin = tvm_api.integer(start or 0) if isinstance(start, int | None) else start
    values = operands.cast(node, source, tvm_api.dtype_of(data))

    def compute(old: Tensor, new: Tensor, firsts: Sequence[PrimExpr]) -> Tensor:
        size, zero = old.shape[axis], tvm_api.integer(0)
        first = tirx.max(tirx.min(from_front(firsts[0], size), size), zero)

        def element(at: Sequence[PrimExpr]) -> PrimExpr:
            ahead = at[axis] - first
            count = tvm_api.floordiv(ahead, step)
            place = bounded(count, new.shape[axis])
            inside = tirx.all(
                ahead >= zero, count < new.shape[axis], tvm_api.equal(count * step, ahead)
            )
            value = new[(*at[:axis], place, *at[axis + 1 :])]
            return tirx.Select(inside, value, old[tuple(at)])

        return filled(old.shape, element, "sliced")

    if any(tvm_api.as_int(size) == 0 for size in tvm_api.shape_of(source)):
        return data
    return computed(node, compute, data, values, [begin])


CONVERSIONS: dict[str, Convert] = {
    "index_put.default": convert_index_put,
    "index_put_.default": convert_index_put,
    **dict.fromkeys(
        (
            *("scatter.src", "scatter.value", "scatter.reduce", "scatter.value_reduce"),
            *("scatter_add.default", "scatter_reduce.two"),
        ),
        convert_scatter,
    ),
    "masked_scatter.default": convert_masked_scatter,
    "select_scatter.default": convert_select_scatter,
    "slice_scatter.default": convert_slice_scatter,
}

_DATA = np.array([[1, 2], [3, 4]], np.float32)
_LAST = np.array([-1])
_PLACES = np.array([[0, 0]])

FIX = Fix(
    name="torch_putting",
    operators=tuple(CONVERSIONS),
    fault="index_put of PyTorch programs takes no masks; other ways to put elements are missing",
    issue=None,
    parts=(
        FaultPart(
            "masks", partial(differs, "index_put.default", _DATA, [_DATA > 2], np.float32(_LAST))
        ),
        FaultPart("scatter_add", partial(differs, "scatter_add.default", _DATA, 1, _PLACES, _DATA)),
        FaultPart(
            "select_scatter",
            partial(differs, "select_scatter.default", _DATA, _DATA[0], 1, -1),
        ),
    ),
    rebindings=rebindings(CONVERSIONS),
    after="torch_convolution",
    patch=patch(CONVERSIONS),
)
