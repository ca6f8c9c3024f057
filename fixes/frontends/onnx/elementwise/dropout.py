"""Dropout of ONNX, as it is outside training, and with a ratio of 0 within.

A mask that is drawn is not supported: it is refused as soon as it is known to be asked for.
"""

from typing import Any

import numpy as np
from tvm import relax, te, tirx

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework.fix import FaultPart, Fix, refuse
from relaxcheck.fixes.framework.patch import NewFile
from relaxcheck.fixes.frontends.onnx.converting import Convert, Node, patch, rebindings
from relaxcheck.fixes.frontends.onnx.elementwise.numbers import cast, constant, tensor
from relaxcheck.fixes.frontends.onnx.probing import fails, node_model
from relaxcheck.fixes.tvm_api import Expr, Tensor
from relaxcheck.fixes.tvm_api import functions as tvm_api_functions

UPSTREAM = NewFile("relax/frontend/onnx/dropout.py")

_MASKS_ARE_TRUTH = 10
_HAS_TRAINING = 12


def _dropout(node: Node) -> Expr:
    x = tensor(node, 0)
    if node.opset >= _HAS_TRAINING and node.input(2) is not None:
        x = _outside_training(node, x)
    if node.outputs == 1:
        return x
    dtype = "bool" if node.opset >= _MASKS_ARE_TRUTH else tvm_api.dtype_of(x)
    mask = relax.op.broadcast_to(constant(1, dtype), tvm_api.shape_of(x))
    return relax.Tuple([x, node.emit(mask)])


def _outside_training(node: Node, x: Expr) -> Expr:
    """``x``, after a check that no mask is to be drawn: now or, of inputs of the model, later."""
    training = tensor(node, 2)
    ratio = constant(0.5, "float32") if node.input(1) is None else tensor(node, 1)
    if _is_false(training) or _is_zero(ratio):
        return x
    if tvm_api_functions.is_constant(training) and tvm_api_functions.is_constant(ratio):
        value = tvm_api.tensor_of(ratio).numpy().item()
        raise refuse(node.operator, training_mode=True, ratio=value)
    flags = [node.emit(relax.op.reshape(each, (1,))) for each in (training, ratio)]
    flags[1] = node.emit(cast(flags[1], tvm_api.dtype_of(flags[1]), "float32"))
    checked = node.emit(node.builder.call_te(_checked, *flags, primfunc_name_hint="dropout"))
    # As a scalar: a vector would make a vector of a scalar.
    checked = node.emit(relax.op.reshape(checked, relax.ShapeExpr([])))
    kept = relax.op.equal(checked, constant(1, "int32"))
    zeros = relax.op.zeros_like(x)
    return node.emit(relax.op.where(kept, x, zeros))


def _is_false(training: Expr) -> bool:
    if not tvm_api_functions.is_constant(training):
        return False
    return not tvm_api.tensor_of(training).numpy().any()


def _is_zero(ratio: Expr) -> bool:
    return tvm_api_functions.is_constant(ratio) and not tvm_api.tensor_of(ratio).numpy().any()


def _checked(training: Tensor, ratio: Tensor) -> Any:
    """1, in a vector; raises ValueError where a mask would be drawn."""
    message = "Dropout is not supported with training_mode and a ratio other than 0"

    def body(inputs: Any, outputs: Any) -> Any:
        zero = tirx.const(0.0, "float32")
        fits = tirx.any(tirx.Not(inputs[0][0]), tvm_api.equal(inputs[1][0], zero))
        store = tirx.BufferStore(outputs[0], tirx.const(1, "int32"), [0])
        return tirx.SeqStmt([tvm_api.assertion(fits, message), store])

    return te.extern([(1,)], [training, ratio], body, name="dropout", dtype=["int32"])


CONVERSIONS: dict[str, Convert] = {"Dropout": _dropout}


def _has_mask() -> bool:
    x = np.array([1, 2], "float32")
    model = node_model("Dropout", {"x": x}, 13, outputs=2)
    return not fails(model, [x], [x, np.array([True, True])])


FIX = Fix(
    name="onnx_dropout",
    operators=tuple(CONVERSIONS),
    fault="the mask of Dropout of ONNX models is a float32, and training_mode is ignored",
    issue=None,
    parts=(FaultPart("masks", lambda: not _has_mask()),),
    rebindings=rebindings(CONVERSIONS),
    after="onnx_rotary_embedding",
    patch=patch(CONVERSIONS),
)
