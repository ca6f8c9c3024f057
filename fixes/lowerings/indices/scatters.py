"""Scatters, and reads and writes at places.

TOPI scatters over flat buffers. It divides a loop's variable by the sizes of the indices, which
may be 0, and takes these for sizes of the data. Over symbolic dimensions the code for such places
takes LLVM minutes. Here each axis has a loop of its own. ``index_put`` compares symbolic dimensions
by values that they have not, and ``index_tensor`` reads in front of its data where an index counts
from the end.
"""

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial
from typing import Any

import numpy as np
from tvm import relax, te, tirx, topi
from tvm.script.ir_builder import IRBuilder
from tvm.script.ir_builder import tirx as T

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework import probes
from relaxcheck.fixes.framework.fix import (
    LEGALIZE,
    FaultPart,
    Fix,
    OperatorAttribute,
    invalid,
    refuse,
    require_shapes,
)
from relaxcheck.fixes.framework.patch import NewFile, Wrapping
from relaxcheck.fixes.framework.targets import on_gpu
from relaxcheck.fixes.tvm_api import BlockBuilder, Call, Expr, Legalization, PrimExpr, Tensor

UPSTREAM = NewFile("relax/transform/legalize_ops/scatters.py")

ELEMENTS, ND, PUT = "relax.scatter_elements", "relax.scatter_nd", "relax.index_put"
TENSOR = "relax.index_tensor"

_CHOICES = ("Select", "if_then_else", "%")
"""In the text of a function that tells negative indices from others."""

At = Callable[[Sequence[PrimExpr], Sequence[Any]], list[PrimExpr]]
"""``at(place, buffers)``: where the update at ``place`` goes, by the buffers of the indices."""


def _combined(reduction: str, old: PrimExpr, new: PrimExpr) -> PrimExpr:
    match reduction:
        case "update":
            return new
        case "add":
            return old + new
        case "mul":
            return old * new
        case "mean":
            return (old + new) / tirx.const(2, tvm_api.dtype_of(old))
        case "min":
            return tirx.min(old, new)
    return tirx.max(old, new)


def _front(index: PrimExpr, size: PrimExpr) -> PrimExpr:
    """``index`` counted from the front of an axis of ``size``."""
    wide = tirx.Cast("int64", index)
    return tirx.Select(wide < 0, wide + tirx.Cast("int64", size), wide)


def _scatter(
    data: Tensor, indices: Sequence[Tensor], updates: Tensor, at: At, reduction: str
) -> Tensor:
    """``data`` after the updates, one after the other."""

    def body(buffers: Sequence[Any], out: Any) -> Any:
        source, *places, new = buffers
        with IRBuilder() as builder:
            with T.seq_scope():
                with ExitStack() as loops:
                    place = [loops.enter_context(T.serial(0, dim)) for dim in source.shape]
                    T.buffer_store(out, source[tuple(place)], place)
                with ExitStack() as loops:
                    place = [loops.enter_context(T.serial(0, dim)) for dim in new.shape]
                    to = at(place, places)
                    combined = _combined(reduction, out[tuple(to)], new[tuple(place)])
                    T.buffer_store(out, combined, to)
            return builder.get()

    return te.extern(
        [data.shape],
        [data, *indices, updates],
        lambda buffers, outs: body(buffers, outs[0]),
        dtype=tvm_api.dtype_of(data),
        name="scattered",
    )


def _elements(data: Tensor, indices: Tensor, updates: Tensor, axis: int, reduction: str) -> Tensor:
    along = axis % len(data.shape)

    def at(place: Sequence[PrimExpr], places: Sequence[Any]) -> list[PrimExpr]:
        front = _front(places[0][tuple(place)], data.shape[along])
        return [*place[:along], front, *place[along + 1 :]]

    return _scatter(data, [indices], updates, at, reduction)


def _nd(data: Tensor, indices: Tensor, updates: Tensor, reduction: str) -> Tensor:
    outer, depth = len(indices.shape) - 1, int(indices.shape[-1])

    def at(place: Sequence[PrimExpr], places: Sequence[Any]) -> list[PrimExpr]:
        fronts = [
            _front(places[0][(*place[:outer], axis)], data.shape[axis]) for axis in range(depth)
        ]
        return [*fronts, *place[outer:]]

    return _scatter(data, [indices], updates, at, reduction)


def _aligned(buffer: Any, place: Sequence[PrimExpr]) -> PrimExpr:
    """The element of ``buffer`` at ``place``, to which it broadcasts."""
    own = place[len(place) - len(buffer.shape) :]
    is_broadcast = [tvm_api.as_int(dim) == 1 for dim in buffer.shape]
    return buffer[
        tuple(0 if broadcast else each for broadcast, each in zip(is_broadcast, own, strict=True))
    ]


def _put(data: Tensor, values: Tensor, *indices: Tensor, accumulate: bool) -> Tensor:
    if len(indices) != len(data.shape):
        why = "there is not one tensor of indices for each dimension"
        raise invalid(PUT, why, data=tvm_api.show(data.shape), indices=len(indices))
    rank = max(len(each.shape) for each in indices)
    if len(values.shape) != rank:
        # TOPI reads the values as they lie in memory.
        raise refuse(PUT, values=tvm_api.show(values.shape))

    def at(place: Sequence[PrimExpr], places: Sequence[Any]) -> list[PrimExpr]:
        return [
            _front(_aligned(each, place), size)
            for each, size in zip(places, data.shape, strict=True)
        ]

    return _scatter(data, indices, values, at, "add" if accumulate else "update")


