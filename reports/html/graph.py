"""A program as a small picture: inputs, operators and outputs from top to bottom."""

from collections.abc import Mapping
from dataclasses import dataclass

from generators.program import Program

_LETTER, _LINE, _PADDING = 7.3, 17, 10
"""Width of a letter, height of a line, space around the text of a box, in pixels."""

_GAP_X, _GAP_Y = 22, 34


@dataclass(frozen=True, slots=True)
class Box:
    """A box: the left upper corner and the size in pixels, its lines of text, and its ``kind``.

    ``kind`` is ``input``, ``constant``, ``operator`` or ``output``.
    """

    x: float
    y: float
    width: float
    height: float
    lines: tuple[str, ...]
    kind: str


@dataclass(frozen=True, slots=True)
class Edge:
    """An edge from the middle of a box's lower side to that of another one's upper side."""

    x1: float
    y1: float
    x2: float
    y2: float


@dataclass(frozen=True, slots=True)
class Picture:
    """Boxes and edges, and the size of the whole, in pixels; ``said`` is the same in words."""

    width: float
    height: float
    boxes: tuple[Box, ...]
    edges: tuple[Edge, ...]
    said: str


NO_PICTURE = Picture(0, 0, (), (), "")
"""Of what is no program."""


def picture(program: Program) -> Picture:
    """The picture of ``program``: a row of boxes for each step away from the inputs."""
    # It takes a moment to import, which no other command is to wait for.
    import networkx as nx

    graph = nx.DiGraph()
    texts: dict[str, tuple[tuple[str, ...], str]] = {}
    for given in program.inputs:
        shape = f"{given.dtype}[{', '.join(map(str, given.shape))}]"
        texts[given.name] = (given.name, shape), "constant" if given.constant else "input"
        graph.add_node(given.name)
    for node in program.nodes:
        texts[node.name] = (node.operator, f"→ {node.name}"), "operator"
        graph.add_node(node.name)
        graph.add_edges_from((argument, node.name) for argument in node.arguments)
    for number, output in enumerate(program.outputs):
        # No value is called so: a value's name is an identifier.
        end = f"output {number}"
        texts[end] = (("output",) if len(program.outputs) == 1 else (end,)), "output"
        graph.add_edge(output, end)
    for depth, layer in enumerate(nx.topological_generations(graph)):
        for name in layer:
            graph.nodes[name]["layer"] = depth
    # An input stands right above the first that uses it.
    for given in program.inputs:
        users = [graph.nodes[user]["layer"] for user in graph.successors(given.name)]
        graph.nodes[given.name]["layer"] = min(users, default=1) - 1
    layers: dict[int, list[str]] = {}
    for name in graph:
        layers.setdefault(graph.nodes[name]["layer"], []).append(name)
    boxes = _placed([layers[depth] for depth in sorted(layers)], texts)
    edges = tuple(_edge(boxes[start], boxes[end]) for start, end in graph.edges)
    calls = "; ".join(
        f"{node.name} = {node.operator}({', '.join(node.arguments)})" for node in program.nodes
    )
    return Picture(
        max(box.x + box.width for box in boxes.values()) + 1,
        max(box.y + box.height for box in boxes.values()) + 1,
        tuple(boxes.values()),
        edges,
        f"{calls}; outputs {', '.join(program.outputs)}",
    )


def _placed(
    rows: list[list[str]], texts: Mapping[str, tuple[tuple[str, ...], str]]
) -> dict[str, Box]:
    widths = {
        name: max(map(len, lines)) * _LETTER + 2 * _PADDING for name, (lines, _) in texts.items()
    }
    whole = max(sum(widths[name] + _GAP_X for name in row) - _GAP_X for row in rows)
    boxes, y = {}, 1.0
    for row in rows:
        x = 1 + (whole - sum(widths[name] + _GAP_X for name in row) + _GAP_X) / 2
        height = max(len(texts[name][0]) for name in row) * _LINE + _PADDING
        for name in row:
            lines, kind = texts[name]
            boxes[name] = Box(x, y, widths[name], height, lines, kind)
            x += widths[name] + _GAP_X
        y += height + _GAP_Y
    return boxes


def _edge(start: Box, end: Box) -> Edge:
    return Edge(start.x + start.width / 2, start.y + start.height, end.x + end.width / 2, end.y)
