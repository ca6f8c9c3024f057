"""Tensors computed element by element from others that broadcast."""

from collections.abc import Callable, Sequence
from typing import Any

from tvm import tirx

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework.patch import NewFile
from relaxcheck.fixes.frontends.onnx.computing import broadcast, computed, filled
from relaxcheck.fixes.frontends.torch import operands
from relaxcheck.fixes.frontends.torch.converting import Node
from relaxcheck.fixes.tvm_api import Expr, PrimExpr, Tensor

UPSTREAM = NewFile("relax/frontend/torch/elements.py")

Element = Callable[..., PrimExpr]


def elementwise(node: Node, function: Element, *tensors: Expr) -> Expr:
    """The tensor with ``function`` of the elements of ``tensors``, which broadcast."""

    def compute(inputs: Sequence[Tensor]) -> Tensor:
        shape = broadcast_shape([tensor.shape for tensor in inputs])
        return filled(shape, lambda at: function(*(broadcast(t, at) for t in inputs)), "elements")

    return computed(node, compute, list(tensors))


def widely(node: Node, dtype: str, function: Element, *tensors: Expr) -> Expr:
    """The same of ``tensors`` in ``dtype``, computed in float32 where that is narrower."""
    inner = operands.inner_dtype(dtype)
    wide = [operands.cast(node, tensor, inner) for tensor in tensors]
    return operands.cast(node, elementwise(node, function, *wide), dtype)


def undefined(element: PrimExpr) -> PrimExpr:
    """True where ``element``, a float, is NaN; TVM has no isnan of bfloat16."""
    return tirx.isnan(element.astype(operands.inner_dtype(tvm_api.dtype_of(element))))


def loops(
    extents: Sequence[PrimExpr],
    body: Callable[[Sequence[PrimExpr]], Any],
    outer: Sequence[PrimExpr] = (),
) -> Any:
    """Loops over ``extents``, one after the other, around ``body`` of their variables."""
    if not extents:
        return body(outer or [tvm_api.integer(0)])
    variable = tirx.Var(f"i{len(outer)}", "int64")
    inside = loops(extents[1:], body, [*outer, variable])
    return tirx.For(variable, tvm_api.integer(0), extents[0], tirx.ForKind.SERIAL, inside)


def broadcast_shape(shapes: Sequence[Sequence[PrimExpr]]) -> list[PrimExpr]:
    """The shape that tensors of ``shapes`` have when broadcast; symbols are not taken for 1."""
    rank = max(map(len, shapes))
    result: list[PrimExpr] = []
    for position in range(-rank, 0):
        sizes = [shape[position] for shape in shapes if len(shape) >= -position]
        known = [size for size in sizes if tvm_api.as_int(size) not in (1, None)]
        others = [size for size in sizes if tvm_api.as_int(size) != 1]
        result.append([*known, *others, *sizes][0])
    return result
