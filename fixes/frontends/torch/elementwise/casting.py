"""Tensors in another dtype, and normalized exponentials in the dtype that a program names."""

from functools import partial

import numpy as np
from tvm import relax

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework.fix import FaultPart, Fix
from relaxcheck.fixes.framework.patch import NewFile
from relaxcheck.fixes.frontends.onnx.computing import broadcast, computed, filled
from relaxcheck.fixes.frontends.torch import operands
from relaxcheck.fixes.frontends.torch.converting import Convert, Node, patch, rebindings
from relaxcheck.fixes.frontends.torch.probing import differs
from relaxcheck.fixes.frontends.torch.reducing.reductions import truths
from relaxcheck.fixes.tvm_api import Expr, Tensor

UPSTREAM = NewFile("relax/frontend/torch/casting.py")


def convert_cast(node: Node) -> Expr:
    """``self`` in the dtype of the result."""
    return _cast(node, node.argument("self"))


def _cast(node: Node, data: Expr) -> Expr:
    if node.dtype == "bool":
        return truths(node, data)
    return operands.cast(node, data, node.dtype)


def convert_copy(node: Node) -> Expr:
    """The elements of ``src``, or of a number, in the shape and the dtype of ``self``."""
    data = node.argument("self")
    name = "src" if node.operator.startswith("copy") else "value"
    value = _cast(node, operands.tensor(node, node.argument(name), _source_dtype(node, name)))
    shape = tvm_api.shape_of(data)
    same = tvm_api.shape_of(value)
    if len(shape) == len(same) and all(map(tvm_api.proves_equal, shape, same)):
        return value

    def compute(target: Tensor, source: Tensor) -> Tensor:
        return filled(target.shape, lambda at: broadcast(source, at), "copied")

    return computed(node, compute, data, value)


def _source_dtype(node: Node, name: str) -> str:
    """The dtype of the argument ``name``, that of the result if it is a number."""
    value = node.argument(name)
    return tvm_api.dtype_of(value) if operands.is_tensor(value) else node.dtype


def convert_softmax(node: Node) -> Expr:
    """The exponentials over their sum along an axis, or the logarithm of these."""
    logarithmic = "log_softmax" in node.operator
    data = operands.cast(node, node.argument("self"), operands.inner_dtype(node.dtype))
    rank = operands.rank_of(data)
    axis = operands.axis(node, node.argument("dim"), rank)
    compute = relax.op.nn.log_softmax if logarithmic else relax.op.nn.softmax
    result = node.emit(compute(operands.lifted(node, data), axis))
    result = operands.cast(node, result, node.dtype)
    return result if rank else operands.reshaped(node, result, [])


CONVERSIONS: dict[str, Convert] = {
    **dict.fromkeys(
        (
            *("to.dtype", "to.dtype_layout", "to.device", "to.other", "type_as.default"),
            *("_to_copy.default", "to.prim_dtype"),
        ),
        convert_cast,
    ),
    **dict.fromkeys(("copy.default", "fill.Scalar", "fill.Tensor"), convert_copy),
    **dict.fromkeys(
        ("softmax.int", "_softmax.default", "log_softmax.int", "_log_softmax.default"),
        convert_softmax,
    ),
}

_DATA = np.array([[1, 2], [3, 0]], np.float32)


def _ignores_dtype(function: str) -> bool:
    """True if ``function`` along the last axis is not in float64 where a program says so."""
    import torch

    return differs(function, _DATA, -1, torch.float64)


def _lacks_cast() -> bool:
    import torch

    return differs("to.dtype", _DATA, torch.int64, False, False, torch.contiguous_format)


FIX = Fix(
    name="torch_casting",
    operators=tuple(CONVERSIONS),
    fault="softmax, and casts with a memory format, keep the dtype of the data in PyTorch programs",
    issue=None,
    parts=(
        FaultPart("softmax", partial(_ignores_dtype, "softmax.int")),
        FaultPart("log_softmax", partial(_ignores_dtype, "log_softmax.int")),
        FaultPart("casts", _lacks_cast),
        FaultPart("filling", partial(differs, "fill.Tensor", _DATA, np.array(2))),
    ),
    rebindings=rebindings(CONVERSIONS),
    after="torch_aliases",
    patch=patch(CONVERSIONS),
)
