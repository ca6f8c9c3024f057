"""Programs, calls, choices and faults of a record at points that differ from its default."""

from typing import Any

from relaxcheck.generators.core.axes import Axis, Point, complete
from relaxcheck.generators.core.operand import facts
from relaxcheck.generators.core.program import Node, Program
from relaxcheck.generators.operators import OPERATORS
from relaxcheck.generators.operators.family import drafted


def point_at(name: str, chosen: Point) -> Point:
    return complete(OPERATORS[name].family_axes, chosen)


def program_at(name: str, /, **chosen: Any) -> tuple[Program, tuple[dict[str, int], ...]]:
    """The program and the bindings where the axes ``chosen`` are off their defaults."""
    return drafted(OPERATORS[name], point_at(name, chosen))


def calls_at(name: str, /, **chosen: Any) -> list[Node]:
    return [node for node in program_at(name, **chosen)[0].nodes if node.operator == name]


def axis_of(name: str, axis: str) -> Axis:
    return next(each for each in OPERATORS[name].axes if each.name == axis)


def choices_at(name: str, axis: str, /, **others: Any) -> set[Any]:
    """The values of ``axis`` for an operand of a graph, after the values of ``others``."""
    shape, dtype = others.pop("shape", ()), others.pop("dtype", "float32")
    return set(axis_of(name, axis).choices({**facts(shape, dtype), **others}))


def broken_at(name: str, kind: str, **chosen: Any) -> Program:
    """The program of ``program_at`` with the fault ``kind`` put in."""
    (fault,) = (each for each in OPERATORS[name].faults if each.kind == kind)
    point = point_at(name, {**fault.pinned, **chosen})
    return fault.breaking(drafted(OPERATORS[name], point)[0], point)
