"""Shape expressions as plain data, with evaluation and expansion into polynomials.

A *form* is a nested tuple: its kind, then its operands. Numbers are ``("size", i)`` (variable
number i, 0 or more), ``("integer", i)`` (a variable of either sign), ``("constant", value)``, and
``add sub mul floordiv floormod truncdiv truncmod min max`` of two numbers. Truths are ``eq ne lt le
gt ge`` of two numbers, ``and or`` of two truths, ``not`` of one, ``("truth", bool)``. ``("select",
truth, then, otherwise)`` has the kind of its branches. Variables are numbered in order of
occurrence, so that expressions which differ only in names have the same form.

Numbers are unbounded integers: nothing overflows. A number that divides by 0 is undefined, and so
is a truth about it, unless one operand of ``and`` or ``or`` decides alone (Kleene's logic).
"""

from collections.abc import Sequence
from itertools import product
from typing import Any

Form = tuple[Any, ...]
Atom = Any
"""A variable, or a non-polynomial operation whose operands are polynomials."""
Polynomial = dict[tuple[Atom, ...], int]
"""Nonzero coefficients by sorted product of atoms."""

COMPARISONS = frozenset({"eq", "ne", "lt", "le", "gt", "ge"})
_OTHERWISE = {"eq": "ne", "ne": "eq", "lt": "ge", "ge": "lt", "le": "gt", "gt": "le"}
_LARGEST = 64
"""Limit of terms; larger polynomials are given up."""


def value(form: Form, point: Sequence[int]) -> Any:
    """The number or truth of ``form`` with variable i at ``point[i]``; None if undefined."""
    kind = form[0]
    if kind in ("size", "integer"):
        return point[form[1]]
    if kind in ("constant", "truth"):
        return form[1]
    if kind == "select":
        chosen = value(form[1], point)
        return None if chosen is None else value(form[2 if chosen else 3], point)
    left = value(form[1], point)
    if kind == "not":
        return None if left is None else not left
    right = value(form[2], point)
    if kind in ("and", "or"):
        decisive = kind == "or"
        if decisive in (left, right):
            return decisive
        return None if left is None or right is None else not decisive
    return None if left is None or right is None else _computed(kind, left, right)


def _computed(kind: str, left: int, right: int) -> Any:
    match kind:
        case "add":
            return left + right
        case "sub":
            return left - right
        case "mul":
            return left * right
        case "min":
            return min(left, right)
        case "max":
            return max(left, right)
        case "eq":
            return left == right
        case "ne":
            return left != right
        case "lt":
            return left < right
        case "le":
            return left <= right
        case "gt":
            return left > right
        case "ge":
            return left >= right
    if right == 0:
        return None
    if kind == "floordiv":
        return left // right
    if kind == "floormod":
        return left % right
    quotient = abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)
    return quotient if kind == "truncdiv" else left - quotient * right


_VALUES = (0, 1, 2, 3, 5, 8, 7, 4, 16, 13, 64, 101, 6, 1000, 9, 33)


def points(form: Form) -> list[tuple[int, ...]]:
    """About two dozen points; a claim that is not always true usually fails at one of them."""
    kinds = _variables(form)
    if not kinds:
        return [()]
    if len(kinds) == 1:
        lines: list[tuple[int, ...]] = [(number,) for number in _VALUES]
    else:
        # Small values in every combination of the first two variables, then a walk with a step of
        # its own for each variable, so that no two variables move together.
        lines = [(number,) * len(kinds) for number in (0, 1, 2)]
        first = list(product((0, 1, 3), repeat=2))
        lines += [
            tuple((number, other)[at % 2] for at in range(len(kinds))) for number, other in first
        ]
        lines += [
            tuple(_VALUES[(row * (2 * at + 1) + 5 * at) % 16] for at in range(len(kinds)))
            for row in range(1, 13)
        ]
    signs = [-1 if kinds[at] == "integer" else 1 for at in sorted(kinds)]
    if min(signs) < 0:
        lines += [tuple(s * x for s, x in zip(signs, line, strict=True)) for line in lines]
    return lines


def _variables(form: Form) -> dict[int, str]:
    """The kind of each variable, by number."""
    if form[0] in ("size", "integer"):
        return {form[1]: form[0]}
    kinds: dict[int, str] = {}
    for part in form[1:]:
        if isinstance(part, tuple):
            kinds |= _variables(part)
    return kinds


def negated(form: Form) -> Form:
    """The negation of ``form``, pushed down to the comparisons."""
    kind = form[0]
    if kind in _OTHERWISE:
        return (_OTHERWISE[kind], *form[1:])
    if kind in ("and", "or"):
        return ("or" if kind == "and" else "and", negated(form[1]), negated(form[2]))
    if kind == "not":
        inner: Form = form[1]
        return inner
    if kind == "truth":
        return ("truth", not form[1])
    if kind == "select":
        return ("select", form[1], negated(form[2]), negated(form[3]))
    return ("not", form)


def holds_written_out(form: Form) -> bool:
    """True if the polynomials of its sides show that ``form`` is nowhere false."""
    if not _variables(form):
        return value(form, ()) is True
    match form:
        case ("truth", truth):
            return bool(truth)
        case ("and", left, right):
            return holds_written_out(left) and holds_written_out(right)
        case ("or", left, right):
            return any(map(holds_written_out, (left, right))) or _one_follows(form)
        case ("not", inner):
            return inner[0] in _OTHERWISE and holds_written_out(negated(inner))
        case (kind, left, right) if kind in COMPARISONS:
            difference = polynomial(("sub", left, right))
            return difference is not None and _has_sign(kind, difference)
    return False


