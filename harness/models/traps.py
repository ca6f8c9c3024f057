"""Scan an imported Relax module for bindings that are known to go wrong; nothing is compiled."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tvm.ir import Op

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.traps.table import TRAPS, Bound
from relaxcheck.harness.models.uses import made, used

# TVM has no type information of its own.
Module = Any
Binding = Any
Expr = Any


@dataclass(frozen=True, slots=True)
class Sprung:
    """A binding that falls into a trap.

    ``fixes`` are those of the trap. ``followers`` counts the bindings that have no shape because
    this one has none.
    """

    trap: str
    variable: str
    operator: str
    sentence: str
    fixes: tuple[str, ...] = ()
    followers: int = 0


def scan(module: Module) -> tuple[Sprung, ...]:
    """The bindings of ``main`` that fall into a trap, in the program's order."""
    every = made(module)
    sprung = [
        Sprung(trap.name, bound.variable, bound.operator, trap.sentence.format(detail), trap.fixes)
        for bound in _calls(every)
        for trap in TRAPS
        if (detail := trap.look(bound))
    ]
    places = {name: place for place, name in enumerate(every)}
    return tuple(sorted((*sprung, *_lost(every)), key=lambda each: places[each.variable]))


def _calls(every: Mapping[str, Binding]) -> Iterator[Bound]:
    """The bindings whose value is the call of an operator."""
    values = {name: binding.value for name, binding in every.items()}
    for name, value in values.items():
        if operator := _operator(value):
            yield Bound(name, value, operator, values)


def _operator(value: Expr) -> str:
    """The name of the operator that ``value`` calls; "" if it calls none."""
    operator = getattr(value, "op", None)
    return str(operator.name) if isinstance(operator, Op) else ""


def origins(module: Module) -> dict[str, str]:
    """By variable the first one, among those that it is computed from, whose shape was lost.

    A variable that is computed from shapes that are all known is not listed.
    """
    return _origins(made(module))[0]


def _origins(every: Mapping[str, Binding]) -> tuple[dict[str, str], list[str]]:
    """The origins, and the variables at which shapes were lost, in the program's order."""
    behind: dict[str, str] = {}
    first: list[str] = []
    shapeless: set[str] = set()
    for name, binding in every.items():
        lost = [behind.get(each, each) for each in used(binding.value) if each in shapeless]
        if lost:
            behind[name] = lost[0]
        if _is_shapeless(binding.var):
            shapeless.add(name)
            if not lost:
                first.append(name)
    return behind, first


def _lost(every: Mapping[str, Binding]) -> Iterator[Sprung]:
    """The first binding of unknown shape of each chain, with the number of those that follow."""
    behind, first = _origins(every)
    for name in first:
        binding = every[name]
        kind = tvm_api.show_type(tvm_api.type_of(binding.var))
        yield Sprung(
            "lost-shape",
            name,
            _operator(binding.value),
            f"the shape of the result is lost here, where those of all operands are known: it is "
            f"{kind}; LegalizeOps passes over calls of unknown shape without an error",
            ("known_results", "known_rank", "onnx_reshape", "onnx_expand"),
            sum(origin == name for origin in behind.values()),
        )


def _is_shapeless(variable: Expr) -> bool:
    return tvm_api.is_tensor(variable) and not tvm_api.has_shape(variable)
