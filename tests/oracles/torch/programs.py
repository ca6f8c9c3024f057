"""Small programs, and questions about them."""

from typing import Any

import numpy as np

from relaxcheck.generators.torch.program import Layer, Node, Program, Ref, Tensor
from relaxcheck.oracles.torch.answers import Question


def program(*nodes: Node, layers: dict[str, Layer] | None = None, **tensors: Tensor) -> Program:
    """The program of ``nodes`` over ``tensors``; the outputs are those of the last node."""
    outputs = tuple(filter(None, nodes[-1].outputs))
    return Program(tuple(tensors.values()), nodes, outputs, layers or {})


def asked(
    target: str, *operands: Any, outputs: tuple[str, ...] = ("y",), **keywords: Any
) -> Question:
    """A question about one call; arrays among ``operands`` are inputs."""
    arrays, tensors, args = {}, [], []
    for at, each in enumerate(operands):
        if not isinstance(each, np.ndarray):
            args.append(each)
            continue
        name = f"x{at}"
        arrays[name] = each
        tensors.append(Tensor(name, each.shape, each.dtype.name))
        args.append(Ref(name))
    node = Node(target, tuple(args), keywords, outputs)
    named = tuple(filter(None, outputs))
    return Question(Program(tuple(tensors), (node,), named), arrays, 0, "normal")
