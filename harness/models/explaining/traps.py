"""Scan an imported Relax module for bindings that are known to go wrong; nothing is compiled."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tvm import relax
from tvm.ir import Op

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.traps.table import TRAPS, Bound
from relaxcheck.fixes.tvm_api.functions import type_of_cast
from relaxcheck.fixes.tvm_api.shapes import name_of, symbols_of
from relaxcheck.harness.models.explaining.uses import made, used

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
        own = _own_symbols(binding.value, every)
        of_own = "is a symbol of its own" if len(own) == 1 else "are symbols of their own"
        why = f"; {', '.join(own)} {of_own}, which nothing relates to other sizes" if own else ""
        yield Sprung(
            "lost-shape",
            name,
            _operator(binding.value),
            f"the shape of the result is lost here, where those of all operands are known: it is "
            f"{kind}{why}; LegalizeOps passes over calls of unknown shape without an error",
            ("dynamic_broadcast", "known_results", "known_rank", "onnx_reshape", "onnx_expand"),
            # Another name for a value is no call that fails.
            sum(o == name and bool(_operator(every[each].value)) for each, o in behind.items()),
        )


def _own_symbols(value: Expr, every: Mapping[str, Binding]) -> list[str]:
    """The symbols in the types of the operands of ``value`` that only a match_cast defines."""
    cast: dict[str, None] = {}
    for binding in every.values():
        if isinstance(binding, relax.MatchCast):
            cast.update(dict.fromkeys(map(name_of, symbols_of(type_of_cast(binding)))))
    types = [tvm_api.type_of(each) for each in getattr(value, "args", ()) if _has_type(each)]
    return list(dict.fromkeys(n for t in types for n in map(name_of, symbols_of(t)) if n in cast))


def _has_type(value: Expr) -> bool:
    return isinstance(value, relax.Var) and tvm_api.is_tensor(value)


def _is_shapeless(variable: Expr) -> bool:
    return tvm_api.is_tensor(variable) and not tvm_api.has_shape(variable)
