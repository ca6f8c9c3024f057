"""The inputs of a node: their types, and the values that are known while a model is imported.

An input that holds integers is a constant, a shape with symbols, or a tensor at run time. The
integers of the last become symbols, which a match_cast binds.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from tvm import relax

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework.fix import invalid, refuse
from relaxcheck.fixes.framework.patch import NewFile
from relaxcheck.fixes.frontends.onnx.converting import Node
from relaxcheck.fixes.tvm_api import Expr, PrimExpr
from relaxcheck.fixes.tvm_api import functions as tvm_api_functions
from relaxcheck.fixes.tvm_api import shapes as tvm_api_shapes

UPSTREAM = NewFile("relax/frontend/onnx/operands.py")

Dims = list[PrimExpr]

FLOATS = ("float16", "bfloat16", "float32", "float64")
NARROW = ("float16", "bfloat16")
"""Floats that operators compute in float32."""


def required(node: Node, index: int, name: str) -> Expr:
    """The tensor that is input number ``index``, of known shape.

    Dimensions of which only the number is known become symbols.

    Raises:
        ValueError: the input is left out.
        OpNotImplemented: its rank is not known.
    """
    value = tensor(node, node.input(index))
    if value is None:
        raise invalid(node.operator, "it is a required input", **{name: None})
    return shaped(node, name, value)


def optional(node: Node, index: int, name: str) -> Expr | None:
    """The same for an input that may be left out."""
    return None if node.input(index) is None else required(node, index, name)


def tensor(node: Node, value: Any) -> Any:
    """``value`` as a tensor, which a shape or a number becomes; None stays."""
    if value is None:
        return None
    number = tvm_api_shapes.integer_of(value)
    if number is not None:
        known = tvm_api.as_int(number)
        if known is not None:
            return tvm_api.const(np.array(known, np.int64))
        vector = node.emit(relax.op.shape_to_tensor(relax.ShapeExpr([number])))
        return node.emit(relax.op.reshape(vector, relax.ShapeExpr([])))
    if tvm_api_shapes.is_shape_type(tvm_api.type_of(value)):
        return node.emit(relax.op.shape_to_tensor(value))
    return value


def shaped(node: Node, name: str, value: Expr) -> Expr:
    """``value``, of known shape: of symbols where only its rank is known.

    Raises:
        OpNotImplemented: its rank is not known.
    """
    if tvm_api.has_shape(value):
        return value
    type_ = tvm_api.type_of(value)
    rank = int(getattr(type_, "ndim", -1))
    if rank < 0:
        raise refuse(node.operator, **{f"type of {name}": tvm_api.show_type(type_)})
    symbols = [tvm_api.shape_var(f"{name}_{axis}") for axis in range(rank)]
    return node.builder.match_cast(value, tvm_api.tensor_type(symbols, tvm_api.dtype_of(value)))


def held(node: Node, index: int) -> Any:
    """The array that input number ``index`` holds while the model is imported.

    None if it is left out, or has a value at run time alone.
    """
    value = node.input(index)
    if value is None:
        return None
    if tvm_api_functions.is_constant(value):
        return np.asarray(tvm_api.tensor_of(value).numpy())
    if isinstance(value, relax.ShapeExpr):
        dims = list(map(tvm_api.as_int, value.values))
        return None if None in dims else np.array(dims, np.int64)
    number = tvm_api_shapes.integer_of(value)
    if number is not None:
        known = tvm_api.as_int(number)
        return None if known is None else np.array(known, np.int64)
    # A weight may be a parameter of the module; the importer keeps its value at hand.
    _, weights = node.parameters
    name = tvm_api_shapes.name_of(value) if isinstance(value, relax.Var) else None
    weight = weights.get(name)
    # An input may have the name of a weight, of which the importer drops a prefix.
    return np.asarray(weight[1].numpy()) if weight and weight[0].same_as(value) else None


def integers(node: Node, index: int) -> list[int] | None:
    """The integers of input number ``index``, None if they are not known."""
    values = held(node, index)
    return None if values is None else [int(value) for value in values.flat]


def sizes(node: Node, index: int, name: str, count: int) -> Dims:
    """The ``count`` integers of input number ``index``, as sizes: numbers or symbols.

    Raises:
        ValueError: there is another number of them.
    """
    value = node.input(index)
    if isinstance(value, relax.ShapeExpr):
        dims = list(value.values)
    else:
        number = tvm_api_shapes.integer_of(value)
        if number is not None:
            dims = [number]
        else:
            known = integers(node, index)
            if known is None:
                return at_run_time(node, name, required(node, index, name), count)
            dims = [tvm_api.integer(value) for value in known]
    if len(dims) != count:
        raise invalid(node.operator, f"it must have {count} of them", **{name: tvm_api.show(dims)})
    return dims


def at_run_time(node: Node, name: str, value: Expr, count: int) -> Dims:
    """Symbols for the ``count`` integers that the tensor ``value`` has at run time.

    Raises:
        ValueError: it has another number of them.
    """
    rank, dims = len(tvm_api.shape_of(value)), tvm_api.shape_of(value)
    if rank > 1 or (rank == 1 and tvm_api.as_int(dims[0]) not in (count, None)):
        why = f"it must have {count} elements"
        raise invalid(node.operator, why, **{f"shape of {name}": tvm_api.show(dims)})
    if tvm_api.dtype_of(value) != "int64":
        value = node.emit(relax.op.astype(value, "int64"))
    if rank == 0:
        value = node.emit(relax.op.reshape(value, relax.ShapeExpr([1])))
    else:
        value = node.builder.match_cast(value, tvm_api.tensor_type([count], "int64"))
    shape = node.emit(relax.op.tensor_to_shape(value))
    symbols = [tvm_api.shape_var(f"{name}_{number}") for number in range(count)]
    node.builder.match_cast(shape, tvm_api_shapes.shape_type(symbols))
    return symbols


def reshaped(node: Node, value: Expr, dims: Sequence[PrimExpr | int]) -> Expr:
    """``value`` in the shape of ``dims``."""
    if any(tvm_api.as_int(dim) == 0 for dim in dims):
        # A 0 would stand for the dimension of ``value`` itself.
        return node.emit(relax.op.zeros(relax.ShapeExpr(list(dims)), tvm_api.dtype_of(value)))
    return node.emit(relax.op.reshape(value, relax.ShapeExpr(list(dims))))


def rank_of(value: Expr) -> int:
    """The number of dimensions of ``value``, whose shape is known."""
    return len(tvm_api.shape_of(value))


def widened(node: Node, value: Expr, dtype: str) -> Expr:
    """``value`` in ``dtype``."""
    if tvm_api.dtype_of(value) == dtype:
        return value
    return node.emit(relax.op.astype(value, dtype))


def inner_dtype(dtype: str) -> str:
    """The dtype to compute floats of ``dtype`` in."""
    return "float32" if dtype in NARROW else dtype


def normalized(node: Node, name: str, axis: int, rank: int, last: int | None = None) -> int:
    """``axis``, from 0 on, of a tensor of ``rank`` dimensions.

    It may be up to ``last``, which is ``rank - 1`` by default.

    Raises:
        ValueError: there is no such axis.
    """
    last = rank - 1 if last is None else last
    if not -rank <= axis <= last:
        raise invalid(node.operator, f"it must be from {-rank} to {last}", **{name: axis})
    return axis + rank if axis < 0 else axis


def normalized_axes(node: Node, axes: Sequence[int], rank: int) -> list[int]:
    """``axes``, from 0 on, of a tensor of ``rank`` dimensions.

    Raises:
        ValueError: there is no such axis, or an axis occurs twice.
    """
    result = [normalized(node, "axes", int(axis), rank) for axis in axes]
    if len(set(result)) != len(result):
        raise invalid(node.operator, "an axis occurs twice", axes=list(axes))
    return result


def choice(node: Node, name: str, default: str, allowed: Sequence[str]) -> str:
    """The attribute ``name``, which is a text.

    Raises:
        ValueError: it is none of those ``allowed``.
    """
    value = str(node.attribute(name, default))
    if value not in allowed:
        raise invalid(node.operator, f"it must be one of {', '.join(allowed)}", **{name: value})
    return value


def flag(node: Node, name: str, default: int = 0) -> bool:
    """The attribute ``name``, which is 0 or 1.

    Raises:
        ValueError: it is neither.
    """
    value = node.attribute(name, default)
    if value not in (0, 1):
        raise invalid(node.operator, "it must be 0 or 1", **{name: value})
    return bool(value)


def decimal(node: Node, name: str, default: float) -> float:
    """The attribute ``name``, a number of float32, as are defaults that are no sums of halves."""
    return float(np.float32(node.attribute(name, default)))
