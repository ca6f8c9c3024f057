"""Views of tensors in shapes with symbolic sizes, or of tensors without dimensions."""

from functools import partial
from typing import Any

import numpy as np

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework.fix import FaultPart, Fix
from relaxcheck.fixes.framework.patch import NewFile
from relaxcheck.fixes.frontends.torch import operands
from relaxcheck.fixes.frontends.torch.converting import Convert, Node, patch, rebindings
from relaxcheck.fixes.frontends.torch.probing import differs, made_of
from relaxcheck.fixes.tvm_api import Expr

UPSTREAM = NewFile("relax/frontend/torch/reshaping.py")


def convert_reshaped(node: Node) -> Expr:
    """``self`` in another shape, of which -1 stands for the size that is left."""
    data = node.argument("self")
    dims = list(node.argument("size" if node.operator.startswith("view") else "shape"))
    have = tvm_api.shape_of(data) if tvm_api.has_shape(data) else None
    if have is None or all(tvm_api.as_int(dim) is not None for dim in (*dims, *have)):
        return node.converted()
    if len(have) == len(dims) and all(map(tvm_api.proves_equal, have, dims)):
        return data
    return operands.reshaped(node, data, dims)


def convert_squeezed(node: Node) -> Expr:
    """``self`` without dimensions of 1; one without dimensions stays as it is."""
    data = node.argument("self")
    return node.converted() if operands.rank_of(data) else data


CONVERSIONS: dict[str, Convert] = {
    "squeeze.dim": convert_squeezed,
    "squeeze.dims": convert_squeezed,
    "view.default": convert_reshaped,
    "reshape.default": convert_reshaped,
}


def _compares_expressions() -> bool:
    """True if TVM does not import a view whose rank is that of the tensor."""
    import torch

    def call(graph: Any, data: Any) -> Any:
        size = graph.call_function(torch.ops.aten.sym_size.int, (data, 1))
        return graph.call_function(torch.ops.aten.view.default, (data, [size, 1]))

    try:
        made_of(call, [([1, tvm_api.shape_var("n")], "float32")])
    except Exception:
        # Of any kind: the importer does not convert it.
        return True
    return False


FIX = Fix(
    name="torch_reshaping",
    operators=tuple(CONVERSIONS),
    fault=(
        "views of PyTorch programs that keep the rank are not imported where a symbol takes the"
        " place of a number, or that squeeze a tensor without dimensions"
    ),
    issue=None,
    parts=(
        FaultPart("symbols", _compares_expressions),
        FaultPart("no dimensions", partial(differs, "squeeze.dim", np.array(1.5, np.float32), 0)),
    ),
    rebindings=rebindings(CONVERSIONS),
    after="torch_repeating",
    patch=patch(CONVERSIONS),
)
