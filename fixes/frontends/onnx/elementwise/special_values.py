"""Sign, IsInf and IsNaN of ONNX: of NaN, of one sign of infinity, and of narrow dtypes."""

import numpy as np
from tvm import relax

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework.fix import FaultPart, Fix
from relaxcheck.fixes.framework.patch import NewFile
from relaxcheck.fixes.frontends.onnx.converting import Convert, Node, patch, rebindings
from relaxcheck.fixes.frontends.onnx.elementwise.numbers import (
    cast,
    constant,
    is_float,
    is_nan,
    tensor,
    wide,
)
from relaxcheck.fixes.frontends.onnx.probing import fails, node_model
from relaxcheck.fixes.tvm_api import Expr

UPSTREAM = NewFile(
    "relax/frontend/onnx/elementwise/special_values.py",
    "Sign, IsInf and IsNaN of ONNX: of NaN, of one sign of infinity, and of narrow dtypes.",
)


def _sign(node: Node) -> Expr:
    """The sign of NaN is NaN."""
    x = tensor(node, 0)
    dtype = tvm_api.dtype_of(x)
    if not is_float(dtype):
        return node.converted()
    return relax.op.where(is_nan(x, dtype), x, relax.op.sign(x))


def _is_nan(node: Node) -> Expr:
    x = tensor(node, 0)
    return is_nan(x, tvm_api.dtype_of(x))


def _is_inf(node: Node) -> Expr:
    x = tensor(node, 0)
    dtype = tvm_api.dtype_of(x)
    inner = wide(dtype)
    x = node.emit(cast(x, dtype, inner))
    infinite = relax.op.isinf(x)
    zero = constant(0.0, inner)
    if not node.attribute("detect_positive", 1):
        infinite = relax.op.logical_and(infinite, relax.op.less(x, zero))
    if not node.attribute("detect_negative", 1):
        infinite = relax.op.logical_and(infinite, relax.op.greater(x, zero))
    return infinite


CONVERSIONS: dict[str, Convert] = {"Sign": _sign, "IsNaN": _is_nan, "IsInf": _is_inf}


def _has_signs_of_nan() -> bool:
    x = np.array([np.nan, -2], "float32")
    return not fails(node_model("Sign", {"x": x}, 13), [x], [np.array([np.nan, -1], "float32")])


def _distinguishes_infinities() -> bool:
    x = np.array([np.inf, -np.inf], "float32")
    model = node_model("IsInf", {"x": x}, 10, detect_negative=0)
    return not fails(model, [x], [np.array([True, False])])


FIX = Fix(
    name="onnx_special_values",
    operators=tuple(CONVERSIONS),
    fault=(
        "IsInf of ONNX models ignores detect_positive and detect_negative, and Sign makes NaN 0"
    ),
    issue=None,
    parts=(
        FaultPart("infinities", lambda: not _distinguishes_infinities()),
        FaultPart("NaN", lambda: not _has_signs_of_nan()),
    ),
    rebindings=rebindings(CONVERSIONS),
    after="onnx_limits",
    patch=patch(CONVERSIONS),
)
