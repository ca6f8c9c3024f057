"""The ONNX models that faults are planted in."""

from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

OPSET = 20

_WIDTH = 8


def blocks(count: int, *, dynamic: bool) -> onnx.ModelProto:
    """A model of ``count`` blocks of ten nodes over (batch, length, 8), dynamic or static.

    A block normalizes, mixes the length by a softmax, passes a gate, clips and adds itself up.
    """
    random = np.random.default_rng(3)
    nodes, weights = [], []

    def weight(name: str, shape: tuple[int, ...]) -> str:
        array = random.standard_normal(shape).astype(np.float32) * 0.3
        weights.append(numpy_helper.from_array(array, name))
        return name

    for name, value in (("low", -1.5), ("high", 1.25)):
        weights.append(numpy_helper.from_array(np.array(value, np.float32), name))
    x = "x"
    for at in range(count):

        def node(operator: str, inputs: list[str], at: int = at, **attributes: object) -> str:
            result = f"{operator.lower()}_{at}_{len(nodes)}"
            nodes.append(helper.make_node(operator, inputs, [result], result, **attributes))
            return result

        scale, bias = weight(f"scale{at}", (_WIDTH,)), weight(f"bias{at}", (_WIDTH,))
        normal = node("LayerNormalization", [x, scale, bias], axis=-1, epsilon=1e-3)
        scores = node("MatMul", [normal, node("Transpose", [normal], perm=[0, 2, 1])])
        mixed = node("MatMul", [node("Softmax", [scores], axis=-1), normal])
        wide = node("MatMul", [mixed, weight(f"wide{at}", (_WIDTH, _WIDTH))])
        gated = node("Mul", [wide, node("Gelu", [wide], approximate="tanh")])
        x = node("Sub", [node("Clip", [gated, "low", "high"]), x])
    nodes.append(helper.make_node("Concat", [x, "x"], ["y"], "end", axis=2))
    shape = ["batch", "length", _WIDTH] if dynamic else [2, 5, _WIDTH]
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)]
    outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, [*shape[:2], 2 * _WIDTH])]
    graph = helper.make_graph(nodes, "blocks", inputs, outputs, weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=9)


FILES = {
    "blocks": lambda: blocks(12, dynamic=False),
    "dynamic-blocks": lambda: blocks(20, dynamic=True),
}
"""The models by name."""


def written(name: str, folder: Path) -> Path:
    """The file of the model ``name`` in ``folder``."""
    path = folder / f"{name}.onnx"
    onnx.save(FILES[name](), path)
    return path
