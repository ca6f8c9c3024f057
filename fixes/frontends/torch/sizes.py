"""Sizes that are equal in PyTorch, though TVM cannot prove it."""

from collections.abc import Sequence
from typing import Any

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework.patch import NewFile
from relaxcheck.fixes.frontends.onnx.aligning import common_size, in_shape
from relaxcheck.fixes.frontends.torch.converting import Node
from relaxcheck.fixes.frontends.torch.probing import made_of
from relaxcheck.fixes.tvm_api import Expr

UPSTREAM = NewFile("relax/frontend/torch/sizes.py")


def matched(node: Node, names: Sequence[str], tensors: Sequence[Expr]) -> list[Expr]:
    """``tensors``, the arguments ``names``, with the same expressions for sizes that are equal.

    Two sizes of which neither is 1 in PyTorch are: else it would not broadcast them.
    """
    if not all(map(tvm_api.has_shape, tensors)):
        return list(tensors)
    shapes = [tvm_api.shape_of(tensor) for tensor in tensors]
    sizes = [_sizes(node, name) for name in names]
    for axis in range(-1, -1 - min(map(len, (*shapes, *sizes))), -1):
        if not any(isinstance(each[axis], int) and each[axis] == 1 for each in sizes):
            common = common_size([shape[axis] for shape in shapes])
            for shape in shapes:
                shape[axis] = common
    return [in_shape(node, *each) for each in zip(tensors, shapes, strict=True)]


def _sizes(node: Node, name: str) -> list[Any]:
    """The sizes of the argument ``name`` in PyTorch, numbers or symbolic; none of a number."""
    value = getattr(node.written(name), "meta", {}).get("val")
    return list(getattr(value, "shape", ()))


def are_lost() -> bool:
    """True if TVM does not know the shape of a sum whose sizes are equal by different ways."""
    import torch

    def call(graph: Any, *inputs: Any) -> Any:
        for node in inputs:
            node.meta["val"] = torch.zeros(2)
        total = graph.call_function(torch.ops.aten.add.Tensor, inputs)
        total.meta["val"] = torch.zeros(2)
        return total

    size = tvm_api.shape_var("n")
    halves = [tvm_api.floordiv(size, 2), tvm_api.floordiv(size, 4) * 2]
    return not tvm_api.has_shape(made_of(call, [([half], "float32") for half in halves]))
