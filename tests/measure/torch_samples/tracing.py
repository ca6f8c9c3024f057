"""A call of PyTorch as a program: the call itself, or the calls that it makes."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch.fx.experimental.proxy_tensor import make_fx
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_leaves

from relaxcheck.generators.torch import targets
from relaxcheck.generators.torch.program import Argument, Layer, Many, Node, Program, Ref, uses
from tests.measure.torch_samples.naming import Unnamed, path_of
from tests.measure.torch_samples.writing import (
    HIDDEN,
    Unwritable,
    Writing,
    check,
    leaves_of,
    program_of,
    tensors_of,
)


def direct(path: str, args: Sequence[Any], keywords: Mapping[str, Any], result: Any) -> Program:
    """The call of the function at ``path`` that gave ``result``."""
    writing = Writing()
    node = Node(
        path,
        tuple(writing.argument(each) for each in args),
        writing.keywords(keywords),
        outputs=_outputs(leaves_of(result), "y"),
    )
    return program_of(writing, [node], tuple(filter(None, node.outputs)), tensors_of(result))


def _outputs(leaves: Sequence[Any], stem: str) -> tuple[str, ...]:
    names: list[str] = []
    for leaf in leaves:
        count = sum(map(bool, names))
        names.append(f"{stem}{count or ''}" if isinstance(leaf, torch.Tensor) else "")
    return tuple(names)


def traced(
    function: Callable[..., Any], args: Sequence[Any], keywords: Mapping[str, Any]
) -> Program:
    """The calls of PyTorch's public functions that ``function`` makes; ATen's where it must be."""
    try:
        return _public(function, args, keywords)
    except (Unnamed, Unwritable, ValueError):
        return _aten(function, args, keywords)


class _Calls(TorchFunctionMode):
    def __init__(self) -> None:
        super().__init__()
        self.made: list[tuple[Any, Sequence[Any], Mapping[str, Any], Any]] = []

    def __torch_function__(
        self, function: Any, types: Any, args: Sequence[Any] = (), kwargs: Any = None
    ) -> Any:
        result = function(*args, **(kwargs or {}))
        if any(isinstance(leaf, torch.Tensor) for leaf in tree_leaves(result)):
            self.made.append((function, args, kwargs or {}, result))
        return result


def _public(
    function: Callable[..., Any], args: Sequence[Any], keywords: Mapping[str, Any]
) -> Program:
    with _Calls() as calls:
        result = function(*args, **keywords)
    writing = Writing()
    for value in tree_leaves((args, dict(keywords))):
        if isinstance(value, torch.Tensor):
            check(value)
            writing.name(value)
    own = set(writing.names)
    nodes = []
    for at, (called, values, named, given) in enumerate(calls.made):
        made = Node(
            path_of(called),
            tuple(writing.argument(each) for each in values),
            writing.keywords(named),
            outputs=_outputs(tree_leaves(given), f"h{at or ''}_"),
        )
        if set(writing.names) != own:
            raise Unwritable("a tensor is made out of sight")
        for leaf, name in zip(tree_leaves(given), made.outputs, strict=True):
            if name:
                writing.names[id(leaf)] = name
                writing.kept.append(leaf)
        own = set(writing.names)
        nodes.append(made)
    outputs = [
        writing.names[id(leaf)]
        for leaf in leaves_of(result)
        if isinstance(leaf, torch.Tensor) and id(leaf) in own
    ]
    if len(outputs) != sum(isinstance(leaf, torch.Tensor) for leaf in tree_leaves(result)):
        raise Unwritable("a result is made out of sight")
    return program_of(writing, nodes, tuple(outputs), tensors_of(result))


def _aten(
    function: Callable[..., Any], args: Sequence[Any], keywords: Mapping[str, Any]
) -> Program:
    writing = Writing()
    for value in tree_leaves((args, dict(keywords))):
        if isinstance(value, torch.Tensor):
            check(value)
            writing.name(value)
    names = list(writing.tensors)

    def called(*tensors: torch.Tensor) -> list[torch.Tensor]:
        swap = {
            id(writing.tensors[name]): tensor for name, tensor in zip(names, tensors, strict=True)
        }
        swapped = torch.utils._pytree.tree_map(
            lambda leaf: swap.get(id(leaf), leaf), (tuple(args), dict(keywords))
        )
        return tensors_of(function(*swapped[0], **swapped[1]))

    graph = make_fx(called)(*(writing.tensors[name] for name in names)).graph
    places: dict[Any, str] = {}
    nodes: list[Node] = []
    outputs: tuple[str, ...] = ()
    for node in graph.nodes:
        if node.op == "placeholder":
            places[node] = names[len(places)]
        elif node.op == "output":
            outputs = tuple(places[each] for each in node.args[0])
        elif node.op == "call_function" and node.target.__name__ == "getitem":
            source, at = node.args
            places[node] = f"{places[source]}_{at}"
        elif node.op == "call_function":
            nodes.append(_aten_node(node, places, len(nodes)))
        else:
            raise Unwritable("a tensor is made out of sight")
    results = called(*(writing.tensors[name] for name in names))
    return program_of(writing, _only_used(nodes, outputs), outputs, results)


def _aten_node(node: Any, places: dict[Any, str], at: int) -> Node:
    writing = Writing()

    def argument(value: Any) -> Argument:
        if isinstance(value, torch.fx.Node):
            return Ref(places[value])
        if isinstance(value, list | tuple):
            items = tuple(argument(item) for item in value)
            plain = not any(isinstance(item, Ref | Many) for item in items)
            return items if plain else Many(items)  # type: ignore[return-value]
        return writing.argument(value)

    places[node] = name = f"h{at}"
    leaves = node.meta.get("val")
    count = len(leaves) if isinstance(leaves, list | tuple) else 0
    return Node(
        path_of(node.target),
        tuple(argument(each) for each in node.args),
        {key: argument(each) for key, each in node.kwargs.items() if key not in HIDDEN},
        outputs=tuple(f"{name}_{each}" for each in range(count)) or (name,),
    )


def _only_used(nodes: Sequence[Node], outputs: Sequence[str]) -> list[Node]:
    """``nodes`` without those that no output needs, unless they write into a tensor."""
    wanted = set(outputs)
    kept: list[Node] = []
    for node in reversed(nodes):
        writes = node.target.split(".")[-2].endswith("_")
        if writes or wanted.intersection(node.outputs):
            kept.append(node)
            wanted.update(uses(node))
    return kept[::-1]


def layered(
    kind: str,
    made_with: tuple[Sequence[Any], Mapping[str, Any]],
    args: Sequence[Any],
    keywords: Mapping[str, Any],
    result: Any,
) -> Program:
    """The call of a layer of ``kind``, made with arguments, that gave ``result``."""
    writing = Writing()
    layer = _layer(kind, made_with, writing)
    if writing.tensors:
        raise Unwritable("the layer is made with a tensor")
    node = Node(
        "layer",
        tuple(writing.argument(each) for each in args),
        writing.keywords(keywords),
        outputs=_outputs(leaves_of(result), "y"),
    )
    program = program_of(writing, [node], tuple(filter(None, node.outputs)), tensors_of(result))
    return Program(program.tensors, program.nodes, program.outputs, {"layer": layer})


def _layer(
    kind: str, made_with: tuple[Sequence[Any], Mapping[str, Any]], writing: Writing
) -> Layer:
    args, keywords = made_with
    targets.layer(kind)
    return Layer(kind, tuple(writing.argument(each) for each in args), writing.keywords(keywords))
