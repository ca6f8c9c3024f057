"""The steps of random graphs: each takes one value, and adds a node or a few.

None of them jumps: where a result could differ by more than rounding because an operand did, as
with ``Floor`` or ``Greater``, the operand is an input of the graph.
"""

from collections.abc import Mapping

from relaxcheck.generators.onnx.graphs.steps.movement import MOVEMENTS
from relaxcheck.generators.onnx.graphs.steps.values import VALUES
from relaxcheck.generators.onnx.graphs.steps.wire import Step

STEPS: Mapping[str, tuple[int, Step]] = {**VALUES, **MOVEMENTS}
"""Every step by the name of its operator or its own, with the first opset that has it."""
