"""A node as the ONNX Runtime oracle sees it, and the form of its operators."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from relaxcheck.generators.core.program import Node
from relaxcheck.oracles.answer import Array
from relaxcheck.oracles.limitations import limiting
from relaxcheck.oracles.onnxruntime.graph import Graph, Wire
from relaxcheck.oracles.registry import declare


@dataclass(frozen=True, slots=True)
class Call:
    """A node with its operands in the graph; ``known`` holds the arrays of program inputs."""

    graph: Graph
    node: Node
    operands: tuple[Wire, ...]
    known: Mapping[str, Array]


Operator = Callable[[Call], Wire]

OPERATORS: dict[str, Operator] = {}
"""ONNX Runtime's operators by Relax name; modules of ``operators`` declare them."""

operator = declare(OPERATORS)
"""Declare the function that adds an operator's nodes to the graph."""

limit = limiting("onnxruntime")
"""Declare a limitation: operator, condition, reason."""