def _alternatives(form: Form) -> list[Form]:
    if form[0] != "or":
        return [form]
    return [*_alternatives(form[1]), *_alternatives(form[2])]


def _one_follows(form: Form) -> bool:
    """True if one alternative holds wherever the others fail, by adding up their inequalities.

    Example: ``m <= n or n - m >= 0``. Where the first fails, m - n - 1 is 0 or more.
    """
    alternatives = _alternatives(form)
    for claim in alternatives:
        others = [alternative for alternative in alternatives if alternative is not claim]
        for premises in [others, *([other] for other in others)]:
            facts = [
                _not_negative(claim),
                *(_not_negative(negated(premise)) for premise in premises),
            ]
            left = facts[0]
            for known in facts[1:]:
                left = None if left is None or known is None else _sum(left, known, -1)
            if left is not None and _has_sign("ge", left):
                return True
    return False


def _not_negative(form: Form) -> Polynomial | None:
    """The polynomial that ``form`` claims to be 0 or more; None if ``form`` is no inequality."""
    kind = form[0]
    if kind not in ("lt", "le", "gt", "ge"):
        return None
    left, right = (form[1], form[2]) if kind in ("gt", "ge") else (form[2], form[1])
    least = 1 if kind in ("lt", "gt") else 0
    return polynomial(("sub", ("sub", left, right), ("constant", least)))


def _has_sign(kind: str, difference: Polynomial) -> bool:
    if kind in ("lt", "le"):
        difference = {atoms: -factor for atoms, factor in difference.items()}
    least = difference.get((), 0)
    rest = {atoms: factor for atoms, factor in difference.items() if atoms}
    if kind == "eq":
        return not difference
    rising = all(factor > 0 for factor in rest.values()) and all(map(_is_size, rest))
    if kind == "ne":
        falling = all(factor < 0 for factor in rest.values()) and all(map(_is_size, rest))
        return (rising and least > 0) or (falling and least < 0)
    return rising and least >= (1 if kind in ("lt", "gt") else 0)


def _is_size(atoms: tuple[Atom, ...]) -> bool:
    return all(atom[0] == "size" for atom in atoms)


def polynomial(form: Form) -> Polynomial | None:
    """The number ``form``, multiplied out; None if that gets too long.

    Both have the same value wherever ``form`` is defined. Floor division extracts multiples of the
    divisor: ``(2*m + n + 3) // 2`` is ``m + 1 + (n + 1) // 2``.
    """
    kind = form[0]
    if kind in ("size", "integer"):
        return {(form,): 1}
    if kind == "constant":
        return {(): form[1]} if form[1] else {}
    if kind == "select":
        return {(form,): 1}
    left, right = polynomial(form[1]), polynomial(form[2])
    if left is None or right is None:
        return None
    if kind == "add":
        return _sum(left, right, 1)
    if kind == "sub":
        return _sum(left, right, -1)
    if kind == "mul":
        return _times(left, right)
    if kind in ("min", "max"):
        return {(_atom(kind, left, right),): 1}
    whole, rest = _divided(left, right)
    if rest and kind.startswith("trunc"):
        # Truncation does not distribute over sums.
        whole, rest = {}, left
    if rest.keys() | right.keys() <= {()} and right:
        number = _computed(kind, rest.get((), 0), right[()])
        broken: Polynomial = {(): number} if number else {}
    else:
        broken = {(_atom(kind, rest, right),): 1} if rest else {}
    return _sum(whole, broken, 1) if kind.endswith("div") else broken


def _atom(kind: str, left: Polynomial, right: Polynomial) -> Atom:
    sides = [tuple(sorted(side.items(), key=repr)) for side in (left, right)]
    if kind in ("min", "max"):
        sides.sort(key=repr)
    return (kind, *sides)


def _sum(left: Polynomial, right: Polynomial, sign: int) -> Polynomial:
    total = dict(left)
    for atoms, factor in right.items():
        total[atoms] = total.get(atoms, 0) + sign * factor
    return {atoms: factor for atoms, factor in total.items() if factor}


def _times(left: Polynomial, right: Polynomial) -> Polynomial | None:
    if len(left) * len(right) > _LARGEST:
        return None
    terms: Polynomial = {}
    for (monomial, factor), (other, by) in product(left.items(), right.items()):
        atoms = tuple(sorted((*monomial, *other), key=repr))
        terms[atoms] = terms.get(atoms, 0) + factor * by
    return {atoms: factor for atoms, factor in terms.items() if factor}


def _divided(dividend: Polynomial, divisor: Polynomial) -> tuple[Polynomial, Polynomial]:
    """(q, r) with ``dividend == q*divisor + r``; q is 0 unless the divisor has one term."""
    if len(divisor) != 1:
        return {}, dividend
    ((atoms, by),) = divisor.items()
    whole: Polynomial = {}
    rest: Polynomial = {}
    for term, factor in dividend.items():
        left = list(term)
        times = factor // by
        for atom in atoms:
            if atom not in left:
                times = 0
                break
            left.remove(atom)
        if times:
            whole[tuple(left)] = times
        if factor != times * by:
            rest[term] = factor - times * by
    return whole, rest
