"""The independent oracles: PyTorch and ONNX Runtime."""

from collections.abc import Callable, Mapping

from generators.program import Program
from oracles import onnx_runtime, pytorch
from oracles.answer import Array

ORACLES: Mapping[str, Callable[[Program, Mapping[str, Array]], tuple[Array, ...]]] = {
    "pytorch": pytorch.evaluate,
    "onnxruntime": onnx_runtime.evaluate,
}
"""The independent oracles by name; each raises ``Unsupported`` where it cannot answer."""
