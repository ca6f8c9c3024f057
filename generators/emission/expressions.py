"""Expressions as TVM's, and back.

Emission makes the nodes themselves rather than calling the functions that fold constants: what is
drawn is what the analyzer sees. ``folded`` goes by way of the functions.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Any

from relaxcheck.fixes.sym_api.spelling import IntImm, PrimExpr, dtype_of, integer, tirx
from relaxcheck.generators.expressions.language import BOOL, LIMITS, Expression, Variable

Scope = Mapping[str, PrimExpr]
"""TVM's variable for each name."""


class NotRead(ValueError):
    """TVM's expression has a node that ours has not: a vector, a call of a function, …"""


_NODES: Mapping[str, Any] = {
    "+": tirx.Add,
    "-": tirx.Sub,
    "*": tirx.Mul,
    "//": tirx.FloorDiv,
    "%": tirx.FloorMod,
    "truncdiv": tirx.Div,
    "truncmod": tirx.Mod,
    "min": tirx.Min,
    "max": tirx.Max,
    "<": tirx.LT,
    "<=": tirx.LE,
    ">": tirx.GT,
    ">=": tirx.GE,
    "==": tirx.EQ,
    "!=": tirx.NE,
    "and": tirx.And,
    "or": tirx.Or,
}
# Nodes of their own since 0.27, calls before.
_SHIFTS_AND_BITS: Mapping[str, str] = {
    "<<": "shift_left",
    ">>": "shift_right",
    "&": "bitwise_and",
    "|": "bitwise_or",
    "^": "bitwise_xor",
}
_FUNCTIONS: Mapping[str, Callable[..., PrimExpr]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "//": tirx.floordiv,
    "%": tirx.floormod,
    "truncdiv": tirx.truncdiv,
    "truncmod": tirx.truncmod,
    "min": tirx.min,
    "max": tirx.max,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "<<": lambda a, b: a << b,
    ">>": lambda a, b: a >> b,
    "&": lambda a, b: a & b,
    "|": lambda a, b: a | b,
    "^": lambda a, b: a ^ b,
}
_BINARY: Mapping[str, Callable[..., PrimExpr]] = {
    **_NODES,
    **{operator: _FUNCTIONS[operator] for operator in _SHIFTS_AND_BITS},
}
_FOLDING: Mapping[str, Callable[..., PrimExpr]] = {**_BINARY, **_FUNCTIONS}


def scope(variables: Iterable[Variable]) -> dict[str, PrimExpr]:
    """A new variable of TVM's for each of ``variables``."""
    return {each.name: tirx.Var(each.name, each.dtype) for each in variables}


def emitted(expression: Expression, names: Scope) -> PrimExpr:
    """``expression`` as TVM's, node by node.

    Raises:
        KeyError: a variable has no name in the scope.
    """
    return _made(expression, names, _BINARY)


def folded(expression: Expression, names: Scope) -> PrimExpr:
    """``expression`` as TVM's functions make it, which compute with constants at once."""
    return _made(expression, names, _FOLDING)


def _made(
    expression: Expression, names: Scope, binary: Mapping[str, Callable[..., PrimExpr]]
) -> PrimExpr:
    operator = expression.operator
    if operator == "var":
        return names[expression.leaf]  # type: ignore[index]
    if operator == "const":
        return literal(expression.leaf, expression.dtype)
    make = binary.get(operator)
    if make is not None:
        left, right = expression.operands
        return make(_made(left, names, binary), _made(right, names, binary))
    operands = [_made(operand, names, binary) for operand in expression.operands]
    if operator == "cast":
        return tirx.Cast(expression.dtype, operands[0])
    if operator == "not":
        return tirx.Not(operands[0])
    if operator == "select":
        return tirx.Select(*operands)
    return tirx.if_then_else(*operands)


@lru_cache(maxsize=4096)
def literal(value: int, dtype: str) -> PrimExpr:
    """The constant ``value``; those that only uint64 holds are made of two halves by some."""
    if value > LIMITS["int64"][1]:
        return tirx.const(value, dtype)
    return integer(value, dtype)


