"""A node as the ONNX Runtime oracle sees it, and the form of its operators."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from generators.program import Node
from oracles.answer import Array
from oracles.onnx_graph import Graph, Wire


@dataclass(frozen=True, slots=True)
class Call:
    """A node with its operands in the graph; ``known`` holds the arrays of program inputs."""

    graph: Graph
    node: Node
    operands: tuple[Wire, ...]
    known: Mapping[str, Array]


Operator = Callable[[Call], Wire]
