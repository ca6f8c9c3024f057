"""Tensors that a program makes, in the dtype that it names."""

import math
from functools import partial

import numpy as np
from tvm import relax

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework.fix import FaultPart, Fix
from relaxcheck.fixes.framework.patch import NewFile
from relaxcheck.fixes.frontends.torch import operands
from relaxcheck.fixes.frontends.torch.converting import Convert, Node, patch, rebindings
from relaxcheck.fixes.frontends.torch.probing import differs
from relaxcheck.fixes.tvm_api import Expr

UPSTREAM = NewFile("relax/frontend/torch/creation.py")

_VALUES = {"zeros": 0, "ones": 1, "empty": 0}


def convert_filled(node: Node) -> Expr:
    """A tensor of one value: of a size, or of that of another tensor."""
    kind = node.operator.partition(".")[0]
    if kind.endswith("_like"):
        shape = tvm_api.shape_of(node.argument("self"))
    else:
        shape = [
            tvm_api.integer(size) if isinstance(size, int) else size
            for size in node.argument("size")
        ]
    name = kind.removeprefix("new_").removesuffix("_like")
    name = name.removesuffix("_permuted").removesuffix("_strided")
    value = _VALUES[name] if name in _VALUES else node.argument("fill_value")
    filler = operands.tensor(node, value, node.dtype)
    if isinstance(value, float) and not math.isfinite(value):
        # TVM does not compile a full tensor of these.
        return node.emit(relax.op.broadcast_to(filler, relax.ShapeExpr(shape)))
    return node.emit(relax.op.full(relax.ShapeExpr(shape), filler, node.dtype))


def convert_scalar(node: Node) -> Expr:
    """A number or a symbolic integer as a tensor without dimensions."""
    return operands.tensor(node, node.argument("s"), node.dtype)


def convert_triangle(node: Node) -> Expr:
    """The places of a triangle of a matrix: a row of the numbers of rows, and one of columns."""
    make = np.tril_indices if node.operator.startswith("tril") else np.triu_indices
    places = make(node.argument("row"), node.argument("offset"), node.argument("col"))
    return relax.const(np.stack(places).astype(node.dtype), node.dtype)


CONVERSIONS: dict[str, Convert] = {
    **dict.fromkeys(
        (
            *("zeros_like.default", "ones_like.default", "empty_like.default", "full_like.default"),
            *("new_zeros.default", "new_ones.default", "new_full.default", "new_empty.default"),
            *("zeros.default", "ones.default", "full.default", "empty.memory_format"),
            *("empty_permuted.default", "empty_strided.default", "new_empty_strided.default"),
        ),
        convert_filled,
    ),
    "scalar_tensor.default": convert_scalar,
    "tril_indices.default": convert_triangle,
    "triu_indices.default": convert_triangle,
}

_DATA = np.array([1, 2], np.float32)


def _loses_dtype(function: str) -> bool:
    """True if ``function`` of the shape of a tensor of float32 does not make integers."""
    import torch

    arguments = [_DATA, [3]] if function.startswith("new_") else [_DATA]
    return differs(function, *arguments, dtype=torch.int64)


FIX = Fix(
    name="torch_creation",
    operators=tuple(CONVERSIONS),
    fault="tensors made by PyTorch programs like others have their dtype, whatever a program names",
    issue=None,
    parts=(
        FaultPart("like another", partial(_loses_dtype, "zeros_like.default")),
        FaultPart("by another", partial(_loses_dtype, "new_ones.default")),
        FaultPart("missing", partial(differs, "new_full.default", _DATA, [2], 3.5)),
    ),
    rebindings=rebindings(CONVERSIONS),
    after="torch_functions",
    patch=patch(CONVERSIONS),
)