_OPERATORS: Mapping[Any, str] = {
    **{node: operator for operator, node in _NODES.items()},
    **{
        getattr(tirx, node): operator
        for operator, node in (
            ("<<", "LShift"),
            (">>", "RShift"),
            ("&", "BitwiseAnd"),
            ("|", "BitwiseOr"),
            ("^", "BitwiseXor"),
        )
        if hasattr(tirx, node)
    },
}
_CALLS = {f"tirx.{name}": operator for operator, name in _SHIFTS_AND_BITS.items()}
_BOOLEAN = frozenset(("<", "<=", ">", ">=", "==", "!=", "and", "or"))


def comparison(operator: str, left: PrimExpr, right: PrimExpr) -> PrimExpr:
    """The condition that ``left`` and ``right`` compare so."""
    return _NODES[operator](left, right)


def read(expression: PrimExpr, variables: Mapping[str, Expression]) -> Expression:
    """TVM's ``expression`` as ours; ``variables`` by name.

    Raises:
        NotRead: it has a node that ours has not, or a variable that is not in ``variables``.
    """
    return _read(expression, variables, None)


def _read(
    expression: PrimExpr, variables: Mapping[str, Expression], dtype: str | None
) -> Expression:
    """Pass ``dtype`` where the dtype of ``expression`` is known: to ask TVM takes microseconds."""
    kind = type(expression)
    operator = _OPERATORS.get(kind)
    if operator is not None:
        return _binary(operator, expression.a, expression.b, variables)
    if kind is IntImm:
        return Expression("const", dtype or dtype_of(expression), (), int(expression.value))
    if kind is tirx.Cast:
        value = _read(expression.value, variables, None)
        return Expression("cast", dtype_of(expression), (value,))
    if kind is tirx.Not:
        return Expression("not", BOOL, (_read(expression.a, variables, BOOL),))
    if kind is tirx.Select:
        parts = (expression.true_value, expression.false_value)
        return _chosen("select", expression.condition, *parts, variables)
    if hasattr(expression, "op"):
        return _call(expression, variables)
    name = str(getattr(expression, "name", ""))
    if name not in variables:
        raise NotRead(f"{kind.__name__} {expression}")
    return variables[name]


def _binary(
    operator: str, left: PrimExpr, right: PrimExpr, variables: Mapping[str, Expression]
) -> Expression:
    # TVM makes no node of operands of different dtypes, so that one of them tells the other's.
    if type(left) is IntImm:
        second = _read(right, variables, None)
        first = _read(left, variables, second.dtype)
    else:
        first = _read(left, variables, None)
        second = _read(right, variables, first.dtype)
    dtype = BOOL if operator in _BOOLEAN else first.dtype
    return Expression(operator, dtype, (first, second))


def _chosen(
    operator: str,
    condition: PrimExpr,
    then: PrimExpr,
    otherwise: PrimExpr,
    variables: Mapping[str, Expression],
) -> Expression:
    taken = _read(then, variables, None)
    operands = (
        _read(condition, variables, BOOL),
        taken,
        _read(otherwise, variables, taken.dtype),
    )
    return Expression(operator, taken.dtype, operands)


def _call(expression: PrimExpr, variables: Mapping[str, Expression]) -> Expression:
    name = str(expression.op.name)
    if name in _CALLS:
        return _binary(_CALLS[name], expression.args[0], expression.args[1], variables)
    if name.endswith(".if_then_else"):
        condition, then, otherwise = expression.args
        return _chosen("if_then_else", condition, then, otherwise, variables)
    if name.endswith(".likely"):
        return _read(expression.args[0], variables, None)
    if name.endswith(".large_uint_imm"):
        low, high = (int(part.value) for part in expression.args)
        return Expression("const", dtype_of(expression), (), (high << 32) + low)
    raise NotRead(f"a call of {name}")
