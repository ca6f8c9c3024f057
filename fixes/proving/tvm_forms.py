"""Reads TVM's integer expressions as forms (``forms.py``), alike on every release."""

from collections.abc import Collection
from typing import Any

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.proving.forms import Form
from relaxcheck.fixes.tvm_api import PrimExpr

_KINDS = {
    "Add": "add",
    "Sub": "sub",
    "Mul": "mul",
    "FloorDiv": "floordiv",
    "FloorMod": "floormod",
    "Div": "truncdiv",
    "Mod": "truncmod",
    "Min": "min",
    "Max": "max",
    "EQ": "eq",
    "NE": "ne",
    "LT": "lt",
    "LE": "le",
    "GT": "gt",
    "GE": "ge",
    "And": "and",
    "Or": "or",
}
_SIGNED = ("int32", "int64")


class _Unread(Exception):
    """The expression has no form."""


def form_of(expr: PrimExpr, signed: Collection[PrimExpr] = ()) -> Form | None:
    """The form of ``expr``; its variables are sizes, except those in ``signed``.

    None if it contains anything but signed arithmetic: a cast, an unsigned or narrow integer, a
    call other than ``if_then_else``. Their values depend on what fits into the dtype.
    """
    try:
        return _Reading(signed).form(expr)
    except _Unread:
        return None


class _Reading:
    def __init__(self, signed: Collection[PrimExpr]) -> None:
        self.signed = set(signed)
        self.numbers: dict[PrimExpr, int] = {}

    def form(self, expr: Any) -> Form:
        name = type(expr).__name__
        if name in _KINDS:
            return (_KINDS[name], self.form(expr.a), self.form(expr.b))
        if isinstance(expr, int):
            return ("constant", expr)
        if name == "IntImm":
            dtype = tvm_api.dtype_of(expr)
            if dtype == "bool":
                return ("truth", bool(expr.value))
            return ("constant", self._if_signed(dtype, int(expr.value)))
        if tvm_api.is_variable(expr):
            self._if_signed(tvm_api.dtype_of(expr), 0)
            number = self.numbers.setdefault(expr, len(self.numbers))
            return ("integer" if expr in self.signed else "size", number)
        if name == "Not":
            return ("not", self.form(expr.a))
        if name == "Select":
            parts = (expr.condition, expr.true_value, expr.false_value)
            return ("select", *map(self.form, parts))
        # "tirx.if_then_else", later "prim.if_then_else".
        if name == "Call" and str(expr.op.name).endswith(".if_then_else"):
            return ("select", *map(self.form, expr.args))
        raise _Unread

    @staticmethod
    def _if_signed(dtype: str, number: int) -> int:
        if dtype not in _SIGNED:
            raise _Unread
        return number
