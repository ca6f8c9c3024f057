"""Draw problems for the analyzer: their axes, and the problem at a point from one seed.

A tree is drawn from one seed rather than by Hypothesis. Of 1,500 trees of depth 3, ``st.recursive``
took 0.9 ms each and gave 3 or more operators on a way in 23%, both of two variables in 24%; node by
node it was 2.3 ms, 95% and 60%, nearly all of the one full depth; from one seed it is 0.01 ms, 73%
and 55%, with no tree twice (2026-11-22, beside other work). What is drawn is made smaller by
``relaxcheck.generators.expressions.reduction``.
"""

import random
from collections.abc import Sequence
from functools import lru_cache

from relaxcheck.generators.core.axes import Axis, Point
from relaxcheck.generators.expressions import language as expressions
from relaxcheck.generators.expressions.language import BOOL, Expression, Variable
from relaxcheck.generators.expressions.rules import INDICES, RULES, SIZES
from relaxcheck.generators.expressions.subject import Problem
from relaxcheck.generators.expressions.text import parse
from relaxcheck.generators.expressions.trees import Draft, assumption, condition, leaf, tree

KINDS = ("tree", "claim", "size", "index", *(f"rule-{group}" for group in RULES))
"""A tree of any operators; a condition over two of them; a size as programs compute it; a place in
a buffer; an instance of a rule's shape."""

DTYPES = ("int32", "int64", "int16", "int8", "uint32", "uint64", "uint8", "uint16")
ASSUMED = (0, 1, 2)
"""The numbers of conditions that are assumed."""

AXES = (
    Axis("kind", KINDS, "tree", default_weight=4, weights={"claim": 3, "size": 2, "index": 2}),
    Axis("dtype", DTYPES, "int32", default_weight=8, weights={"int64": 8}),
    Axis("depth", (1, 2, 3, 4), 1, weights={2: 3, 3: 3}),
    Axis("variables", (1, 2, 3), 2, default_weight=3, weights={1: 2}),
    Axis("sign", ("size", "positive", "any"), "size", default_weight=2, weights={"any": 2}),
    Axis("told", ("range", "scope", "bound", "nothing"), "range", default_weight=6),
    Axis("assumed", ASSUMED, 0, default_weight=4),
)

_RANGES = {
    "size": ((0, 7), (0, 1), (0, 3), (0, 8), (0, 15)),
    "positive": ((1, 8), (1, 2), (2, 9), (3, 6), (1, 12)),
    "any": ((-4, 4), (-8, -1), (-3, 7), (-7, 0), (-2, 1)),
}
"""Inclusive ends, by sign: few values, so that all of their combinations are soon tried."""


def drawn_at(point: Point, seed: int) -> Problem:
    """A problem at ``point``, which gives each axis of ``AXES`` a value, drawn from ``seed``."""
    return drawn_by(point, random.Random(seed))


def drawn_by(point: Point, rng: random.Random) -> Problem:
    """The problem at ``point``, its choices made by ``rng``."""
    kind, dtype = str(point["kind"]), str(point["dtype"])
    draft = Draft(rng, _variables(point, rng), dtype)
    depth = int(point["depth"] or 1)
    if kind == "tree":
        expression = tree(draft, depth)
    elif kind == "claim":
        expression = condition(draft, depth)
    else:
        expression = _instance(draft, rng.choice(_templates(kind)), depth)
    if rng.random() < 0.3 and kind not in ("tree", "claim"):
        expression = _within(draft, expression)
    other = _beside(draft, expression) if rng.random() < 0.5 else None
    constraints = tuple(assumption(draft) for _ in range(int(point["assumed"] or 0)))
    return Problem(
        variables=draft.used(),
        expression=expression,
        constraints=constraints,
        other=other,
        means=str(point["told"]),
        kind=kind,
    )


def _variables(point: Point, rng: random.Random) -> tuple[Variable, ...]:
    sign, dtype = str(point["sign"]), str(point["dtype"])
    if sign == "any" and dtype.startswith("u"):
        sign = "size"
    if point["kind"] == "index":
        sign = "size"
    ranges = _RANGES[sign]
    drawn = (ranges[int(rng.random() * len(ranges))] for _ in range(int(point["variables"] or 1)))
    return tuple(Variable(name, dtype, *ends) for name, ends in zip("xyz", drawn, strict=False))


def _templates(kind: str) -> tuple[str, ...]:
    if kind == "size":
        return SIZES
    return INDICES if kind == "index" else RULES[kind.removeprefix("rule-")]


_PLACES = {"x": 0, "y": 1, "z": 2, "m": 1, "n": 0, "i": 0, "j": 1}
"""Which variable a letter of a template is where nothing more is put in its place."""


@lru_cache(maxsize=4096)
def _template(text: str, dtype: str) -> Expression:
    letters: dict[str, Expression] = {
        name: Expression("var", dtype, (), name) for name in (*_PLACES, *"abcd")
    }
    letters |= {name: Expression("var", BOOL, (), name) for name in "pq"}
    return parse(text, letters, dtype)


def _instance(draft: Draft, text: str, depth: int) -> Expression:
    """``text`` with constants that are multiples of each other more often than not."""
    template = _template(text, draft.dtype)
    a, b = draft.small(), draft.small()
    constants = {"a": a, "b": b if draft.rng.random() < 0.5 else a * b}
    constants["c"] = constants["b"] * a if draft.rng.random() < 0.5 else draft.small()
    constants["d"] = draft.small()
    values: dict[str, Expression] = {}
    # The order of a set differs from one process to the next.
    for name in sorted(expressions.names(template)):
        if name in constants:
            values[name] = draft.constant(constants[name])
        elif name in "pq":
            values[name] = condition(draft, 1)
        elif depth > 2 and draft.rng.random() < 0.3:
            values[name] = tree(draft, depth - 2)
        else:
            place = _PLACES[name] % len(draft.variables)
            values[name] = expressions.variable(draft.variables[place])
    return expressions.substituted(template, values)


def _within(draft: Draft, expression: Expression) -> Expression:
    """``expression`` as an operand: rules also meet the results of others."""
    if expression.dtype == BOOL:
        operands = (expression, condition(draft, 1))
        return expressions.apply("and" if draft.rng.random() < 0.5 else "or", *operands)
    operator = draft.pick(("+", "-", "*", "//", "%", "min", "max"))
    return expressions.apply(operator, expression, leaf(draft))


def _beside(draft: Draft, expression: Expression) -> Expression:
    """An expression that may equal ``expression``: with one place in it changed, or another."""
    path: expressions.Path = ()
    node = expression
    if draft.rng.random() < 0.7:
        path, node = draft.pick(list(expressions.places(expression)))
    if node.operands and draft.rng.random() < 0.4:
        fitting: Sequence[Expression] = [o for o in node.operands if o.dtype == node.dtype]
        if fitting:
            return expressions.replaced(expression, path, draft.pick(fitting))
    if len(node.operands) == 2 and draft.rng.random() < 0.5:
        turned = Expression(node.operator, node.dtype, node.operands[::-1])
        return expressions.replaced(expression, path, turned)
    new = condition(draft, 1) if node.dtype == BOOL else leaf(draft)
    if new.dtype != node.dtype:
        return expression
    return expressions.replaced(expression, path, new)
