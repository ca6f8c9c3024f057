"""The nodes of a program, those of branches too, and the functions that they call."""

from collections.abc import Iterator

from relaxcheck.generators.torch.program import Branch, Node, Program


def nodes_of(program: Program) -> Iterator[Node]:
    """All nodes, those of a branch behind the node that takes it."""
    yield from _nodes(program.nodes)


def _nodes(nodes: tuple[Node, ...]) -> Iterator[Node]:
    for node in nodes:
        yield node
        for argument in (*node.args, *node.keywords.values()):
            if isinstance(argument, Branch):
                yield from _nodes(argument.nodes)


def functions_of(program: Program) -> tuple[str, ...]:
    """The functions, methods and layers that ``program`` calls, each once.

    They are the paths without ``torch``: ``nn.functional.gelu``, ``Tensor.view``, ``nn.Linear``,
    ``ops.aten.add.Tensor``.
    """
    found = (
        program.layers[node.target].kind if node.target in program.layers else node.target
        for node in nodes_of(program)
    )
    return tuple(dict.fromkeys(name.removeprefix("torch.") for name in found))
