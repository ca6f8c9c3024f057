"""Tensors joined along an axis, whose other dimensions are equal when the program runs."""

from typing import Any

from tvm import relax

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework.fix import FaultPart, Fix
from relaxcheck.fixes.framework.patch import NewFile
from relaxcheck.fixes.frontends.onnx.aligning import aligned
from relaxcheck.fixes.frontends.torch import operands
from relaxcheck.fixes.frontends.torch.converting import Convert, Node, patch, rebindings
from relaxcheck.fixes.frontends.torch.probing import made_of
from relaxcheck.fixes.tvm_api import Expr

UPSTREAM = NewFile("relax/frontend/torch/joining.py")


def convert_joined(node: Node) -> Expr:
    """``tensors`` one behind the other along ``dim``, in the dtype that they are promoted to."""
    tensors = [tensor for tensor in node.argument("tensors") if not _is_legacy(tensor)]
    if not tensors or not all(tvm_api.has_shape(tensor) for tensor in tensors):
        return node.converted()
    dim = operands.axis(node, node.argument("dim"), operands.rank_of(tensors[0]))
    tensors = [operands.cast(node, tensor, node.dtype) for tensor in tensors]
    return node.emit(relax.op.concat(aligned(node, tensors, dim), dim))


def _is_legacy(tensor: Expr) -> bool:
    """True of a vector without elements, which PyTorch leaves out whatever the others' rank."""
    return tvm_api.has_shape(tensor) and [
        tvm_api.as_int(dim) for dim in tvm_api.shape_of(tensor)
    ] == [0]


CONVERSIONS: dict[str, Convert] = {
    "cat.default": convert_joined,
    "concat.default": convert_joined,
}


def _loses_shape() -> bool:
    """True if TVM does not know the shape of two tensors joined, whose lengths are symbols."""
    import torch

    sizes = tvm_api.shape_var("n"), tvm_api.shape_var("m")

    def call(graph: Any, *inputs: Any) -> Any:
        joined = graph.call_function(torch.ops.aten.cat.default, (list(inputs), 1))
        joined.meta["val"] = torch.zeros(1, 5)
        return joined

    result = made_of(call, [([sizes[0], 2], "float32"), ([sizes[1], 3], "float32")])
    return not tvm_api.has_shape(result)


FIX = Fix(
    name="torch_joining",
    operators=tuple(CONVERSIONS),
    fault=(
        "tensors of PyTorch programs that are joined have no shape, after which the import fails,"
        " where TVM cannot prove that their other dimensions are equal"
    ),
    issue=None,
    parts=(FaultPart("no shape", _loses_shape),),
    rebindings=rebindings(CONVERSIONS),
    after="torch_slices",
    patch=patch(CONVERSIONS),
)
