"""What all steps of a reduction share: how a simpler candidate is made of a case.

A step is a function from a case to simpler ones, the simplest first. It knows no operator: a
candidate may be nonsense, and whoever tries it has to find out (``harness.vetting``). One that is
not even a program is never made.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from generators import dims
from generators.dims import Dim
from generators.program import Case, Input, Node
from harness.outcome import Computed
from harness.reduction.simplicity import Defaults


@dataclass(frozen=True, slots=True)
class Known:
    """What is known about a failing case besides itself.

    ``defaults`` of the attributes; ``values`` of its nodes, by name, where the reference told them;
    ``ran``: it failed when its inputs were there, so that their values may matter.
    """

    defaults: Defaults = field(default_factory=dict)
    values: Mapping[str, Computed] = field(default_factory=dict)
    ran: bool = True


Step = Callable[[Case, Known], Iterator[Case]]


def candidate(make: Callable[[], Case]) -> Iterator[Case]:
    """``make()``, if that is a well-formed case; else nothing."""
    try:
        made = make()
    except (ValueError, ArithmeticError, LookupError):
        # A name that is gone, a symbol without a value, a division by zero: not a program.
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

    Raises:
        ValueError: that is no case, or one without a node.
    """
    own = case.program
    wanted = tuple(dict.fromkeys(own.outputs if outputs is None else outputs))
    program = msgspec.structs.replace(
        own,
        inputs=tuple(own.inputs if inputs is None else inputs),
        nodes=_needed(own.nodes if nodes is None else nodes, wanted),
        outputs=wanted,
    )
    if not program.nodes:
        raise ValueError("a program without a node tests nothing")
    rows = [
        {symbol: binding[symbol] for symbol in program.symbols}
        for binding in (case.bindings if bindings is None else bindings)
    ]
    distinct = tuple(row for at, row in enumerate(rows) if row not in rows[:at])
    return msgspec.structs.replace(case, program=program, bindings=distinct, **settings)


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
    return tuple(changed if one.name == changed.name else one for one in case.program.inputs)


def with_node(case: Case, changed: Node) -> tuple[Node, ...]:
    """The nodes of ``case``, ``changed`` in the place of the one of its name."""
    return tuple(changed if one.name == changed.name else one for one in case.program.nodes)


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
    return tuple(one for one in dict.fromkeys((1, 2, 3, size // 2, size - 1)) if 0 < one < size)
