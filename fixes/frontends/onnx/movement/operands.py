"""The operands of operators that move elements: known while the model is imported, or not."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from tvm import relax

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework.fix import invalid, refuse
from relaxcheck.fixes.framework.patch import NewFile
from relaxcheck.fixes.frontends.onnx.converting import Node
from relaxcheck.fixes.frontends.onnx.graph import known
from relaxcheck.fixes.tvm_api import BlockBuilder, Expr, shapes

UPSTREAM = NewFile("relax/frontend/onnx/movement.py")


def integers(node: Node, index: int, attribute: str = "") -> list[Any] | None:
    """The numbers and expressions of the input ``index``, or of ``attribute``, flat.

    None if they are known only at run time, or if the node has neither.
    """
    if attribute and attribute in node.attributes:
        return [int(each) for each in node.attributes[attribute]]
    value = known.known(node.input(index), node.parameters[1])
    return None if value is None else list(value.values.flat)


def is_absent(node: Node, index: int, attribute: str = "") -> bool:
    """True if the node has neither the input ``index`` nor ``attribute``."""
    return node.input(index) is None and attribute not in node.attributes


def numbers(node: Node, index: int, name: str, attribute: bool = False) -> list[int] | None:
    """As ``integers``, without symbols; None if the node has neither.

    Raises:
        OpNotImplemented: they are known only at run time.
    """
    if is_absent(node, index, name if attribute else ""):
        return None
    values = integers(node, index, name if attribute else "")
    if values is None or not all(isinstance(each, int) for each in values):
        raise refuse(node.operator, **{name: "known only at run time"})
    return values


def data_of(node: Node, index: int = 0) -> Expr:
    """The tensor that is the input ``index``, with its dimensions, as symbols if need be.

    Raises:
        OpNotImplemented: its rank is unknown.
    """
    value = node.inputs[index]
    if known.is_shape(value):
        return known.tensor(node.builder, value)
    if tvm_api.has_shape(value):
        return value
    rank = int(tvm_api.type_of(value).ndim) if tvm_api.is_tensor(value) else -1
    if rank < 0:
        raise refuse(node.operator, input=index, rank="unknown")
    dims = [tvm_api.shape_var(f"dim_{axis}") for axis in range(rank)]
    bound = node.builder.emit(value)
    return node.builder.match_cast(bound, tvm_api.tensor_type(dims, tvm_api.dtype_of(value)))


def dims_of(value: Expr) -> list[Any]:
    """The dimensions of a tensor: numbers where they are known."""
    return [known.number_of(dim) for dim in tvm_api.shape_of(value)]


def axis_of(node: Node, axis: int, rank: int) -> int:
    """``axis`` of ``rank`` axes, counted from the front.

    Raises:
        ValueError: there is no such axis.
    """
    if not -rank <= axis < rank:
        raise invalid(node.operator, f"the rank is {rank}", axis=axis)
    return axis % rank


def axes_of(node: Node, axes: Sequence[int], rank: int) -> list[int]:
    """``axes`` of ``rank`` axes, counted from the front.

    Raises:
        ValueError: there is no such axis, or one is named twice.
    """
    result = [axis_of(node, axis, rank) for axis in axes]
    if len(set(result)) < len(result):
        raise invalid(node.operator, "an axis is named twice", axes=list(axes))
    return result


def as_tensor(node: Node, index: int) -> Expr:
    """The int64 tensor that is the input ``index``."""
    value = node.inputs[index]
    if known.is_shape(value):
        return known.tensor(node.builder, value)
    if tvm_api.dtype_of(value) == "int64":
        return value
    return node.builder.normalize(relax.op.astype(value, "int64"))


def vector_of(node: Node, values: Sequence[Any]) -> Expr:
    """The int64 vector of ``values``, numbers or expressions."""
    return known.tensor(node.builder, relax.ShapeExpr([known.dim_of(each) for each in values]))


def length_of(node: Node, index: int, name: str) -> int:
    """The number of elements of the vector that is the input ``index``.

    Raises:
        OpNotImplemented: it is not known.
    """
    value = node.inputs[index]
    dims = dims_of(value) if tvm_api.has_shape(value) else [None]
    if len(dims) == 0:
        return 1
    if len(dims) != 1 or not isinstance(dims[0], int):
        raise refuse(node.operator, **{name: "of unknown length"})
    return dims[0]


def symbols_of(builder: BlockBuilder, tensor: Expr, length: int, name: str) -> list[Any]:
    """Symbols for the elements of an int64 vector of ``length``, none of which is negative."""
    made = builder.emit(relax.op.tensor_to_shape(tensor))
    symbols = [tvm_api.shape_var(f"{name}_{at}") for at in range(length)]
    builder.match_cast(made, shapes.shape_type(symbols))
    return symbols


def named_axes(node: Node, index: int, rank: int) -> Expr:
    """A matrix of 0 and 1: a row for each axis that the input ``index`` names, of ``rank`` places.

    The axes are known only at run time.
    """
    builder, count = node.builder, length_of(node, index, "axes")
    axes = builder.normalize(relax.op.reshape(as_tensor(node, index), (count, 1)))
    behind = relax.op.add(axes, relax.const(rank, "int64"))
    places = relax.op.where(relax.op.less(axes, relax.const(0, "int64")), behind, axes)
    every = tvm_api.const(np.arange(rank, dtype=np.int64).reshape(1, rank))
    return builder.normalize(relax.op.astype(relax.op.equal(places, every), "int64"))


def spread(node: Node, named: Expr, values: Expr, others: Expr) -> Expr:
    """A value for each axis: of the vector ``values`` for those ``named``, else of ``others``."""
    builder, count = node.builder, dims_of(named)[0]
    column = relax.op.reshape(values, (count, 1))
    own = relax.op.sum(relax.op.multiply(named, column), axis=[0])
    is_named = relax.op.greater(relax.op.sum(named, axis=[0]), relax.const(0, "int64"))
    return builder.normalize(relax.op.where(is_named, own, others))


Compute = Callable[..., Any]
"""The tensor of TE that a node computes: of tensors of TE, and of numbers in a list."""


def computed(
    node: Node, compute: Compute, tensors: Sequence[Expr], sizes: Sequence[Any] = ()
) -> Expr:
    """The call of a new function with ``compute(*tensors, sizes)``.

    ``sizes`` are numbers, and expressions of symbols that the dimensions of ``tensors`` may lack.
    """
    dims = [known.dim_of(size) for size in sizes]

    def of_all(*arguments: Any) -> Any:
        return compute(*arguments[:-1], list(arguments[-1]))

    return tvm_api.call_te(node.builder, of_all, [*tensors, dims], [], node.operator.lower())