def _tensor(data: Tensor, *indices: Tensor) -> Tensor:
    def from_front(axis: int, index: Tensor) -> Tensor:
        return te.compute(
            index.shape, lambda *at: _front(index(*at), data.shape[axis]), name="from_front"
        )

    return topi.index_tensor(data, [from_front(axis, each) for axis, each in enumerate(indices)])


def _listed(builder: BlockBuilder, indices: Expr) -> list[Expr]:
    """The fields of the tuple ``indices``."""
    count = len(tvm_api.type_of(indices).fields)
    if isinstance(indices, relax.Tuple):
        return list(indices.fields)
    return [builder.emit(relax.TupleGetItem(indices, at)) for at in range(count)]


def _of_loops(original: Legalization) -> Legalization:
    """``original`` on GPUs, else a loop for each axis."""

    def lower(builder: BlockBuilder, call: Call) -> Expr:
        if on_gpu():
            return original(builder, call)
        require_shapes(call)
        reduction = str(call.attrs.reduction)
        if reduction not in ("update", "add", "mul", "min", "max", "mean"):
            why = "the reduction is none of update, add, mul, min, max"
            raise invalid(call.op.name, why, reduction=reduction)
        if call.op.name == ELEMENTS:
            axis, rank = int(call.attrs.axis), len(tvm_api.shape_of(call.args[0]))
            if not -rank <= axis < rank:
                raise invalid(ELEMENTS, f"the data have {rank} dimensions", axis=axis)
            lowered = partial(_elements, axis=axis, reduction=reduction)
        else:
            lowered = partial(_nd, reduction=reduction)
        return builder.call_te(lowered, *call.args, primfunc_name_hint="scatter")

    return lower


def _of_places(original: Legalization) -> Legalization:
    """``original`` on GPUs, else a loop for each axis of the indices."""

    def lower(builder: BlockBuilder, call: Call) -> Expr:
        if on_gpu():
            return original(builder, call)
        data, indices, values = call.args
        lowered = partial(_put, accumulate=bool(call.attrs.accumulate))
        operands = (data, values, *_listed(builder, indices))
        return builder.call_te(lowered, *operands, primfunc_name_hint="index_put")

    return lower


def _from_front(original: Legalization) -> Legalization:
    """``original`` of index_tensor, whose indices may count from the end."""

    def lower(builder: BlockBuilder, call: Call) -> Expr:
        data, indices = call.args
        return builder.call_te(
            _tensor, data, *_listed(builder, indices), primfunc_name_hint="index_tensor"
        )

    return lower


def scatters_nothing() -> bool:
    """True if no update leaves the data as they are."""
    call = probes.one_call(
        lambda *tensors: relax.op.scatter_elements(*tensors, axis=0),
        *((2, 3), (1, 0), (1, 0)),
        dtypes=("float32", "int64", "float32"),
    )
    empty = np.zeros((1, 0))
    data = np.arange(6, dtype="float32").reshape(2, 3)
    return probes.computes(call, [data, empty.astype("int64"), empty.astype("float32")], data)


def scatters_fewer() -> bool:
    """True if indices that are fewer along another axis write where they say."""
    call = probes.one_call(
        lambda *tensors: relax.op.scatter_elements(*tensors, axis=2),
        *((2, 2, 1), (2, 1, 1), (2, 1, 1)),
        dtypes=("float32", "int64", "float32"),
    )
    data, new = np.zeros((2, 2, 1), "float32"), np.ones((2, 1, 1), "float32")
    expected = np.array([[[1], [0]], [[1], [0]]])
    return probes.computes(call, [data, np.zeros((2, 1, 1), "int64"), new], expected)


def puts_symbolic() -> bool:
    """True if an index_put at a symbolic number of places is lowered."""
    n = tvm_api.shape_var("n")
    call = probes.one_call(
        lambda data, rows, columns, values: relax.op.index_put(data, (rows, columns), values),
        *((2, 2), (n,), (n,), (n,)),
        dtypes=("float32", "int64", "int64", "float32"),
    )
    return probes.is_lowered(call)


def reads_from_the_end() -> bool:
    """True if the index -1 is that of the last element."""
    call = probes.one_call(
        lambda data, index: relax.op.index_tensor(data, [index]),
        *((3,), (2,)),
        dtypes=("float32", "int64"),
    )
    data = np.array([3, 4, 5], "float32")
    lowered = probes.lowered(call)
    if lowered is None or not any(word in str(lowered[0]) for word in _CHOICES):
        # It would read in front of its data.
        return False
    return probes.computes(call, [data, np.array([-1, 1])], np.array([5, 4]))


FIX = Fix(
    name="scatters",
    operators=(ELEMENTS, ND, PUT, TENSOR),
    fault=(
        "scatters of no updates divide by zero, those of fewer indices along another axis write"
        " elsewhere; over symbolic dimensions they take minutes to compile, and index_put fails;"
        " index_tensor reads outside its data for negative indices"
    ),
    issue=None,
    parts=(
        FaultPart("no updates", lambda: not scatters_nothing()),
        FaultPart("fewer indices", lambda: not scatters_fewer()),
        FaultPart("symbolic places", lambda: not puts_symbolic()),
        FaultPart("negative indices", lambda: not reads_from_the_end()),
    ),
    attributes=(
        OperatorAttribute(ELEMENTS, LEGALIZE, _of_loops),
        OperatorAttribute(ND, LEGALIZE, _of_loops),
        OperatorAttribute(PUT, LEGALIZE, _of_places),
        OperatorAttribute(TENSOR, LEGALIZE, _from_front),
    ),
    single=(ELEMENTS, TENSOR),
    after="pixel_shuffle",
    patch=(
        Wrapping(ELEMENTS, _of_loops),
        Wrapping(ND, _of_loops),
        Wrapping(PUT, _of_places),
        Wrapping(TENSOR, _from_front),
    ),
)
