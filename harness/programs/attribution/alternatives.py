"""Alternatives: other values of what has no default to put back, or is at its default.

A call may fail with ``training=True``, which is TVM's default, or with ``size=(1, 1)``, which has
none. Other values are tried; they say something only where the case passes with one.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from msgspec.structs import replace

from relaxcheck.generators.calls import attributes_of_type, defaults, grouped, required, telling
from relaxcheck.generators.core.axes import Family, complete
from relaxcheck.generators.core.fills.kinds import Random
from relaxcheck.generators.core.program import ITEM, Attribute, Case, Node, ShapeValue
from relaxcheck.harness.outcomes.attribution import Aspect, Difference
from relaxcheck.harness.outcomes.outcome import Outcome
from relaxcheck.harness.programs.attribution.differences import differences
from relaxcheck.harness.programs.reduction import setting_steps
from relaxcheck.harness.programs.reduction.steps import candidate, remade, with_node

_ORDINARY = (8, 2)
"""Sizes to try in the place of 0 and 1; of 8, fewer things are true by coincidence."""

_SIZES = (2, 3, 8)
"""Sizes to try for a symbol."""

_NUMBERS = (-1, 0, 1, 2, 3)
"""Values to try for a number that a call has to have."""

_FEW = 3
"""The most values to try for an attribute that is left out."""


@dataclass(frozen=True, slots=True)
class Way:
    """A case, and its ``differences`` from the one that fails."""

    case: Case
    differences: tuple[Difference, ...]


def alternatives(case: Case, outcome: Outcome, family: Family | None) -> Iterator[list[Way]]:
    """Cases with another value of one setting, a list for each setting, the best ones first."""
    for node in case.program.nodes:
        if outcome.operator not in (None, node.operator):
            continue
        yield from _at_default(case, node, family)
        needed = required(node.operator)
        # A reader cannot tell an attribute that two calls have from the other's.
        others = {
            name
            for other in case.program.nodes
            for name in (other.attributes if other.name != node.name else ())
        }
        for name, value in node.attributes.items():
            if name in others:
                continue
            ways = _other_values(case, node, name, value) if name in needed else []
            if name in needed or name in attributes_of_type(node.operator, "axes"):
                ways += _with_fewer(case, node, name, value)
            yield ways
        yield _without_options(case, node)
        yield _with_more_operands(case, node)
        if ITEM in node.attributes:
            yield _other_items(case, node)
    for symbol in case.program.symbols:
        yield _other_sizes(case, symbol)
    if len(case.program.symbols) > 1:
        yield [
            Way(static, differences(case, static))
            for binding in case.bindings
            for static in setting_steps.sized(case, binding)
        ]


def other_axes(case: Case) -> Iterator[list[Way]]:
    """``case`` along each other axis of no smaller size: along a smaller one less can go wrong."""
    shapes = {tensor.name: tensor.shape for tensor in case.program.inputs}
    names = Counter(name for node in case.program.nodes for name in node.attributes)
    for node in case.program.nodes:
        shape = shapes.get(node.arguments[0]) if node.arguments else None
        for name in attributes_of_type(node.operator, "axis"):
            axis = node.attributes.get(name)
            # A reader cannot tell an attribute that two calls have from the other's.
            if shape is None or not isinstance(axis, int) or names[name] > 1:
                continue
            if not -len(shape) <= axis < len(shape):
                continue
            own = shape[axis]
            others = [
                at
                for at, dim in enumerate(shape)
                if at != axis % len(shape)
                and (dim == own or (isinstance(dim, int) and isinstance(own, int) and dim > own))
            ]
            yield [
                Way(changed, differences(case, changed))
                for other in others
                for changed in with_value(case, node, name, other)
            ]


def values_of(family: Family | None, operator: str, name: str) -> list[Attribute]:
    """The values of the attribute ``name`` of ``operator`` that ``family`` has, each once."""
    seen: list[Attribute] = []
    if family is None:
        return seen
    for axis in family.axes:
        for value in axis.values:
            try:
                point = complete(family.axes, {axis.name: value})
            except ValueError:
                # It is not allowed where the other axes are at their defaults.
                continue
            made = family.build(point, 0)
            for node in made.program.nodes if isinstance(made, Case) else ():
                other = node.attributes.get(name) if node.operator == operator else None
                if other is not None and other not in seen:
                    seen.append(other)
    return seen


def with_value(case: Case, node: Node, name: str, value: Attribute) -> Iterator[Case]:
    """``case`` with ``value`` for the attribute ``name`` of ``node``."""
    changed = replace(node, attributes={**node.attributes, name: value})
    yield from candidate(partial(remade, case, nodes=with_node(case, changed)))


def _at_default(case: Case, node: Node, family: Family | None) -> Iterator[list[Way]]:
    """Other values of switches, and of what is left out, that are at TVM's default."""
    switches = attributes_of_type(node.operator, "bool")
    for name, default in defaults(node.operator).items():
        if node.attributes.get(name, default) != default:
            continue
        others: Sequence[Attribute] = ()
        if name in switches and isinstance(default, bool):
            others = (not default,)
        elif default is None:
            others = values_of(family, node.operator, name)[:_FEW]
        was: Any = default
        yield [
            Way(changed, (Difference(Aspect.DEFAULT, name, was, other),))
            for other in others
            for changed in with_value(case, node, name, other)
        ]


