"""The features of a failing expression, by which ``analyzer_causes`` tells its cause."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from relaxcheck.generators.core.case import AnyCase
from relaxcheck.generators.expressions.cases import INDEX, SIZES, ExpressionCase
from relaxcheck.generators.expressions.grid_values import evaluate, everywhere
from relaxcheck.generators.expressions.grids import Array, Grid, Values, grid
from relaxcheck.generators.expressions.language import (
    DIVISIONS,
    LIMITS,
    SHIFTS,
    Expression,
    Variable,
    nodes,
)
from relaxcheck.generators.expressions.subject import Problem
from relaxcheck.harness.expressions.fault import Asked, asked_of
from relaxcheck.harness.outcomes.outcome import Outcome

_FAR = {"int32": 2**23, "int64": 2**55}
"""From what on a constant, times what is drawn beside it, comes near the ends of its dtype."""


@dataclass(frozen=True, slots=True)
class Look:
    """The features of a finding that identify its cause; ``variables`` have the ranges TVM knows.

    ``signal`` is the name of the signal that a worker died of, if it died of one.
    """

    asked: Asked
    position: str
    message: str
    signal: str
    expressions: tuple[Expression, ...]
    constraints: tuple[Expression, ...]
    variables: tuple[Variable, ...]

    @property
    def nodes(self) -> Iterator[Expression]:
        """All that the analyzer is given or that is compiled: expressions, and what is assumed."""
        for each in (*self.expressions, *self.constraints):
            yield from nodes(each)

    @property
    def divisions(self) -> list[Expression]:
        """The quotients and remainders in the expressions, whichever way they round."""
        return [node for each in self.expressions for node in _divisions(each)]

    def values(self, expression: Expression) -> Array:
        """The values of ``expression`` where it has one and the assumptions hold.

        Of ranges that are wide only some points are taken, the ends among them.
        """
        points = grid(self.variables)
        taken = np.ones(points.size, np.bool_)
        for each in self.constraints:
            assumed = evaluate(each, points)
            taken &= _is_valid(assumed, points) & everywhere(assumed, points).astype(np.bool_)
        computed = evaluate(expression, points)
        return everywhere(computed, points)[taken & _is_valid(computed, points)]

    def says(self, *texts: str) -> bool:
        """True if the message contains one of ``texts``."""
        return any(text in self.message for text in texts)


def look(case: AnyCase, outcome: Outcome) -> Look | None:
    """The features of ``outcome`` of ``case``; None if the case is no expression."""
    if not isinstance(case, ExpressionCase):
        return None
    subject = case.subject
    both = (subject.expression, subject.other)
    ending = outcome.ending
    return Look(
        asked_of(outcome.details),
        case.position,
        outcome.message,
        ending.signal if ending is not None else "",
        tuple(each for each in both if each is not None),
        subject.constraints,
        _bound_variables(subject),
    )


def _bound_variables(subject: Problem) -> tuple[Variable, ...]:
    """The variables of ``subject``; with all that their dtypes hold where no range is told."""
    if subject.means != "nothing":
        return subject.variables
    return tuple(
        Variable(variable.name, variable.dtype, *LIMITS[variable.dtype])
        for variable in subject.variables
    )


def _is_valid(values: Values, points: Grid) -> Array:
    """At which of ``points`` there is a value."""
    invalid = False if values.invalid is None else values.invalid
    return ~np.broadcast_to(np.asarray(invalid, np.bool_), (points.size,))


def _divisions(expression: Expression) -> list[Expression]:
    return [node for node in nodes(expression) if node.operator in DIVISIONS]


def _constants(expression: Expression) -> Iterator[Expression]:
    return (node for node in nodes(expression) if node.operator == "const")


def _is_negative(expression: Expression) -> bool:
    """True if it contains a negative number or a subtraction."""
    return any(int(constant.leaf) < 0 for constant in _constants(expression)) or any(
        node.operator == "-" for node in nodes(expression)
    )


def divides_by_negative(seen: Look) -> bool:
    """True if a divisor may be negative."""
    return any(_is_negative(division.operands[1]) for division in seen.divisions)


def falls(seen: Look) -> bool:
    """True if a dividend or a divisor may be negative."""
    return any(
        map(_is_negative, (each for division in seen.divisions for each in division.operands))
    )


def assumes_negative_divisors(seen: Look) -> bool:
    """True if an assumption divides by what may be negative."""
    return any(
        node.operator in DIVISIONS and _is_negative(node.operands[1])
        for each in seen.constraints
        for node in nodes(each)
    )


def _dtypes(seen: Look) -> set[str]:
    return {node.dtype for node in seen.nodes}


def is_unsigned(seen: Look) -> bool:
    """True if any dtype is unsigned."""
    return any(each.startswith("uint") for each in _dtypes(seen))


def is_narrow(seen: Look) -> bool:
    """True if any dtype is int8 or int16."""
    return bool(_dtypes(seen) & {"int8", "int16"})


def is_far(seen: Look) -> bool:
    """True if it is about overflow, or about numbers near the ends of their dtype."""
    return (
        seen.asked.validity
        or seen.says("Literal value", "kPosInf", "kNegInf")
        or any(
            abs(int(node.leaf)) >= _FAR[node.dtype]
            for node in seen.nodes
            if node.operator == "const" and node.dtype in _FAR
        )
    )


def shifts_by_negative(seen: Look) -> bool:
    """True if the amount of a shift may be negative."""
    amounts = (node.operands[1] for node in seen.nodes if node.operator in SHIFTS)
    return any((seen.values(amount) < 0).any() for amount in amounts)


def divides_by_zero(seen: Look) -> bool:
    """True if a divisor is 0 wherever it has a value."""
    divisors = (seen.values(division.operands[1]) for division in seen.divisions)
    return any(values.size and not values.any() for values in divisors)


def raises_of_zero(seen: Look) -> bool:
    """True if the message is about a division by 0."""
    return seen.says("ivide by zero", "!= 0 (0 vs. 0)")


def constant_dtypes(expression: Expression) -> list[str]:
    """The dtypes of the constants in ``expression``, each once, in the order of its text."""
    if expression.operator == "const":
        return [expression.dtype]
    inner = (dtype for operand in expression.operands for dtype in constant_dtypes(operand))
    return list(dict.fromkeys(inner))


def has(seen: Look, *operators: str) -> bool:
    """True if any of ``operators`` is there."""
    return any(node.operator in operators for node in seen.nodes)


def is_uncomputed(seen: Look) -> bool:
    """True if Relax says of a size without symbols that it has not computed it."""
    symbols = any(node.operator == "var" for each in seen.expressions for node in nodes(each))
    is_reported = seen.says("has not been computed", "is not computed") and seen.says("PrimExpr")
    return is_reported and seen.position in SIZES and not symbols


def _simplifies_index(seen: Look) -> bool:
    return seen.position == INDEX or "iter_map_simplify" in seen.asked.question


def maps_iterators(seen: Look) -> bool:
    """True if it is about how indices are rewritten."""
    return _simplifies_index(seen) or "detect_iter_map" in seen.asked.question


def promises(seen: Look) -> bool:
    """True if it is a promise about all values of an index with a quotient or a remainder."""
    promised = any(
        f"detect_iter_map-{each}" in seen.asked.question for each in ("surjective", "bijective")
    )
    return promised and has(seen, *DIVISIONS)


def drops_offset(seen: Look) -> bool:
    """True if it answers for an index that divides an iterator that begins above 0."""
    dividends = (division.operands[0] for division in seen.divisions)
    iterators = (
        dividend for dividend in dividends if _names(dividend) and not _divisions(dividend)
    )
    return "detect_iter_map" in seen.asked.question and any(
        _begins_above(seen, iterator) for iterator in iterators
    )


def _begins_above(seen: Look, expression: Expression) -> bool:
    """True if ``expression`` has values, all of them above 0."""
    values = seen.values(expression)
    return bool(values.size and (values > 0).all())


def pads_twice(seen: Look) -> bool:
    """True if an index has two quotients or remainders of one iterator that may be padded apart."""
    pairs = (pair for each in seen.expressions for pair in combinations(_divisions(each), 2))
    return _simplifies_index(seen) and any(_are_beside(*pair) for pair in pairs)


def _are_beside(division: Expression, other: Expression) -> bool:
    """True if both divide different sums of the same variable, and neither is within the other."""
    within = other in nodes(division) or division in nodes(other)
    shared = _names(division.operands[0]) & _names(other.operands[0])
    return not within and bool(shared) and division.operands[0] != other.operands[0]


def _names(expression: Expression) -> set[int | str]:
    return {node.leaf for node in nodes(expression) if node.operator == "var"}
