"""Helpers of all steps of a reduction: making a simpler candidate from a case.

A step is a function from a case to simpler ones, the simplest first. It knows no operator: a
candidate may be invalid, which ``harness.programs.vetting`` finds out. Steps never return a
candidate that is not even a program.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from relaxcheck.generators.core import dims
from relaxcheck.generators.core.dims import Dim
from relaxcheck.generators.core.program import Case, Input, Node
from relaxcheck.generators.core.rewrites.inlining import functions_of
from relaxcheck.harness.outcomes.outcome import Computed
from relaxcheck.harness.programs.reduction.simplicity import Defaults


@dataclass(frozen=True, slots=True)
class Knowledge:
    """Knowledge about a failing case besides itself.

    ``defaults`` are those of attributes; ``values`` the reference's of its nodes, by name, if it
    was asked. ``ran``: it failed after its inputs existed, so that their values may matter.
    """

    defaults: Defaults = field(default_factory=dict)
    values: Mapping[str, Computed] = field(default_factory=dict)
    ran: bool = True


Step = Callable[[Case, Knowledge], Iterator[Case]]


def candidate(make: Callable[[], Case]) -> Iterator[Case]:
    """``make()``, if that is a well-formed case; else nothing."""
    try:
        made = make()
    except (ValueError, ArithmeticError, LookupError):
        # A missing name, a symbol without a value, a division by zero: not a program.
        return
    yield made


def remade(
    case: Case,
    *,
    inputs: Sequence[Input] | None = None,
    nodes: Sequence[Node] | None = None,
    outputs: Sequence[str] | None = None,
    bindings: Sequence[Mapping[str, int]] | None = None,
    **settings: Any,
) -> Case:
    """``case`` with these parts, without what no output needs, and bindings to fit.

    It lies at no point of its family any more.

    Raises:
        ValueError: the result is no case, or has no node.
    """
    own = case.program
    wanted = tuple(dict.fromkeys(own.outputs if outputs is None else outputs))
    needed = _needed(own.nodes if nodes is None else nodes, wanted)
    left = {node.name for node in needed}
    program = msgspec.structs.replace(
        own,
        inputs=tuple(own.inputs if inputs is None else inputs),
        nodes=needed,
        outputs=wanted,
        functions=functions_of(needed, own.functions),
        apart=tuple(name for name in own.apart if name in left),
    )
    if not program.nodes:
        raise ValueError("a program without a node tests nothing")
    rows = [
        {symbol: binding[symbol] for symbol in program.symbols}
        for binding in (case.bindings if bindings is None else bindings)
    ]
    distinct = tuple(row for at, row in enumerate(rows) if row not in rows[:at])
    return msgspec.structs.replace(
        case, program=program, bindings=distinct, at=msgspec.UNSET, **settings
    )


def _needed(nodes: Sequence[Node], outputs: Sequence[str]) -> tuple[Node, ...]:
    """Those of ``nodes`` that ``outputs`` need."""
    needed, kept = set(outputs), []
    for node in reversed(nodes):
        if node.name in needed:
            needed |= set(node.arguments)
            kept.append(node)
    return tuple(reversed(kept))


def with_input(case: Case, changed: Input) -> tuple[Input, ...]:
    """The inputs of ``case``, ``changed`` in the place of the one of its name."""
    return tuple(
        changed if tensor.name == changed.name else tensor for tensor in case.program.inputs
    )


def with_node(case: Case, changed: Node) -> tuple[Node, ...]:
    """The nodes of ``case``, ``changed`` in the place of the one of its name."""
    return tuple(changed if node.name == changed.name else node for node in case.program.nodes)


def substituted(dim: Dim, values: Mapping[str, Dim]) -> Dim:
    """``dim`` with each symbol that ``values`` names replaced by its dimension there.

    Raises:
        ValueError: the result would be too long, or divides by zero.
    """
    if not dims.symbols(dim) & set(values):
        return dim
    return dims.canonical(
        dims.fold(
            dim,
            constant=str,
            symbol=lambda name: f"({values.get(name, name)})",
            binary=lambda sign, left, right: f"({left} {sign} {right})",
        )
    )


def smaller(size: int) -> tuple[int, ...]:
    """Simpler sizes than ``size``, the simplest first; none of them is 0."""
    if size == 0:
        return (1, 2)
    return tuple(
        smaller_size
        for smaller_size in dict.fromkeys((1, 2, 3, size // 2, size - 1))
        if 0 < smaller_size < size
    )
