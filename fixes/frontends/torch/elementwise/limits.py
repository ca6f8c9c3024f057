"""Elements kept within limits: numbers, tensors, or none on a side; of integers too."""

from functools import partial
from typing import Any

import numpy as np
from tvm import tirx

from relaxcheck.fixes.framework.fix import FaultPart, Fix
from relaxcheck.fixes.framework.patch import NewFile
from relaxcheck.fixes.frontends.torch import operands
from relaxcheck.fixes.frontends.torch.converting import Convert, Node, patch, rebindings
from relaxcheck.fixes.frontends.torch.elements import elementwise, undefined
from relaxcheck.fixes.frontends.torch.probing import differs
from relaxcheck.fixes.tvm_api import Expr, PrimExpr

UPSTREAM = NewFile("relax/frontend/torch/limits.py")


def convert_clamp(node: Node) -> Expr:
    """``self`` within ``min`` and ``max``, of which the latter wins; NaN stays NaN."""
    name, dtype = node.operator.partition(".")[0].strip("_"), node.dtype
    inner = "int8" if dtype == "bool" else dtype
    result = operands.tensor(node, node.argument("self"), inner)
    if name != "clamp_max":
        result = _limited(node, result, node.argument("min"), inner, is_least=True)
    if name != "clamp_min":
        result = _limited(node, result, node.argument("max"), inner, is_least=False)
    return operands.cast(node, result, dtype)


def _limited(node: Node, value: Expr, limit: Any, dtype: str, is_least: bool) -> Expr:
    """``value`` not below ``limit``, or not above it, if there is one; NaN stays NaN."""
    if limit is None:
        return value
    bound = operands.tensor(node, limit, dtype)

    def chosen(element: PrimExpr, end: PrimExpr) -> PrimExpr:
        beyond = element < end if is_least else element > end
        if "float" in dtype and operands.is_tensor(limit):
            beyond = tirx.any(beyond, undefined(end))
        return tirx.Select(beyond, end, element)

    return elementwise(node, chosen, value, bound)


def convert_hardtanh(node: Node) -> Expr:
    """``self`` within ``min_val`` and ``max_val``, or 0 and 6 for ``relu6``; NaN stays NaN."""
    dtype = node.dtype
    ends = (0, 6)
    if not node.operator.startswith("relu6"):
        ends = node.argument("min_val"), node.argument("max_val")
    value = operands.tensor(node, node.argument("self"), dtype)
    value = _limited(node, value, ends[0], dtype, is_least=True)
    return _limited(node, value, ends[1], dtype, is_least=False)


CONVERSIONS: dict[str, Convert] = {
    **dict.fromkeys(
        [
            f"{name}.{kind}"
            for name in ("clamp", "clamp_min", "clamp_max", "clamp_")
            for kind in ("default", "Tensor")
        ],
        convert_clamp,
    ),
    **dict.fromkeys(
        [f"{name}.default" for name in ("hardtanh", "hardtanh_", "relu6", "relu6_")],
        convert_hardtanh,
    ),
}

_INTEGERS = np.array([5, -7])

FIX = Fix(
    name="torch_limits",
    operators=tuple(CONVERSIONS),
    fault="clamp of PyTorch programs takes an infinity for a missing limit, of integers too",
    issue=None,
    parts=(
        FaultPart("one side", partial(differs, "clamp.default", _INTEGERS, None, 2)),
        FaultPart("largest", partial(differs, "clamp_max.default", np.float32(_INTEGERS), 2)),
        FaultPart("dtypes", partial(differs, "clamp.default", _INTEGERS, 1.5, 2.5)),
    ),
    rebindings=rebindings(CONVERSIONS),
    after="torch_arithmetic",
    patch=patch(CONVERSIONS),
)
