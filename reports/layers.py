"""A graph as a picture in layers: a row of boxes for each step away from the inputs."""

from collections.abc import Mapping, Sequence

from relaxcheck.reports.rendering import Box, Edge, Picture

_LETTER, _LINE, _PADDING = 7.3, 17, 10
"""Width of a letter, height of a line, space around the text of a box, in pixels."""

_GAP_X, _GAP_Y = 22, 34

Labelled = tuple[tuple[str, ...], str]
"""The lines of a box, and its kind."""


def layered(
    texts: Mapping[str, Labelled],
    edges: Sequence[tuple[str, str]],
    inputs: Sequence[str],
    description: str,
) -> Picture:
    """The picture of the boxes ``texts``, by name, and of the ``edges`` between them.

    Each of ``inputs`` stands right above the first that uses it.
    """
    # It takes a moment to import, which no other command is to wait for.
    import networkx as nx

    graph = nx.DiGraph()
    graph.add_nodes_from(texts)
    graph.add_edges_from(edges)
    for depth, layer in enumerate(nx.topological_generations(graph)):
        for name in layer:
            graph.nodes[name]["layer"] = depth
    for name in inputs:
        users = [graph.nodes[user]["layer"] for user in graph.successors(name)]
        graph.nodes[name]["layer"] = min(users, default=1) - 1
    layers: dict[int, list[str]] = {}
    for name in graph:
        layers.setdefault(graph.nodes[name]["layer"], []).append(name)
    boxes = _placed([layers[depth] for depth in sorted(layers)], texts)
    return Picture(
        max(box.x + box.width for box in boxes.values()) + 1,
        max(box.y + box.height for box in boxes.values()) + 1,
        tuple(boxes.values()),
        tuple(_edge(boxes[start], boxes[end]) for start, end in graph.edges),
        description,
    )


def _placed(rows: list[list[str]], texts: Mapping[str, Labelled]) -> dict[str, Box]:
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