def _other_values(case: Case, node: Node, name: str, value: Attribute) -> list[Way]:
    """Other values than ``value`` of the attribute ``name``, which the call has to have."""
    return [
        Way(changed, differences(case, changed))
        for other in dict.fromkeys(_others(value))
        if other != value
        for changed in with_value(case, node, name, other)
    ]


def _others(value: Attribute) -> Iterator[Attribute]:
    """Values of the kind of ``value``: ordinary sizes of a shape, other numbers of a list."""
    match value:
        case bool() | str() | float() | None:
            return
        case int():
            yield from _NUMBERS
        case ShapeValue(dims=dims):
            small = [at for at, dim in enumerate(dims) if dim in (0, 1)]
            for size in _ORDINARY:
                for chosen in [*([at] for at in small), small] if small else []:
                    yield ShapeValue(
                        tuple(size if at in chosen else dim for at, dim in enumerate(dims))
                    )
        case (int(),):
            yield from ((number,) for number in _NUMBERS)
        case tuple() if all(isinstance(each, int) for each in value):
            yield from (tuple(int(each) + step for each in value) for step in (1, -1))


def _without_options(case: Case, node: Node) -> list[Way]:
    """All attributes that are off their defaults put back at once, where there are several.

    Some go together, so that no implementation of one without the others is there to judge it.
    """
    needed = required(node.operator) | {ITEM}
    options = telling(node).keys() - needed
    left = {name: value for name, value in node.attributes.items() if name not in options}
    if len(options) < 2:
        return []
    changed = replace(node, attributes=left)
    made = candidate(partial(remade, case, nodes=with_node(case, changed)))
    return [Way(each, differences(case, each)) for each in made]


def _with_fewer(case: Case, node: Node, name: str, value: Attribute) -> list[Way]:
    """Without the first of the axes ``value``, and of what has a dimension for each of them."""
    if not isinstance(value, tuple) or len(value) < 2:
        return []
    others = set(node.arguments[1:])
    inputs = [
        replace(tensor, shape=tensor.shape[1:], fill=Random())
        if tensor.name in others and len(tensor.shape) == len(value)
        else tensor
        for tensor in case.program.inputs
    ]
    changed = replace(node, attributes={**node.attributes, name: value[1:]})
    made = candidate(partial(remade, case, inputs=inputs, nodes=with_node(case, changed)))
    return [Way(each, differences(case, each)) for each in made]


def _with_more_operands(case: Case, node: Node) -> list[Way]:
    """With the last of the operands that ``node`` takes as one tuple once more."""
    for at, group in enumerate(grouped(node.operator, node.arguments)):
        if not isinstance(group, list) or not group:
            continue
        end = at + len(group)
        arguments = (*node.arguments[:end], group[-1], *node.arguments[end:])
        nodes = with_node(case, replace(node, arguments=arguments))
        more = (Difference(Aspect.OPERANDS, node.operator, len(group), len(group) + 1),)
        return [Way(each, more) for each in candidate(partial(remade, case, nodes=nodes))]
    return []


def _other_items(case: Case, node: Node) -> list[Way]:
    """Other items of the tuple that ``node`` is an item of."""
    item = node.attributes[ITEM]
    return [
        Way(changed, (Difference(Aspect.ITEM, node.operator, item, other),))
        for other in (0, 1, 2)
        if other != item
        for changed in with_value(case, node, ITEM, other)
    ]


def _other_sizes(case: Case, symbol: str) -> list[Way]:
    """Other sizes for ``symbol`` than those that it is bound to."""
    ways = []
    for size in _SIZES:
        for changed in setting_steps.sized(case, {symbol: size}):
            sized = tuple(
                replace(each, to=size) if each.what is Aspect.SYMBOL else each
                for each in differences(case, changed)
            )
            ways.append(Way(changed, sized))
    return ways
