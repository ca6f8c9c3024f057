"""A program as a small picture: inputs, operators and outputs from top to bottom."""

from relaxcheck.generators.core.program import Program
from relaxcheck.reports.layers import Labelled, layered
from relaxcheck.reports.rendering import Picture


def picture(program: Program) -> Picture:
    """The picture of ``program``: a row of boxes for each step away from the inputs."""
    texts: dict[str, Labelled] = {}
    edges: list[tuple[str, str]] = []
    for tensor in program.inputs:
        shape = f"{tensor.dtype}[{', '.join(map(str, tensor.shape))}]"
        texts[tensor.name] = (tensor.name, shape), "constant" if tensor.constant else "input"
    for node in program.nodes:
        texts[node.name] = (node.operator, f"→ {node.name}"), "operator"
        edges += [(argument, node.name) for argument in node.arguments]
    for number, output in enumerate(program.outputs):
        # No value is called so: a value's name is an identifier.
        end = f"output {number}"
        texts[end] = (("output",) if len(program.outputs) == 1 else (end,)), "output"
        edges.append((output, end))
    calls = "; ".join(
        f"{node.name} = {node.operator}({', '.join(node.arguments)})" for node in program.nodes
    )
    description = f"{calls}; outputs {', '.join(program.outputs)}"
    return layered(texts, edges, [tensor.name for tensor in program.inputs], description)
