"""Proves forms (``forms.py``) by z3, if installed (``pip install z3-solver``).

z3 uses Euclidean division: remainders are never negative. For a positive divisor that equals floor
division; other cases are reduced to it. The main limit counts z3's own units of work, so that a
program compiles alike on every machine. The time limit is far higher, for work that is not counted.
"""

from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from relaxcheck.fixes.proving.forms import Form

WORK = 20_000
"""z3's units (``rlimit``) for a claim, about 10 to 50 ms. Shapes have needed up to 15,000."""
MILLISECONDS = 1000


@cache
def _z3() -> Any:
    """The module, or None if it is not installed."""
    return import_module("z3") if find_spec("z3") else None


def available() -> bool:
    """True if z3 is installed."""
    return _z3() is not None


def proves(form: Form) -> bool:
    """True if z3 proves that ``form`` is nowhere false, its sizes being 0 or more.

    False if z3 is not installed or exceeds its limits.
    """
    if not available():
        return False
    # A fresh context, so that answers do not depend on earlier claims.
    writing = _Writing(_z3().Context())
    _, wrong = writing.truth(form)
    solver = _z3().Solver(ctx=writing.context)
    solver.set("rlimit", WORK)
    solver.set("timeout", MILLISECONDS)
    solver.add(*writing.sizes.values(), wrong)
    return bool(solver.check() == _z3().unsat)


class _Writing:
    """Translates forms to z3 terms.

    A number becomes a term and the condition that it is defined. A truth becomes two conditions:
    that it is true, and that it is false; neither holds if it is undefined.
    """

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
        # A nonzero size is positive, which saves a case distinction.
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
            (left, not_left), (right, not_right) = map(self.truth, form[1:])
            if kind == "and":
                return _z3().And(left, right), _z3().Or(not_left, not_right)
            return _z3().Or(left, right), _z3().And(not_left, not_right)
        if kind == "select":
            true, false = self.truth(form[1])
            branches = [self.truth(branch) for branch in form[2:]]
            chosen = [
                _z3().Or(_z3().And(true, then), _z3().And(false, otherwise))
                for then, otherwise in zip(*branches, strict=True)
            ]
            return chosen[0], chosen[1]
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
    size, by = (_z3().If(side >= 0, side, -side) for side in (left, right))
    return _z3().If((left >= 0) == (right > 0), size / by, -(size / by))
