"""ONNX's Einsum, of which TVM never writes the sums over an axis that is empty."""

import numpy as np
from tvm import topi

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework.fix import FaultPart, Fix, invalid
from relaxcheck.fixes.framework.patch import NewFile
from relaxcheck.fixes.framework.probes import Array
from relaxcheck.fixes.frontends.onnx import operands
from relaxcheck.fixes.frontends.onnx.computing import computed
from relaxcheck.fixes.frontends.onnx.converting import Convert, Node, patch, rebindings
from relaxcheck.fixes.frontends.onnx.probing import fails, node_model
from relaxcheck.fixes.tvm_api import Expr

UPSTREAM = NewFile("relax/frontend/onnx/einsum.py")


def convert(node: Node) -> Expr:
    """The sum of products that an equation states.

    Raises:
        ValueError: the equation has another number of terms than the node has inputs.
    """
    equation = "".join(str(node.attribute("equation", "")).split())
    terms = equation.split("->")[0].split(",")
    if len(terms) != len(node.inputs):
        why = f"there are {len(node.inputs)} inputs"
        raise invalid(node.operator, why, equation=equation)
    values = [operands.required(node, at, f"input {at}") for at in range(len(terms))]
    dtype = tvm_api.dtype_of(values[0])
    wide = [operands.widened(node, value, operands.inner_dtype(dtype)) for value in values]
    result = computed(node, lambda *tensors: topi.einsum(equation, *tensors), *wide)
    return operands.widened(node, result, dtype)


CONVERSIONS: dict[str, Convert] = {"Einsum": convert}


def _leaves_nothing() -> bool:
    """True if the products of matrices with an empty inner axis are not 0."""
    inputs: dict[str, Array] = {
        "a": np.zeros((2, 0), np.float32),
        "b": np.zeros((0, 64), np.float32),
    }
    shapes: dict[str, list[int | str]] = {"a": [2, "n"], "b": ["n", 64]}
    model = node_model("Einsum", inputs, 12, shapes=shapes, equation="ij, jk -> ik")
    return fails(model, list(inputs.values()), [np.zeros((2, 64), np.float32)])


FIX = Fix(
    name="onnx_einsum",
    operators=tuple(CONVERSIONS),
    fault="ONNX's Einsum does not write the sums over an axis that is empty",
    issue=None,
    parts=(FaultPart("empty axes", _leaves_nothing),),
    rebindings=rebindings(CONVERSIONS),
    after="onnx_choices",
    patch=patch(CONVERSIONS),
)
