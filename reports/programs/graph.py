"""A program as a small picture: inputs, operators and outputs from top to bottom."""

from collections.abc import Mapping

from relaxcheck.generators.core.program import Program
from relaxcheck.reports.rendering import Box, Edge, Picture

_LETTER, _LINE, _PADDING = 7.3, 17, 10
"""Width of a letter, height of a line, space around the text of a box, in pixels."""

_GAP_X, _GAP_Y = 22, 34


def picture(program: Program) -> Picture:
    """The picture of ``program``: a row of boxes for each step away from the inputs."""
    # It takes a moment to import, which no other command is to wait for.
    import networkx as nx

    graph = nx.DiGraph()
    texts: dict[str, tuple[tuple[str, ...], str]] = {}
    for tensor in program.inputs:
        shape = f"{tensor.dtype}[{', '.join(map(str, tensor.shape))}]"
        texts[tensor.name] = (tensor.name, shape), "constant" if tensor.constant else "input"
        graph.add_node(tensor.name)
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
    for tensor in program.inputs:
        users = [graph.nodes[user]["layer"] for user in graph.successors(tensor.name)]
        graph.nodes[tensor.name]["layer"] = min(users, default=1) - 1
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
