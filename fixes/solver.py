"""Forms (``shape_forms.py``) proved by z3, where it is installed (``pip install z3-solver``).

z3 divides as Euclid did: the remainder is never negative. For a positive divisor that is rounding
down, and all else is brought to it. What it may spend is counted in its own units of work, so that
the same program is compiled to the same on every machine; the limit in time is for what they do not
count, and is far above what they come to.
"""

from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from fixes.shape_forms import Form

WORK = 20_000
"""z3's units (``rlimit``) for one claim, some 10 to 50 ms. Shapes have taken up to 15,000."""
MILLISECONDS = 1000


@cache
def _z3() -> Any:
    """The module, or None where it is not installed."""
    return import_module("z3") if find_spec("z3") else None


def available() -> bool:
    """Whether z3 is installed."""
    return _z3() is not None


def proves(form: Form) -> bool:
    """Whether z3 finds that ``form`` is nowhere false, its sizes being 0 or more.

    False where z3 is not installed, or has not found out within its limits.
    """
    if not available():
        return False
    # Of its own, so that an answer does not depend on what was asked before.
    writing = _Writing(_z3().Context())
    _, wrong = writing.truth(form)
    solver = _z3().Solver(ctx=writing.context)
    solver.set("rlimit", WORK)
    solver.set("timeout", MILLISECONDS)
    solver.add(*writing.sizes.values(), wrong)
    return bool(solver.check() == _z3().unsat)


class _Writing:
    """Forms as terms of z3: a number with the condition that it has a value, a truth as the two
    conditions that it is so and that it is not, neither of which holds where it has no value."""

    def __init__(self, context: Any) -> None:
        self.context = context
        self.sizes: dict[int, Any] = {}
        self.yes = _z3().BoolVal(True, context)

    def number(self, form: Form) -> tuple[Any, Any]:
        kind = form[0]
        if kind in ("size", "integer"):
            variable = _z3().Int(f"x{form[1]}", self.context)
            if kind == "size":
                self.sizes.setdefault(form[1], variable >= 0)
            return variable, self.yes
        if kind == "constant":
            return _z3().IntVal(form[1], self.context), self.yes
        if kind == "select":
            true, false = self.truth(form[1])
            (then, first), (otherwise, second) = map(self.number, form[2:])
            has = _z3().Or(_z3().And(true, first), _z3().And(false, second))
            return _z3().If(true, then, otherwise), has
        (left, first), (right, second) = map(self.number, form[1:])
        has = _z3().And(first, second)
        match kind:
            case "add":
                return left + right, has
            case "sub":
                return left - right, has
            case "mul":
                return left * right, has
            case "min":
                return _z3().If(left <= right, left, right), has
            case "max":
                return _z3().If(left >= right, left, right), has
        has = _z3().And(has, right != 0)
        # A size that is not 0 is positive: that takes a case away.
        positive = form[2][0] == "size" or (form[2][0] == "constant" and form[2][1] > 0)
        quotient = _floored(left, right) if kind.startswith("floor") else _truncated(left, right)
        if positive:
            quotient = left / right
            if kind.startswith("trunc"):
                quotient = _z3().If(left >= 0, quotient, -(-left / right))
        return (quotient if kind.endswith("div") else left - right * quotient), has

    def truth(self, form: Form) -> tuple[Any, Any]:
        kind = form[0]
        if kind == "truth":
            no = _z3().Not(self.yes)
            return (self.yes, no) if form[1] else (no, self.yes)
        if kind == "not":
            true, false = self.truth(form[1])
            return false, true
        if kind in ("and", "or"):
            (one, not_one), (other, not_other) = map(self.truth, form[1:])
            if kind == "and":
                return _z3().And(one, other), _z3().Or(not_one, not_other)
            return _z3().Or(one, other), _z3().And(not_one, not_other)
        if kind == "select":
            true, false = self.truth(form[1])
            branches = [self.truth(branch) for branch in form[2:]]
            found = [
                _z3().Or(_z3().And(true, then), _z3().And(false, otherwise))
                for then, otherwise in zip(*branches, strict=True)
            ]
            return found[0], found[1]
        (left, first), (right, second) = map(self.number, form[1:])
        comparison = {
            "eq": lambda: left == right,
            "ne": lambda: left != right,
            "lt": lambda: left < right,
            "le": lambda: left <= right,
            "gt": lambda: left > right,
            "ge": lambda: left >= right,
        }[kind]()
        has = _z3().And(first, second)
        return _z3().And(has, comparison), _z3().And(has, _z3().Not(comparison))


def _floored(left: Any, right: Any) -> Any:
    return _z3().If(right > 0, left / right, -left / -right)


def _truncated(left: Any, right: Any) -> Any:
    size, by = (_z3().If(one >= 0, one, -one) for one in (left, right))
    return _z3().If((left >= 0) == (right > 0), size / by, -(size / by))
