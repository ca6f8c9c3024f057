"""The exported programs of the parts of a module that were exported as one."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch.export import ExportedProgram
from torch.export.exported_program import ModuleCallEntry, ModuleCallSignature
from torch.export.graph_signature import (
    ExportGraphSignature,
    InputKind,
    InputSpec,
    OutputKind,
    OutputSpec,
)
from torch.utils._pytree import tree_flatten

_NUMBER = re.compile(r"_\d+$")
"""The number that makes the name of a node distinct."""

_INPUT = re.compile(r"^L\['inputs'\]\[(\d+)\]")
"""An input of a part, as PyTorch names where a symbol comes from."""


@dataclass(frozen=True, slots=True)
class Part:
    """A part: its example ``inputs``, and the number of its outputs.

    ``tuple_of_one``: it returns its only output as a tuple.
    """

    inputs: tuple[torch.Tensor, ...]
    outputs: int
    tuple_of_one: bool = False


def split(whole: ExportedProgram, parts: Sequence[Part], prefix: str) -> list[ExportedProgram]:
    """The program of each of ``parts``; the module holds them as ``prefix.0``, ``prefix.1``, …

    The input of the whole, ``inputs``, is a list of those of each part, and so is its output.

    Raises:
        ValueError: the whole has other inputs or outputs, or a node belongs to no part.
    """
    owners = _owners(whole, parts, prefix)
    return [_part(whole, part, owners, at, f"{prefix}.{at}.") for at, part in enumerate(parts)]


@dataclass(frozen=True, slots=True)
class _Owners:
    """The number of the part that each node, and each input and output of the graph, is of.

    An input that no part owns by its name, such as a lifted constant, is that of the part that
    uses it.
    """

    nodes: Mapping[torch.fx.Node, int]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]


def _owners(whole: ExportedProgram, parts: Sequence[Part], prefix: str) -> _Owners:
    signature = whole.graph_signature
    users = iter([at for at, part in enumerate(parts) for _ in part.inputs])
    results = iter([at for at, part in enumerate(parts) for _ in range(part.outputs)])
    placeholders = [node for node in whole.graph.nodes if node.op == "placeholder"]
    owners: dict[torch.fx.Node, int] = {}
    by_name: dict[str, int] = {}
    for node, spec in zip(placeholders, signature.input_specs, strict=True):
        user = spec.kind is InputKind.USER_INPUT
        owner = next(users, None) if user else _numbered(str(spec.target), prefix)
        if user and owner is None:
            raise ValueError("the program has more inputs than its parts")
        if owner is not None:
            owners[node] = by_name[node.name] = owner
    outputs = []
    for spec in signature.output_specs:
        if spec.kind is OutputKind.USER_OUTPUT:
            owner = next(results, None)
        elif spec.kind is OutputKind.USER_INPUT_MUTATION:
            owner = by_name.get(str(spec.target))
        else:
            owner = _numbered(str(spec.target), prefix)
        if owner is None:
            raise ValueError(f"output {spec} belongs to no part")
        outputs.append(owner)
    if next(users, None) is not None or next(results, None) is not None:
        raise ValueError("the program has fewer inputs or outputs than its parts")
    _own_nodes(whole, owners, outputs, prefix)
    inputs = tuple(owners.get(node, -1) for node in placeholders)
    return _Owners(owners, inputs, tuple(outputs))


def _own_nodes(
    whole: ExportedProgram,
    owners: dict[torch.fx.Node, int],
    outputs: Sequence[int],
    prefix: str,
) -> None:
    """Add each node to ``owners``: by what it uses, by where it was traced, by what uses it."""
    nodes = list(whole.graph.nodes)
    for node in nodes:
        if node.op in ("placeholder", "output"):
            continue
        used = [owners[each] for each in node.all_input_nodes if each in owners]
        traced = [
            number
            for path, _ in (node.meta.get("nn_module_stack") or {}).values()
            if (number := _numbered(f"{path}.", prefix)) is not None
        ]
        if used or traced:
            owners[node] = (used or traced)[0]
    output = nodes[-1]
    for value, owner in zip(output.args[0], outputs, strict=True):
        if isinstance(value, torch.fx.Node):
            owners.setdefault(value, owner)
    for node in reversed(nodes[:-1]):
        if node in owners:
            for each in node.all_input_nodes:
                owners.setdefault(each, owners[node])
    for node in nodes[:-1]:
        if any(owners.get(each) != owners.get(node) for each in node.all_input_nodes):
            raise ValueError(f"node {node.name} uses values of two parts")


def _numbered(path: str, prefix: str) -> int | None:
    """The number N of a ``path`` that begins with ``prefix.N.``; None of any other."""
    found = re.match(rf"{prefix}\.(\d+)\.", path)
    return int(found[1]) if found else None


def _part(
    whole: ExportedProgram, part: Part, owners: _Owners, number: int, prefix: str
) -> ExportedProgram:
    """The program of the part ``number``, whose names begin with ``prefix``."""
    graph = torch.fx.Graph()
    made: dict[torch.fx.Node, torch.fx.Node] = {}
    names: dict[str, str] = {}
    held: dict[str, Any] = {}
    placeholders = [node for node in whole.graph.nodes if node.op == "placeholder"]
    specs = dict(zip(placeholders, whole.graph_signature.input_specs, strict=True))
    taken = 0
    for node in whole.graph.nodes:
        if node.op == "output" or owners.nodes.get(node) != number:
            continue
        if node in specs:
            spec = specs[node]
            user = spec.kind is InputKind.USER_INPUT
            name = f"inputs_{taken}" if user else _held_name(node.name, prefix)
            taken += user
            new = graph.placeholder(name)
            new.meta = dict(node.meta)
        else:
            new = graph.create_node(
                node.op,
                node.target,
                torch.fx.map_arg(node.args, made.__getitem__),
                torch.fx.map_arg(node.kwargs, made.__getitem__),
                node.name if node.op == "get_attr" else _NUMBER.sub("", node.name),
                node.type,
            )
            new.meta = dict(node.meta)
        if node.op == "get_attr":
            held[str(node.target)] = getattr(whole.graph_module, str(node.target))
        made[node], names[node.name] = new, new.name
    results = list(whole.graph.nodes)[-1].args[0]
    own = [value for value, owner in zip(results, owners.outputs, strict=True) if owner == number]
    graph.output(tuple(torch.fx.map_arg(own, made.__getitem__)))
    signature = ExportGraphSignature(
        [
            _input(spec, names, prefix)
            for node, spec in specs.items()
            if owners.nodes.get(node) == number
        ],
        [
            _output(spec, names, prefix)
            for spec, owner in zip(whole.graph_signature.output_specs, owners.outputs, strict=True)
            if owner == number
        ],
    )
    targets = {str(spec.target) for spec in signature.input_specs if spec.target is not None}
    made_of_part = ExportedProgram(
        root=held,
        graph=graph,
        graph_signature=signature,
        state_dict=_of_part(whole.state_dict, prefix, targets),
        range_constraints=_ranges(whole, graph, number),
        module_call_graph=[_call(part)],
        example_inputs=(part.inputs, {}),
        constants=_of_part(whole.constants, prefix, targets),
        verifiers=whole.verifiers,
    )
    # Its guards speak of the inputs of the whole.
    made_of_part._guards_code = []
    return made_of_part


def _held_name(name: str, prefix: str) -> str:
    """The name of what a part holds: ``p_weight`` for ``p_parts_0_weight`` of the whole."""
    return name.replace(prefix.replace(".", "_"), "", 1)


def _input(spec: InputSpec, names: Mapping[str, str], prefix: str) -> InputSpec:
    target = None if spec.target is None else spec.target.removeprefix(prefix)
    return replace(spec, arg=_renamed(spec.arg, names), target=target)


def _output(spec: OutputSpec, names: Mapping[str, str], prefix: str) -> OutputSpec:
    target = spec.target
    if spec.kind is OutputKind.USER_INPUT_MUTATION:
        target = names[str(target)]
    elif target is not None:
        target = target.removeprefix(prefix)
    return replace(spec, arg=_renamed(spec.arg, names), target=target)


def _renamed(argument: Any, names: Mapping[str, str]) -> Any:
    return replace(argument, name=names.get(argument.name, argument.name))


def _of_part(held: Mapping[str, Any], prefix: str, targets: set[str]) -> dict[str, Any]:
    """The values of ``held`` that a part has by its ``prefix``, or uses by another name."""
    return {
        name.removeprefix(prefix): value
        for name, value in held.items()
        if name.startswith(prefix) or name in targets
    }


def _ranges(whole: ExportedProgram, graph: torch.fx.Graph, number: int) -> dict[Any, Any]:
    """The range of each symbol of a part: one of its ``graph``, or of an input of its own.

    PyTorch keeps the range of a size that it then fixed.
    """
    found: set[Any] = set()
    sources: dict[Any, Any] = {}
    for node in graph.nodes:
        for value in tree_flatten(node.meta.get("val"))[0]:
            if isinstance(value, torch._subclasses.FakeTensor) and value.fake_mode.shape_env:
                sources = sources or dict(value.fake_mode.shape_env.var_to_sources)
            sizes = value.shape if isinstance(value, torch.Tensor) else (value,)
            for size in sizes:
                if isinstance(size, torch.SymInt):
                    found |= size.node.expr.free_symbols
    for symbol, origins in sources.items():
        places = (_INPUT.search(str(_text(origin))) for origin in origins)
        if any(place and int(place[1]) == number for place in places):
            found.add(symbol)
    return {
        symbol: limits
        for symbol, limits in whole.range_constraints.items()
        if symbol.free_symbols <= found
    }


def _text(origin: Any) -> Any:
    """The name of a source of a symbol, a property since 2.10 and a method before."""
    return origin.name() if callable(origin.name) else origin.name


def _call(part: Part) -> ModuleCallEntry:
    _, takes = tree_flatten((part.inputs, {}))
    single = part.outputs == 1 and not part.tuple_of_one
    _, gives = tree_flatten(0 if single else (0,) * part.outputs)
    names = [f"inputs_{number}" for number in range(len(part.inputs))]
    return ModuleCallEntry("", ModuleCallSignature([], [], takes, gives, names))
