"""Expressions read from text, in the notation in which they are printed.

That is Python's: ``(m + 2*p - k) // s + 1``, ``x < y and not b``, ``truncdiv(x, 3)``,
``min(x, y)``, ``select(x < 0, 0, x)``, ``int64(x)`` for a cast. Integers and ``True`` have the
dtype of what they stand beside. ``-x`` is read as ``0 - x``.
"""

import ast
from collections.abc import Mapping

from relaxcheck.generators.expressions.language import (
    BOOL,
    LIMITS,
    Expression,
    ExpressionError,
    apply,
    constant,
    converted,
)

_BINARY: Mapping[type[ast.operator], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.LShift: "<<",
    ast.RShift: ">>",
    ast.BitAnd: "&",
    ast.BitOr: "|",
    ast.BitXor: "^",
}
_COMPARISONS: Mapping[type[ast.cmpop], str] = {
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
}
_CALLS = ("min", "max", "truncdiv", "truncmod", "select", "if_then_else")


def parse(text: str, variables: Mapping[str, Expression], dtype: str = "int32") -> Expression:
    """The expression that ``text`` writes, of ``variables`` by name.

    ``dtype`` is that of integers that stand beside no variable.

    Raises:
        ExpressionError: it is no such text, or its parts do not fit together.
    """
    try:
        tree = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError) as error:
        raise ExpressionError(f"{text!r} is not an expression") from error
    return _Reader(variables, dtype).read(tree, None)


class _Reader:
    def __init__(self, variables: Mapping[str, Expression], dtype: str) -> None:
        self._variables = variables
        self._dtype = dtype

    def read(self, node: ast.expr, wanted: str | None) -> Expression:
        """``node`` as an expression; ``wanted`` is the dtype of a constant, where it is known."""
        match node:
            case ast.Constant(value=bool(value)):
                return constant(int(value), BOOL)
            case ast.Constant(value=int(value)):
                return constant(value, wanted or self._dtype)
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(value))):
                return constant(-value, wanted or self._dtype)
            case ast.Name(id=name) if name in self._variables:
                return self._variables[name]
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return apply("not", self.read(operand, BOOL))
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                negated = self.read(operand, wanted)
                return apply("-", constant(0, negated.dtype), negated)
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
                return apply(_BINARY[type(op)], *self._alike(wanted, left, right))
            case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in _COMPARISONS:
                return apply(_COMPARISONS[type(op)], *self._alike(None, left, right))
            case ast.BoolOp(op=op, values=values):
                joined, *others = (self.read(value, BOOL) for value in values)
                for other in others:
                    joined = apply("and" if isinstance(op, ast.And) else "or", joined, other)
                return joined
            case ast.Call(func=ast.Name(id=name), args=args, keywords=[]):
                return self._call(name, args, wanted)
        raise ExpressionError(f"{ast.unparse(node)!r} is not an expression")

    def _call(self, name: str, args: list[ast.expr], wanted: str | None) -> Expression:
        if name in LIMITS and len(args) == 1:
            return converted(self.read(args[0], None), name)
        if name in ("select", "if_then_else") and len(args) == 3:
            return apply(name, self.read(args[0], BOOL), *self._alike(wanted, *args[1:]))
        if name in _CALLS and len(args) == 2:
            return apply(name, *self._alike(wanted, *args))
        raise ExpressionError(f"no function {name} of {len(args)} operands")

    def _alike(self, wanted: str | None, *operands: ast.expr) -> list[Expression]:
        """The operands, of one dtype: what is wanted, or that of one that has its own."""
        return [self.read(operand, wanted or self._dtype_among(operands)) for operand in operands]

    def _dtype_among(self, operands: tuple[ast.expr, ...]) -> str | None:
        """The dtype of an operand that has one of its own: a variable or a cast is in it."""
        for operand in operands:
            dtype = self._own(operand)
            if dtype is not None:
                return dtype
        return None

    def _own(self, node: ast.expr) -> str | None:
        match node:
            case ast.Name(id=name) if name in self._variables:
                return self._variables[name].dtype
            case ast.UnaryOp(operand=operand):
                return self._own(operand)
            case ast.BinOp(left=left, right=right):
                return self._dtype_among((left, right))
            case ast.Call(func=ast.Name(id=name)) if name in LIMITS:
                return name
            case ast.Call(func=ast.Name(id=name), args=args):
                return self._dtype_among(tuple(args[name in ("select", "if_then_else") :]))
        return None
