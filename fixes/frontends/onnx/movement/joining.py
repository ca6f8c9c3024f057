"""Concat of tensors whose other dimensions are equal when the model runs."""

from typing import Any

import numpy as np

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework.fix import FaultPart, Fix
from relaxcheck.fixes.framework.patch import NewFile
from relaxcheck.fixes.frontends.onnx.aligning import aligned
from relaxcheck.fixes.frontends.onnx.converting import Convert, Node, patch, rebindings
from relaxcheck.fixes.frontends.onnx.graph import known
from relaxcheck.fixes.frontends.onnx.probing import fails, node_model
from relaxcheck.fixes.tvm_api import Expr

UPSTREAM = NewFile("relax/frontend/onnx/joining.py")


def concat(node: Node) -> Expr:
    """The inputs, one behind the other along ``axis``."""
    if not all(_is_shaped(value) for value in node.inputs):
        return node.converted()
    return node.with_inputs(*aligned(node, node.inputs, int(node.attribute("axis", 1)))).converted()


def _is_shaped(value: Any) -> bool:
    return (
        value is not None
        and not known.is_shape(value)
        and tvm_api.is_tensor(value)
        and tvm_api.has_shape(value)
    )


CONVERSIONS: dict[str, Convert] = {"Concat": concat}


def _loses_shape() -> bool:
    """True if TVM cannot lower a function of the join of tensors whose lengths are symbols."""
    from onnx import helper

    data = np.array([[1, 2]], np.float32)
    shapes: dict[str, list[int | str]] = {"x": ["n", 2], "y": ["m", 2]}
    model = node_model("Concat", {"x": data, "y": data}, 13, shapes=shapes, axis=1)
    model.graph.node[0].output[0] = "joined"
    model.graph.node.append(helper.make_node("Softsign", ["joined"], ["output_0"]))
    joined = np.concatenate([data, data], 1)
    return fails(model, [data, data], [joined / (1 + joined)])


FIX = Fix(
    name="onnx_joining",
    operators=tuple(CONVERSIONS),
    fault=(
        "tensors of ONNX models that Concat joins have no shape where TVM cannot prove that their"
        " other dimensions are equal; what uses them is not lowered"
    ),
    issue=None,
    parts=(FaultPart("no shape", _loses_shape),),
    rebindings=rebindings(CONVERSIONS),
    after="onnx_sequences",
    patch=patch(CONVERSIONS),
)
