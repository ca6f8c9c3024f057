"""The graph of a program as a picture."""

from relaxcheck.generators.torch.program import Program, Tensor, uses
from relaxcheck.reports.layers import Labelled, layered
from relaxcheck.reports.rendering import Picture
from relaxcheck.reports.torch.calls import expression, safe

_LONGEST = 48
"""Letters of a line in a box at most."""


def picture(program: Program, description: str) -> Picture:
    """The nodes of ``program``, their tensors and outputs; ``description`` is the same in words."""
    texts: dict[str, Labelled] = {}
    edges: list[tuple[str, str]] = []
    sources: dict[str, str] = {}
    for tensor in program.tensors:
        texts[tensor.name] = (_tensor_lines(tensor), "constant" if tensor.constant else "input")
        sources[tensor.name] = tensor.name
    for number, node in enumerate(program.nodes):
        box = f"node {number}"
        call = expression(node, safe, program.layers)
        shown = call if len(call) <= _LONGEST else f"{call[: _LONGEST - 1]}…"
        texts[box] = ((shown,), "operator")
        edges += [(sources[name], box) for name in dict.fromkeys(uses(node)) if name in sources]
        sources |= {name: box for name in node.outputs if name}
    for number, name in enumerate(program.outputs):
        box = f"output {number}"
        texts[box] = ((name,), "output")
        edges.append((sources[name], box))
    inputs = [tensor.name for tensor in program.tensors]
    return layered(texts, edges, inputs, description)


def _tensor_lines(tensor: Tensor) -> tuple[str, ...]:
    sizes = ", ".join(map(str, tensor.shape))
    return (tensor.name, f"{tensor.dtype}[{sizes}]")
