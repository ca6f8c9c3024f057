"""Faults of the outside oracles: models whose answer by one of them is left out.

Each is data: the oracle, the operator, the condition, and the evidence. A test checks that each is
still there.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from relaxcheck.generators.core.values import Array
from relaxcheck.generators.onnx.model import Model, Node

Shapes = Mapping[str, tuple[int, ...]]
Holds = Callable[[Node, Model, Mapping[str, Array]], bool]


@dataclass(frozen=True, slots=True)
class Fault:
    """``oracle`` is wrong about ``operators`` where ``holds``; ``evidence`` says how that shows."""

    oracle: str
    operators: tuple[str, ...]
    holds: Holds
    evidence: str


def _opset_below(opset: int) -> Holds:
    return lambda node, model, arrays: model.opset < opset


def _dtype(*names: str) -> Holds:
    def holds(node: Node, model: Model, arrays: Mapping[str, Array]) -> bool:
        return any(arrays[name].dtype.name in names for name in node.inputs if name in arrays)

    return holds


FAULTS = (
    Fault(
        "evaluator",
        ("Softmax", "LogSoftmax", "Hardmax"),
        _opset_below(13),
        "it takes one axis, where opsets before 13 flatten all from the axis on",
    ),
    Fault(
        "evaluator",
        ("Erf",),
        _dtype("float64"),
        "it computes in float32",
    ),
)
"""The faults."""


def fault(oracle: str, model: Model, arrays: Mapping[str, Array]) -> str:
    """The evidence of a fault of ``oracle`` that ``model`` meets; "" if there is none."""
    for node in model.nodes:
        for each in FAULTS:
            if (
                each.oracle == oracle
                and node.operator in each.operators
                and not node.domain
                and each.holds(node, model, arrays)
            ):
                return f"{node.operator}: {each.evidence}"
    return ""
