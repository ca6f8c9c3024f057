"""Small models for the tests of checks."""

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper
from torch import nn

from tests.torch_exports import hasten

hasten()


def perceptron(layers: int = 2) -> onnx.ModelProto:
    """A perceptron with a symbolic batch ``n``: ``Gemm`` and ``Tanh``, named by layer."""
    generator = np.random.default_rng(0)
    nodes, held, value = [], [], "x"
    for layer in range(layers):
        weights = generator.standard_normal((4, 4)).astype(np.float32)
        bias = generator.standard_normal(4).astype(np.float32)
        held += [
            numpy_helper.from_array(weights, f"w{layer}"),
            numpy_helper.from_array(bias, f"b{layer}"),
        ]
        names = [value, f"w{layer}", f"b{layer}"]
        nodes += [
            helper.make_node("Gemm", names, [f"product{layer}"], f"gemm{layer}"),
            helper.make_node("Tanh", [f"product{layer}"], [f"value{layer}"], f"tanh{layer}"),
        ]
        value = f"value{layer}"
    return model(nodes, {"x": ["n", 4]}, {value: ["n", 4]}, held)


def model(
    nodes: list[Any], inputs: dict[str, Any], outputs: dict[str, Any], held: list[Any]
) -> onnx.ModelProto:
    """A model of float32 ``inputs`` and ``outputs``, by name and shape."""
    of = TensorProto.FLOAT
    graph = helper.make_graph(
        nodes,
        "graph",
        [helper.make_tensor_value_info(name, of, dims) for name, dims in inputs.items()],
        [helper.make_tensor_value_info(name, of, dims) for name, dims in outputs.items()],
        held,
    )
    opsets = [helper.make_opsetid("", 18)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=9)


def saved(proto: onnx.ModelProto, folder: Path) -> str:
    """The path of ``proto`` in ``folder``."""
    path = folder / "model.onnx"
    onnx.save(proto, path)
    return str(path)


class Last(nn.Module):
    """Looks at the last of several tokens, as classifiers do."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(3, 2)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        values = self.linear(x)
        return values[:, -1].relu(), values.softmax(-1)


def exported(module: nn.Module, *inputs: torch.Tensor, batch: bool = False) -> Any:
    """The exported program of ``module``, with a symbolic batch if wanted."""
    shapes = tuple({0: torch.export.Dim("batch")} for _ in inputs) if batch else None
    return torch.export.export(module.eval(), inputs, dynamic_shapes=shapes)


def making(folder: Path, body: str, name: str = "made_for_test") -> str:
    """The name of a function ``make`` in a new module in ``folder``, with ``body``."""
    lines = [
        "import torch",
        "from torch import nn",
        "def make():",
        *(f"    {line}" for line in body.splitlines()),
    ]
    (folder / f"{name}.py").write_text("\n".join(lines) + "\n")
    return f"{name}:make"
