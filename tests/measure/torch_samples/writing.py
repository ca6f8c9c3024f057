"""Arguments, tensors and calls of PyTorch's as the parts of a program."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import Any

import torch
from torch.utils._pytree import tree_leaves

from relaxcheck.generators.core.fills.kinds import Literal
from relaxcheck.generators.torch import targets
from relaxcheck.generators.torch.program import (
    DTYPES,
    Argument,
    Complex,
    Dots,
    Many,
    Named,
    Node,
    Program,
    Real,
    Ref,
    Span,
    Tensor,
    uses,
)

INPUTS = ("x", "w", "v", "u", "s", "t")
"""The names of a program's tensors, in order."""

MOST_ELEMENTS = 10_000
"""Elements of a tensor at most."""

HIDDEN = ("_stacklevel", "device", "generator", "pin_memory", "requires_grad", "layout")
"""Arguments that say nothing about a value on CPU."""


class Unwritable(ValueError):
    """A call that is no program, and why."""


@dataclass(slots=True)
class Writing:
    """The tensors of a call that have names, by identity; all are kept alive."""

    names: dict[int, str] = field(default_factory=dict)
    tensors: dict[str, torch.Tensor] = field(default_factory=dict)
    kept: list[Any] = field(default_factory=list)

    def name(self, value: torch.Tensor) -> str:
        """The name of ``value``, which is an input if it has none yet."""
        if id(value) not in self.names:
            at = len(self.tensors)
            name = INPUTS[at] if at < len(INPUTS) else f"t{at}"
            self.names[id(value)] = name
            self.tensors[name] = value
            self.kept.append(value)
        return self.names[id(value)]

    def argument(self, value: Any) -> Argument:
        """``value`` as an argument of a node.

        Raises:
            Unwritable: programs have no such argument.
        """
        match value:
            case torch.Tensor():
                check(value)
                return Ref(self.name(value))
            case torch.dtype() | torch.memory_format():
                name = str(value).removeprefix("torch.")
                if name not in targets.THINGS:
                    raise Unwritable(f"an argument is {name}")
                return Named(name)
            case None | bool() | str():
                return value
            case int():
                return int(value)
            case float():
                return float(value) if isfinite(value) else Real(str(float(value)))
            case complex():
                return Complex(value.real, value.imag)
            case slice(start=start, stop=stop, step=step):
                bounds = (start, stop, step)
                if not all(each is None or type(each) is int for each in bounds):
                    raise Unwritable("a slice has bounds that are no numbers")
                return Span(start, stop, step)
            case list() | tuple():
                items = tuple(self.argument(item) for item in value)
                plain = all(item is None or type(item) in (bool, int, float, str) for item in items)
                return items if plain else Many(items)  # type: ignore[return-value]
        if value is Ellipsis:
            return Dots()
        raise Unwritable(f"an argument is of type {type(value).__name__}")

    def keywords(self, values: Mapping[str, Any]) -> dict[str, Argument]:
        """``values`` as the keywords of a node."""
        return {key: self.argument(value) for key, value in values.items() if key not in HIDDEN}


def check(value: torch.Tensor) -> None:
    name = str(value.dtype).removeprefix("torch.")
    if value.layout != torch.strided:
        raise Unwritable("a tensor is sparse")
    if name not in DTYPES:
        raise Unwritable(f"a tensor is of dtype {name}")
    if value.numel() > MOST_ELEMENTS:
        raise Unwritable(f"a tensor has more than {MOST_ELEMENTS} elements")


def leaves_of(result: Any) -> list[Any]:
    """The leaves of ``result``, of which at least one is a tensor.

    Raises:
        Unwritable: none is, or one is complex or sparse.
    """
    leaves = tree_leaves(result)
    tensors = [leaf for leaf in leaves if isinstance(leaf, torch.Tensor)]
    if not tensors:
        raise Unwritable("its result is no tensor")
    for tensor in tensors:
        check(torch.view_as_real(tensor.resolve_conj()) if tensor.is_complex() else tensor)
    return leaves


def tensors_of(result: Any) -> list[torch.Tensor]:
    """The tensors of ``result``, in order."""
    return [leaf for leaf in leaves_of(result) if isinstance(leaf, torch.Tensor)]


def program_of(
    writing: Writing, nodes: Sequence[Node], outputs: tuple[str, ...], results: Sequence[Any]
) -> Program:
    if not nodes:
        raise Unwritable("it calls nothing")
    nodes, outputs = _real(nodes, outputs, results)
    used = {name for node in nodes for name in uses(node)} | set(outputs)
    tensors = tuple(
        Tensor(
            name,
            tuple(value.shape),
            str(value.dtype).removeprefix("torch."),
            fill=literal(value),
        )
        for name, value in writing.tensors.items()
        if name in used
    )
    if not tensors:
        # A function that takes no tensor stands beside one of an input.
        tensors = (Tensor("x", (2,)),)
        nodes = [*nodes, Node("torch.neg", (Ref("x"),), outputs=("beside",))]
        outputs = (*outputs, "beside")
    # A function may give its own operand back, and a tensor is bound once.
    if len(set(outputs)) < len(outputs):
        raise Unwritable("two results are the same tensor")
    return _renamed(Program(tensors, tuple(nodes), outputs))


def _real(
    nodes: Sequence[Node], outputs: tuple[str, ...], results: Sequence[Any]
) -> tuple[list[Node], tuple[str, ...]]:
    """``nodes`` and ``outputs`` with pairs of real numbers in place of complex results."""
    added: list[Node] = []
    names: list[str] = []
    for name, result in zip(outputs, results, strict=True):
        if result.is_complex():
            added.append(Node("torch.resolve_conj", (Ref(name),), outputs=(f"{name}_c",)))
            added.append(Node("torch.view_as_real", (Ref(f"{name}_c"),), outputs=(f"{name}_r",)))
        names.append(f"{name}_r" if result.is_complex() else name)
    return [*nodes, *added], tuple(names)


def _renamed(program: Program) -> Program:
    """``program`` with outputs called ``y``, ``y1`` …, and values between ``h``, ``h1`` …."""
    inputs = {tensor.name for tensor in program.tensors}
    own = [name for name in program.outputs if name not in inputs]
    names = {name: f"y{at or ''}" for at, name in enumerate(own)}
    bound = (name for node in program.nodes for name in node.outputs if name)
    between = [name for name in bound if name not in names]
    names |= {name: f"h{at or ''}" for at, name in enumerate(between)}

    def renamed(argument: Argument) -> Argument:
        match argument:
            case Ref(name=name):
                return Ref(names.get(name, name))
            case Many(items=items):
                return Many(tuple(map(renamed, items)))
        return argument

    nodes = tuple(
        Node(
            node.target,
            tuple(map(renamed, node.args)),
            {key: renamed(each) for key, each in node.keywords.items()},
            tuple(names.get(name, name) for name in node.outputs),
        )
        for node in program.nodes
    )
    outputs = tuple(names.get(name, name) for name in program.outputs)
    return Program(program.tensors, nodes, outputs)


def literal(value: torch.Tensor) -> Literal:
    """The values of ``value``; floats as multiples of 1/256, where that keeps them apart from 0."""
    flat = value.detach().reshape(-1)
    if not value.is_floating_point():
        return Literal(tuple(int(each) for each in flat.tolist()))
    return Literal(tuple(_short(each) for each in flat.double().tolist()))


def _short(value: float) -> float:
    if not isfinite(value):
        raise Unwritable("a tensor has values that are not finite")
    rounded = round(value * 256) / 256
    return rounded if rounded or not value else value
