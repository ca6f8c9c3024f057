"""The independent oracles: PyTorch and ONNX Runtime."""

from collections.abc import Callable, Mapping

from relaxcheck.generators.core.program import Program
from relaxcheck.oracles.answer import Array
from relaxcheck.oracles.onnxruntime import evaluate as onnx_runtime
from relaxcheck.oracles.pytorch import evaluate as pytorch

ORACLES: Mapping[str, Callable[[Program, Mapping[str, Array]], tuple[Array, ...]]] = {
    "pytorch": pytorch.evaluate,
    "onnxruntime": onnx_runtime.evaluate,
}
"""The independent oracles by name; each raises ``Unsupported`` where it cannot answer."""
