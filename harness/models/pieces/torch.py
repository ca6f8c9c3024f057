"""A piece of an exported PyTorch program: calls of ATen on captured or drawn tensors, as data."""

from collections.abc import Collection, Iterator, Mapping
from typing import Any

import numpy as np
import torch

from relaxcheck.generators.core.dims import Dim
from relaxcheck.generators.core.values import Array
from relaxcheck.harness.models.pieces.calls import TorchInput, TorchPiece


class NoPiece(Exception):
    """The nodes say what no script of plain calls can; the message names it."""


def drawable(array: Array) -> bool:
    """True if values like those of ``array`` can be drawn: of real floating-point numbers."""
    return array.dtype.kind == "f"


def tensors_of(graph: torch.fx.Graph, steps: Collection[str]) -> tuple[str, ...]:
    """The names of the tensors that the nodes ``steps`` of ``graph`` are computed from.

    Raises:
        NoPiece: a node is no call.
    """
    nodes = {node.name: node for node in graph.nodes}
    inside = set(_inside(nodes, steps))
    used = {each.name for name in inside for each in nodes[name].all_input_nodes}
    return tuple(name for name in nodes if name in used - inside)


def torch_piece(
    graph: torch.fx.Graph,
    steps: Collection[str],
    outputs: Collection[str],
    values: Mapping[str, Array],
    *,
    keeps: bool = False,
    static: bool = False,
) -> TorchPiece:
    """The nodes ``steps`` of ``graph``, and what they need that is no tensor.

    Every other tensor that they use (``tensors_of``) becomes an input, ``values`` its captured
    value. ``keeps``: all inputs have their captured values, and else only those that cannot be
    drawn. ``static``: their dimensions are numbers.

    Raises:
        NoPiece: a node is no call of ATen or of an operator of Python's.
    """
    nodes = {node.name: node for node in graph.nodes}
    inside = set(_inside(nodes, steps))
    inputs = []
    for name in tensors_of(graph, steps):
        array = values[name]
        if array.dtype.name == "bfloat16":
            raise NoPiece(f"{name} is of bfloat16, which NumPy lacks")
        dims = array.shape if static else _dims(nodes[name], array)
        data = None if drawable(array) and not keeps else np.ascontiguousarray(array).tobytes()
        inputs.append(TorchInput(name, array.dtype.name, array.shape, dims, data))
    chosen = [node for name, node in nodes.items() if name in inside]
    # Of several results an importer holds the first for the node.
    several = [name for name in outputs if isinstance(nodes[name].meta.get("val"), tuple | list)]
    return TorchPiece(
        tuple(inputs),
        (
            *(f"{node.name} = {_call(node)}" for node in chosen),
            *(f"{name}_first = {name}[0]" for name in several),
        ),
        tuple(f"{name}_first" if name in several else name for name in outputs),
        tuple(node.name for node in chosen if node.name in steps),
        tuple(dict.fromkeys(str(node.target) for node in chosen if node.name in steps)),
    )


def _dims(node: torch.fx.Node, array: Array) -> tuple[Dim, ...]:
    """The dimensions that ``torch.export`` can be told: symbols by themselves, and numbers."""
    stated = getattr(node.meta.get("val"), "shape", array.shape)
    return tuple(
        str(dim) if isinstance(dim, torch.SymInt) and str(dim).isidentifier() else size
        for dim, size in zip(stated, array.shape, strict=True)
    )


def _inside(nodes: Mapping[str, torch.fx.Node], steps: Collection[str]) -> Iterator[str]:
    """``steps``, and the nodes before them that hold sizes or tuples, back to tensors."""
    left, seen = list(steps), set()
    while left:
        name = left.pop()
        if name in seen:
            continue
        seen.add(name)
        if nodes[name].op != "call_function":
            raise NoPiece(f"the node {name} is a {nodes[name].op}")
        yield name
        left += [used.name for used in nodes[name].all_input_nodes if not _holds_tensor(used)]


def _holds_tensor(node: torch.fx.Node) -> bool:
    value = node.meta.get("val")
    if node.op == "placeholder" and not isinstance(value, torch.Tensor):
        raise NoPiece(f"the input {node.name} is no tensor")
    return isinstance(value, torch.Tensor) or node.op != "call_function"


def _call(node: torch.fx.Node) -> str:
    """The call that ``node`` is, as Python."""
    arguments = [source(each) for each in node.args]
    arguments += [f"{name}={source(each)}" for name, each in node.kwargs.items()]
    return f"{_target(node)}({', '.join(arguments)})"


def _target(node: torch.fx.Node) -> str:
    if isinstance(node.target, torch._ops.OpOverload):
        return f"torch.ops.{node.target}"
    module = getattr(node.target, "__module__", "")
    if module in ("_operator", "math"):
        return f"{module.lstrip('_')}.{node.target.__name__}"
    raise NoPiece(f"the node {node.name} calls {node.target}, which is no operator of ATen")


def source(value: Any) -> str:
    """An argument of a call as Python.

    Raises:
        NoPiece: it is no literal.
    """
    match value:
        case torch.fx.Node():
            return str(value.name)
        case list() | tuple():
            inner = ", ".join(map(source, value))
            return f"[{inner}]" if isinstance(value, list) else f"({inner},)"
        case float():
            return repr(value) if np.isfinite(value) else f'float("{value}")'
        case None | bool() | int() | str():
            return repr(value)
        case torch.dtype() | torch.memory_format() | torch.layout():
            return str(value)
        case torch.device():
            return f'torch.device("{value}")'
    raise NoPiece(f"an argument is a {type(value).__name__}")
