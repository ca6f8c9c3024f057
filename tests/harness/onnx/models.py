"""Small ONNX models as cases."""

from typing import Any

from relaxcheck.generators.onnx.case import OnnxCase
from relaxcheck.generators.onnx.model import Model, Node, Tensor


def softmax(opset: int = 18, **settings: Any) -> OnnxCase:
    """A softmax over the last of three axes, in an old opset over the last two."""
    model = Model(
        opset,
        (Tensor("x", (2, 3, 2), "float32"),),
        (Node("Softmax", ("x",), ("y",), {"axis": 1} if opset < 13 else {}),),
        ("y",),
    )
    return OnnxCase("onnx-Softmax", model, **settings)


def chain(**settings: Any) -> OnnxCase:
    """A product with a weight, its rectified values, and their sum, with a symbolic batch."""
    model = Model(
        18,
        (Tensor("x", ("B", 3), "float32"), Tensor("w", (3, 2), "float32", "initializer")),
        (
            Node("MatMul", ("x", "w"), ("product",)),
            Node("Relu", ("product",), ("positive",)),
            Node("ReduceSum", ("positive",), ("y",), {"keepdims": 0}),
        ),
        ("y",),
    )
    return OnnxCase("onnx-graph", model, bindings=({"B": 2}, {"B": 1}), **settings)


def of(operator: str, dtype: str = "float32", **attributes: Any) -> OnnxCase:
    """One node of ``operator`` with a vector of three elements."""
    model = Model(
        18,
        (Tensor("x", (3,), dtype),),
        (Node(operator, ("x",), ("y",), attributes),),
        ("y",),
    )
    return OnnxCase(f"onnx-{operator}", model)
