"""Running sums and products, in the dtype that PyTorch accumulates in."""

from functools import partial

import numpy as np
from tvm import relax

from relaxcheck.fixes.framework.fix import FaultPart, Fix
from relaxcheck.fixes.framework.patch import NewFile
from relaxcheck.fixes.frontends.torch import operands
from relaxcheck.fixes.frontends.torch.converting import Convert, Node, patch, rebindings
from relaxcheck.fixes.frontends.torch.probing import differs
from relaxcheck.fixes.tvm_api import Expr

UPSTREAM = NewFile("relax/frontend/torch/scans.py")


def convert_scan(node: Node) -> Expr:
    """The running sum or product along an axis; of a tensor without dimensions, that tensor."""
    scan = relax.op.cumprod if node.operator.startswith("cumprod") else relax.op.cumsum
    data = operands.tensor(node, node.argument("self"), node.dtype)
    rank = operands.rank_of(data)
    if not rank:
        return data
    return node.emit(scan(data, operands.axis(node, node.argument("dim"), rank)))


CONVERSIONS: dict[str, Convert] = {
    "cumsum.default": convert_scan,
    "cumprod.default": convert_scan,
}

_FLAGS = np.array([True, False, True])

FIX = Fix(
    name="torch_scans",
    operators=tuple(CONVERSIONS),
    fault="running sums and products of bools and integers keep their dtype in PyTorch programs",
    issue=None,
    parts=(
        FaultPart("bools", partial(differs, "cumsum.default", _FLAGS, 0)),
        FaultPart("no dimensions", partial(differs, "cumprod.default", np.array(2.0), 0)),
    ),
    rebindings=rebindings(CONVERSIONS),
    after="torch_reductions",
    patch=patch(CONVERSIONS),
)
