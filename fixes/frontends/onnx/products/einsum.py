"""ONNX's Einsum, of which TVM never writes the sums over an axis that is empty."""

import numpy as np
from tvm import relax, tirx, topi

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework.fix import FaultPart, Fix, invalid
from relaxcheck.fixes.framework.patch import NewFile
from relaxcheck.fixes.framework.probes import Array
from relaxcheck.fixes.frontends.onnx import operands
from relaxcheck.fixes.frontends.onnx.computing import computed
from relaxcheck.fixes.frontends.onnx.converting import Convert, Node, patch, rebindings
from relaxcheck.fixes.frontends.onnx.probing import node_model
from relaxcheck.fixes.tvm_api import Expr

UPSTREAM = NewFile("relax/frontend/onnx/einsum.py")


def convert(node: Node) -> Expr:
    """The sum of products that an equation states.

    Raises:
        ValueError: the equation has another number of terms than the node has inputs, or its result
            leaves out the axes of an ellipsis, which ONNX Runtime refuses and the evaluator sums.
    """
    equation = "".join(str(node.attribute("equation", "")).split())
    left, arrow, right = equation.partition("->")
    terms = left.split(",")
    if len(terms) != len(node.inputs):
        why = f"there are {len(node.inputs)} inputs"
        raise invalid(node.operator, why, equation=equation)
    values = [operands.required(node, at, f"input {at}") for at in range(len(terms))]
    if arrow and "..." not in right and any(map(_has_ellipsis, terms, values)):
        raise invalid(node.operator, "the result leaves out the ellipsis", equation=equation)
    dtype = tvm_api.dtype_of(values[0])
    wide = [operands.widened(node, value, operands.inner_dtype(dtype)) for value in values]
    result = computed(node, lambda *tensors: topi.einsum(equation, *tensors), *wide)
    return operands.widened(node, result, dtype)


def _has_ellipsis(term: str, value: Expr) -> bool:
    """True if ``term`` has an ellipsis that stands for axes of ``value``: it may stand for none."""
    return "..." in term and operands.rank_of(value) > len(term) - len("...")


CONVERSIONS: dict[str, Convert] = {"Einsum": convert}


def _leaves_nothing() -> bool:
    """True if the products of matrices with an empty inner axis are not written.

    The imported function gets an output full of sevens: fresh memory often holds the zeros that
    are right.
    """
    inputs: dict[str, Array] = {
        "a": np.zeros((2, 0), np.float32),
        "b": np.zeros((0, 64), np.float32),
    }
    shapes: dict[str, list[int | str]] = {"a": [2, "n"], "b": ["n", 64]}
    model = node_model("Einsum", inputs, 12, shapes=shapes, equation="ij, jk -> ik")
    # The importer needs the package onnx, which need not be there to apply other fixes.
    from tvm.relax.frontend.onnx import from_onnx

    module = relax.transform.LegalizeOps()(from_onnx(model))
    functions = [each for each in module.functions.values() if isinstance(each, tirx.PrimFunc)]
    output = np.full((2, 64), 7, np.float32)
    try:
        return bool(tvm_api.compiled(functions[0])(*inputs.values(), output).any())
    except Exception:
        return True


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
