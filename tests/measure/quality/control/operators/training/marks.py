"""Marks for the pass Gradient, which compute nothing."""

from collections.abc import Sequence

from relaxcheck.generators.core.program import Node
from tests.measure.quality.control.operator import Array, Type, operator
from tests.measure.quality.control.summation import Freedom


def _infer(node: Node, operands: Sequence[Type]) -> Type:
    return operands[0]


def _same(node: Node, operands: Sequence[Array], freedom: Freedom) -> Array:
    return operands[0]


for _name in ("no_grad", "start_checkpoint", "end_checkpoint"):
    operator(f"grad.{_name}", _infer)(_same)
