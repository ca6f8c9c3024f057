"""Expressions of shapes as plain data: evaluated, and written out as polynomials.

A *form* is a nested tuple: its kind, then its operands. Numbers are ``("size", i)`` (variable
number i, 0 or more), ``("integer", i)`` (a variable of either sign), ``("constant", value)``, and
``add sub mul floordiv floormod truncdiv truncmod min max`` of two numbers; truths are ``eq ne lt le
gt ge`` of two numbers, ``and or`` of two truths, ``not`` of one, ``("truth", bool)``; ``("select",
truth, then, otherwise)`` is what its branches are. Variables are numbered in the order in which
they are met, so that expressions that differ in names alone have one form.

Numbers are those of mathematics: nothing overflows. A number has no value where something in it is
divided by 0, a truth then neither, unless one operand of ``and`` or ``or`` decides alone (Kleene's
logic): a claim about a quotient says nothing where there is none.
"""

from collections.abc import Sequence
from itertools import product
from typing import Any

Form = tuple[Any, ...]
Atom = Any
"""A variable, or a quotient and the like whose operands are written out."""
Polynomial = dict[tuple[Atom, ...], int]
"""By product of atoms, sorted, its coefficient, which is not 0."""

COMPARISONS = frozenset({"eq", "ne", "lt", "le", "gt", "ge"})
_OTHERWISE = {"eq": "ne", "ne": "eq", "lt": "ge", "ge": "lt", "le": "gt", "gt": "le"}
_LARGEST = 64
"""A polynomial of more terms is given up."""


def value(form: Form, point: Sequence[int]) -> Any:
    """The number or truth that ``form`` is where variable i is ``point[i]``; None for none."""
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
    """Some two dozen points at which a claim that is not always true mostly shows it."""
    kinds = _variables(form)
    if not kinds:
        return [()]
    if len(kinds) == 1:
        lines: list[tuple[int, ...]] = [(one,) for one in _VALUES]
    else:
        # Small ones in every combination of the first two, then a walk with a step of its own
        # for each variable, so that no two of them go together.
        lines = [(one,) * len(kinds) for one in (0, 1, 2)]
        first = list(product((0, 1, 3), repeat=2))
        lines += [tuple((one, other)[at % 2] for at in range(len(kinds))) for one, other in first]
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
    found: dict[int, str] = {}
    for part in form[1:]:
        if isinstance(part, tuple):
            found |= _variables(part)
    return found


def negated(form: Form) -> Form:
    """The truth that ``form`` is not so, with the negations moved to the comparisons."""
    kind = form[0]
    if kind in _OTHERWISE:
        return (_OTHERWISE[kind], *form[1:])
    if kind in ("and", "or"):
        return ("or" if kind == "and" else "and", negated(form[1]), negated(form[2]))
    if kind == "not":
        found: Form = form[1]
        return found
    if kind == "truth":
        return ("truth", not form[1])
    if kind == "select":
        return ("select", form[1], negated(form[2]), negated(form[3]))
    return ("not", form)


def holds_written_out(form: Form) -> bool:
    """Whether ``form`` is nowhere false, as its sides show once they are polynomials."""
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
    """Whether one alternative holds where the others do not: their inequalities, added up, say so.

    ``m <= n or n - m >= 0`` is of this kind: where the first is false, m - n - 1 is 0 or more.
    """
    alternatives = _alternatives(form)
    for claim in alternatives:
        others = [one for one in alternatives if one is not claim]
        for given in [others, *([one] for one in others)]:
            found = [_not_negative(claim), *(_not_negative(negated(one)) for one in given)]
            left = found[0]
            for known in found[1:]:
                left = None if left is None or known is None else _sum(left, known, -1)
            if left is not None and _has_sign("ge", left):
                return True
    return False


def _not_negative(form: Form) -> Polynomial | None:
    """What ``form`` says is 0 or more; None where it is no inequality."""
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
    """``form``, a number, multiplied out; None where that is too long.

    Both have the same value wherever ``form`` has one. What is rounded down gives up the multiples
    of its divisor: ``(2*m + n + 3) // 2`` is ``m + 1 + (n + 1) // 2``.
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
        # Rounded towards 0, a sum is not what its parts are.
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
    found = dict(left)
    for atoms, factor in right.items():
        found[atoms] = found.get(atoms, 0) + sign * factor
    return {atoms: factor for atoms, factor in found.items() if factor}


def _times(left: Polynomial, right: Polynomial) -> Polynomial | None:
    if len(left) * len(right) > _LARGEST:
        return None
    found: Polynomial = {}
    for (one, factor), (other, by) in product(left.items(), right.items()):
        atoms = tuple(sorted((*one, *other), key=repr))
        found[atoms] = found.get(atoms, 0) + factor * by
    return {atoms: factor for atoms, factor in found.items() if factor}


def _divided(dividend: Polynomial, divisor: Polynomial) -> tuple[Polynomial, Polynomial]:
    """(q, r) such that ``dividend`` is ``q*divisor + r``; q is 0 but for a divisor of one term."""
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
