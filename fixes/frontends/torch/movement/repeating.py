"""Tensors repeated as often as a symbolic size says."""

from typing import Any

from tvm import relax

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework.fix import FaultPart, Fix
from relaxcheck.fixes.framework.patch import NewFile
from relaxcheck.fixes.frontends.torch import operands
from relaxcheck.fixes.frontends.torch.converting import Convert, Node, patch, rebindings
from relaxcheck.fixes.frontends.torch.probing import made_of
from relaxcheck.fixes.tvm_api import Expr

UPSTREAM = NewFile("relax/frontend/torch/repeating.py")


def convert_repeated(node: Node) -> Expr:
    """``self``, repeated along each axis; missing axes come first."""
    data = node.argument("self")
    name = "dims" if node.operator.startswith("tile") else "repeats"
    counts = list(node.argument(name))
    if all(isinstance(count, int) for count in counts):
        return node.emit(relax.op.tile(data, counts))
    have = tvm_api.shape_of(data)
    rank = max(len(counts), len(have))
    one = tvm_api.integer(1)
    dims = [*[one] * (rank - len(have)), *have]
    counts = [*[1] * (rank - len(counts)), *counts]
    # Relax's tile takes numbers alone: here each axis follows one for its copies.
    between = [size for dim in dims for size in (one, dim)]
    copied = [size for pair in zip(counts, dims, strict=True) for size in pair]
    spread = node.emit(relax.op.reshape(data, relax.ShapeExpr(between)))
    copies = node.emit(relax.op.broadcast_to(spread, relax.ShapeExpr(copied)))
    products = [dim * count for dim, count in zip(dims, counts, strict=True)]
    return operands.reshaped(node, copies, products)


CONVERSIONS: dict[str, Convert] = {
    "repeat.default": convert_repeated,
    "tile.default": convert_repeated,
}


def _refuses_symbols() -> bool:
    """True if TVM does not repeat a tensor as often as a symbol says."""
    import torch

    def call(graph: Any, data: Any, other: Any) -> Any:
        size = graph.call_function(torch.ops.aten.sym_size.int, (other, 0))
        repeated = graph.call_function(torch.ops.aten.repeat.default, (data, [size, 2]))
        repeated.meta["val"] = torch.zeros(1, 2)
        return repeated

    try:
        made_of(call, [([3], "float32"), ([tvm_api.shape_var("n")], "float32")])
    except Exception:
        # Of any kind: the importer does not convert it.
        return True
    return False


FIX = Fix(
    name="torch_repeating",
    operators=tuple(CONVERSIONS),
    fault="PyTorch programs that repeat a tensor as often as a symbolic size says are not imported",
    issue=None,
    parts=(FaultPart("symbols", _refuses_symbols),),
    rebindings=rebindings(CONVERSIONS),
    after="torch_joining",
    patch=patch(CONVERSIONS),
)
