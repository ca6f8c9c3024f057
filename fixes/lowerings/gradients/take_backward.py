"""The gradient of take.

TVM counts dimensions before and after the axis, and takes a negative axis for one before all: it
adds outside the result. It takes indices of one dimension only, and divides by the sizes of others,
which may be 0. Type inference reads the data alone.
"""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from typing import Any

import numpy as np
from tvm import relax, te, tirx
from tvm.script.ir_builder import IRBuilder
from tvm.script.ir_builder import tirx as T

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework import probes
from relaxcheck.fixes.framework.fix import LEGALIZE, FaultPart, Fix, OperatorAttribute, invalid
from relaxcheck.fixes.framework.patch import Lowering, NewFile
from relaxcheck.fixes.framework.requirements import Requirement, call_te
from relaxcheck.fixes.lowerings.gradients.operands import (
    require_integers,
    require_one_dtype,
    require_shape,
)
from relaxcheck.fixes.tvm_api import BlockBuilder, Call, Expr, Tensor

UPSTREAM = NewFile("relax/transform/legalize_ops/take_backward.py")

OPERATOR = "relax.grad.take_backward"


def _lower(builder: BlockBuilder, call: Call) -> Expr:
    gradient, x, indices = call.args
    require_one_dtype(OPERATOR, output_grad=gradient, x=x)
    require_integers(OPERATOR, "indices", indices)
    rank = len(tvm_api.shape_of(x))
    if call.attrs.axis is None and rank != 1:
        raise invalid(OPERATOR, f"x has {rank} dimensions, not one", axis=None)
    axis = 0 if call.attrs.axis is None else int(call.attrs.axis)
    if not -rank <= axis < rank:
        raise invalid(OPERATOR, f"x has {rank} dimensions", axis=axis)
    at = axis % rank

    def require(g: Tensor, data: Tensor, places: Tensor) -> Iterator[Requirement]:
        wanted = [*data.shape[:at], *places.shape, *data.shape[at + 1 :]]
        yield from require_shape(OPERATOR, "output_grad", g.shape, wanted)

    def compute(g: Tensor, data: Tensor, places: Tensor) -> Tensor:
        return _collected(g, data, places, at)

    return call_te(builder, call, require, compute, gradient, x, indices)


def _collected(gradient: Tensor, data: Tensor, indices: Tensor, axis: int) -> Tensor:
    """The elements of ``gradient`` added to those of ``data`` that they were taken from."""
    dtype, end = tvm_api.dtype_of(data), axis + len(indices.shape)

    def body(buffers: Sequence[Any], out: Any) -> Any:
        added, places = buffers
        with IRBuilder() as builder:
            with T.seq_scope():
                with ExitStack() as loops:
                    to = [loops.enter_context(T.serial(0, dim)) for dim in data.shape]
                    T.buffer_store(out, tirx.const(0, dtype), to)
                with ExitStack() as loops:
                    at = [loops.enter_context(T.serial(0, dim)) for dim in gradient.shape]
                    index = places[tuple(at[axis:end])].astype("int64")
                    to = [*at[:axis], index, *at[end:]]
                    T.buffer_store(out, out[tuple(to)] + added[tuple(at)], to)
            return builder.get()

    return te.extern(
        [data.shape],
        [gradient, indices],
        lambda buffers, outs: body(buffers, outs[0]),
        dtype=dtype,
        name="take_backward",
    )


def _collects(axis: int, count: probes.Shape) -> bool:
    """True if each column of three rows gets what was taken of it."""
    call = probes.one_call(
        lambda *tensors: relax.op.grad.take_backward(*tensors, axis=axis),
        *((3, *count), (3, 2), count),
        dtypes=("float32", "float32", "int64"),
    )
    ones = np.ones((3, *count), "float32")
    arrays = [ones, np.zeros((3, 2), "float32"), np.ones(count, "int64")]
    return probes.computes(call, arrays, np.array([[0, ones[0].size]] * 3))


def collects_along_the_last_axis() -> bool:
    """True if the axis -1 is the last one."""
    return _collects(-1, (2,))


def collects_by_matrices() -> bool:
    """True if indices of two dimensions are taken."""
    return _collects(1, (2, 1))


def collects_nothing() -> bool:
    """True if the gradient in a tensor without elements is lowered."""
    call = probes.one_call(
        lambda *tensors: relax.op.grad.take_backward(*tensors, axis=0),
        *((1, 0), (2, 0), (1,)),
        dtypes=("float32", "float32", "int64"),
    )
    return probes.is_lowered(call)


def refuses_operands() -> bool:
    """True if a gradient, an axis and indices that do not fit are refused by name."""
    return all(
        _is_refused(shape, axis, dtypes, term)
        for shape, axis, dtypes, term in (
            ((3, 3), 0, ("float32", "float32", "int64"), "output_grad"),
            ((2, 2), 2, ("float32", "float32", "int64"), "axis"),
            ((2, 2), 0, ("float16", "float32", "int64"), "dtype"),
            ((2, 2), 0, ("float32", "float32", "float32"), "indices"),
        )
    )


def _is_refused(gradient: probes.Shape, axis: int, dtypes: tuple[str, ...], term: str) -> bool:
    def lower() -> None:
        call = probes.one_call(
            lambda *tensors: relax.op.grad.take_backward(*tensors, axis=axis),
            *(gradient, (3, 2), (2,)),
            dtypes=dtypes,
        )
        call.op.get_attr(LEGALIZE)(relax.BlockBuilder(), call)

    return probes.is_refused(lower, "take_backward", term)


FIX = Fix(
    name="take_backward",
    operators=(OPERATOR,),
    fault=(
        "the gradient of take along a negative axis is added outside the result; indices of other"
        " than one dimension, and tensors without elements, fail; operands that do not fit are"
        " accepted"
    ),
    issue=None,
    parts=(
        FaultPart("negative axes of take", lambda: not collects_along_the_last_axis(), deadly=True),
        FaultPart("indices of two dimensions", lambda: not collects_by_matrices()),
        FaultPart("gradients of nothing", lambda: not collects_nothing()),
        FaultPart("operands of a gradient", lambda: not refuses_operands()),
    ),
    attributes=(OperatorAttribute(OPERATOR, LEGALIZE, lambda original: _lower),),
    single=(OPERATOR,),
    after="losses",
    patch=(Lowering(OPERATOR, _lower),),
)
