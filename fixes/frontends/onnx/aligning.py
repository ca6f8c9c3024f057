"""Tensors whose dimensions are equal, though TVM cannot prove it.

Dimensions that the sizes of inputs make equal are often different expressions: ``m // 4 * 2`` and
``m // 2``. TVM gives what it makes of such tensors no shape, after which little can be converted or
lowered. A cast that is checked at run time gives them the same expressions.
"""

from collections.abc import Sequence

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework.patch import NewFile
from relaxcheck.fixes.frontends.onnx.computing import Node
from relaxcheck.fixes.tvm_api import Expr, PrimExpr

UPSTREAM = NewFile("relax/frontend/aligning.py")


def aligned(node: Node, tensors: Sequence[Expr], axis: int) -> list[Expr]:
    """``tensors`` with the same expressions for the dimensions of all axes but ``axis``.

    They are as they were where a shape is unknown, or where ranks differ.
    """
    if not all(tvm_api.has_shape(tensor) for tensor in tensors):
        return list(tensors)
    shapes = [tvm_api.shape_of(tensor) for tensor in tensors]
    if len({len(shape) for shape in shapes}) != 1:
        return list(tensors)
    common = [common_size(dims) for dims in zip(*shapes, strict=True)]
    axis %= max(len(common), 1)
    return [
        in_shape(node, tensor, [*common[:axis], *shape[axis : axis + 1], *common[axis + 1 :]])
        for tensor, shape in zip(tensors, shapes, strict=True)
    ]


def common_size(dims: Sequence[PrimExpr]) -> PrimExpr:
    """The number among ``dims``, or the shortest expression."""
    return min(dims, key=lambda dim: (tvm_api.as_int(dim) is None, len(tvm_api.show([dim]))))


def in_shape(node: Node, tensor: Expr, dims: Sequence[PrimExpr]) -> Expr:
    """``tensor`` in the shape of ``dims``, which a cast checks at run time if it is not proved.

    A tensor stays as it is if a number among its dimensions is another one: TVM's own error for
    what is made of it tells more.
    """
    have = tvm_api.shape_of(tensor)
    if all(map(tvm_api.proves_equal, have, dims)) or any(map(_differ, have, dims)):
        return tensor
    bound = node.emit(tensor)
    return node.builder.match_cast(bound, tvm_api.tensor_type(dims, tvm_api.dtype_of(tensor)))


def _differ(left: PrimExpr, right: PrimExpr) -> bool:
    known = [tvm_api.as_int(left), tvm_api.as_int(right)]
    return None not in known and known[0] != known[1]
