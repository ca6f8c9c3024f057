"""Integer expressions over variables with declared ranges: data that the shape analyzer is asked
about.

An expression is a tree of one kind of node, immutable, hashable, and JSON as nested arrays
(``["+", "int32", [["var", "int32", [], "x"], ["const", "int32", [], 1]]]``). Its value is
computed by ``relaxcheck.generators.expressions.grid_values`` (at all points at once) and
``relaxcheck.generators.expressions.scalar_values`` (at one).

Every operator has the meaning that TVM documents for it (``include/tvm/tirx/op.h``, ``expr.h``):

* ``+ - *``: exact; where the result does not fit the dtype, of either sign, the operation has no
  value (signed overflow is undefined in what TVM compiles to, and the analyzer takes integers for
  unbounded).
* ``//`` and ``%``: towards negative infinity, the remainder with the sign of the divisor
  (``floordiv``, ``floormod``). ``truncdiv`` and ``truncmod``: towards zero, the remainder with the
  sign of the dividend, as in C. No value where the divisor is zero or has none, or where the lowest
  value is divided by -1: there they trap.
* ``<<`` and ``>>`` (arithmetic): no value where the count is negative or not below the number of
  bits.
* ``select``, ``and``, ``or``: all operands are computed, so there is no value where one of them
  traps. Otherwise the operand of ``select`` that is not taken needs no value; those of ``and`` and
  ``or`` do. ``if_then_else`` computes the operand that is taken, alone.
* ``cast`` keeps the low bits, as two's complement has them; to bool, whether it is not zero.

Why the operand that is not taken may overflow, and not trap: ``SelectNode`` evaluates both (its
documentation, ``expr.h``), and ``codegen_llvm.cc`` makes it LLVM's ``select``, whose result is
poison only where the condition or the operand that is taken is (LangRef). An overflow below 32 bits
wraps around, from 32 bits on it is poison (``CreateNSWAdd``, ``CreateNUWAdd``), and neither is
noticed unless it is used. A division by zero is: the processor ends the process. ``and`` and ``or``
are LLVM's (``CreateAnd``), which are poison where an operand is, and the analyzer may take of one
operand that it has a value when it looks at the other: of such an expression nothing is claimed.
But neither is it wrong to answer with one, where an operand decides (``Values.lost``): in C nothing
else is looked at, and whatever the other operand is, the result is the same.
"""

from collections.abc import Iterator, Mapping, Sequence

import msgspec

ARITHMETIC = ("+", "-", "*", "//", "%", "truncdiv", "truncmod", "min", "max")
DIVISIONS = ("//", "%", "truncdiv", "truncmod")
SHIFTS = ("<<", ">>")
BITWISE = ("&", "|", "^")
COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")
LOGIC = ("and", "or")
"""Of two operands; ``not`` has one."""

INTEGER_BINARY = (*ARITHMETIC, *SHIFTS, *BITWISE)
"""Two operands of one integer dtype, which is that of the result."""

BOOL = "bool"
LIMITS: Mapping[str, tuple[int, int]] = {
    BOOL: (0, 1),
    **{f"int{bits}": (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) for bits in (8, 16, 32, 64)},
    **{f"uint{bits}": (0, 2**bits - 1) for bits in (8, 16, 32, 64)},
}
"""The smallest and the largest value of each dtype."""

BITS: Mapping[str, int] = {name: 1 if name == BOOL else int(name.lstrip("uint")) for name in LIMITS}

Path = tuple[int, ...]
"""The way from the root to a node: at each step, which operand."""


class ExpressionError(ValueError):
    """The text or tree is no expression: an unknown operator, dtypes that do not fit, …"""


class Variable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A variable and the values that it takes: all integers from ``low`` to ``high``, inclusive."""

    name: str
    dtype: str
    low: int
    high: int


class Expression(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One node: an operator, the dtype of its result, its operands.

    ``leaf`` is the value of a ``const`` (of a bool: 0 or 1) and the name of a ``var``.
    """

    operator: str
    dtype: str
    operands: "tuple[Expression, ...]" = ()
    leaf: int | str = 0

    def __str__(self) -> str:
        return _text(self)[0]


def constant(value: int, dtype: str = "int32") -> Expression:
    """The constant ``value``.

    Raises:
        ExpressionError: the dtype does not hold it.
    """
    low, high = LIMITS[dtype]
    if not low <= value <= high:
        raise ExpressionError(f"{dtype} does not hold {value}")
    return Expression("const", dtype, (), value)


def variable(declared: Variable) -> Expression:
    """The variable ``declared``, as an operand."""
    return Expression("var", declared.dtype, (), declared.name)


def apply(operator: str, *operands: Expression) -> Expression:
    """``operator`` of ``operands``; of any but ``cast``, which says a dtype (``converted``).

    Raises:
        ExpressionError: the operator is not known, or the operands are not what it takes.
    """
    return Expression(operator, _result(operator, operands), operands)


def converted(operand: Expression, dtype: str) -> Expression:
    """``operand`` cast to ``dtype``."""
    return Expression("cast", dtype, (operand,))


def _result(operator: str, operands: Sequence[Expression]) -> str:
    """The dtype of ``operator`` of ``operands``; raises ExpressionError where they do not fit."""
    dtypes = [operand.dtype for operand in operands]
    integers = len(set(dtypes)) == 1 and dtypes[0] != BOOL
    if operator in INTEGER_BINARY and len(dtypes) == 2 and integers:
        return dtypes[0]
    if operator in COMPARISONS and len(dtypes) == 2 and integers:
        return BOOL
    if (operator in LOGIC and dtypes == [BOOL] * 2) or (operator == "not" and dtypes == [BOOL]):
        return BOOL
    if (
        operator in ("select", "if_then_else")
        and len(dtypes) == 3
        and (dtypes[0], dtypes[1]) == (BOOL, dtypes[2])
    ):
        return dtypes[1]
    raise ExpressionError(f"{operator} does not take {', '.join(dtypes) or 'nothing'}")


def validate(expression: Expression, variables: Sequence[Variable]) -> None:
    """Check an expression that was read from outside.

    Raises:
        ExpressionError: a node is not what its operator makes of its operands, a variable is not
            declared or of another dtype, a constant or a range does not fit its dtype.
    """
    declared = {each.name: each for each in variables}
    if len(declared) != len(variables):
        raise ExpressionError("a variable is declared twice")
    for each in variables:
        if each.dtype not in LIMITS:
            raise ExpressionError(f"{each.dtype!r} is not a dtype")
        low, high = LIMITS[each.dtype]
        if not low <= each.low <= each.high <= high:
            raise ExpressionError(f"{each.name} has no range in {each.dtype}")
    for node in nodes(expression):
        _validate_node(node, declared)


def _validate_node(node: Expression, declared: Mapping[str, Variable]) -> None:
    if node.dtype not in LIMITS:
        raise ExpressionError(f"{node.dtype!r} is not a dtype")
    if node.operator in ("const", "var"):
        if node.operands or isinstance(node.leaf, str) != (node.operator == "var"):
            raise ExpressionError(f"{node.operator} of {node.leaf!r}")
        if isinstance(node.leaf, int):
            constant(node.leaf, node.dtype)
        elif node.leaf not in declared or declared[node.leaf].dtype != node.dtype:
            raise ExpressionError(f"{node.leaf} is not declared as {node.dtype}")
    elif node.operator == "cast":
        if len(node.operands) != 1:
            raise ExpressionError("cast takes one operand")
    elif _result(node.operator, node.operands) != node.dtype:
        raise ExpressionError(f"{node.operator} does not give {node.dtype}")


def nodes(expression: Expression) -> Iterator[Expression]:
    """All nodes, a node before its operands."""
    yield expression
    for operand in expression.operands:
        yield from nodes(operand)


def places(expression: Expression) -> Iterator[tuple[Path, Expression]]:
    """All nodes with the way to them, those near the root first."""
    level: list[tuple[Path, Expression]] = [((), expression)]
    while level:
        yield from level
        level = [
            ((*path, number), operand)
            for path, node in level
            for number, operand in enumerate(node.operands)
        ]


def replaced(expression: Expression, path: Path, new: Expression) -> Expression:
    """``expression`` with ``new``, of the same dtype, at ``path``.

    Raises:
        ExpressionError: the dtype is another.
    """
    if not path:
        if new.dtype != expression.dtype:
            raise ExpressionError(f"{new.dtype} does not go in the place of {expression.dtype}")
        return new
    operands = list(expression.operands)
    operands[path[0]] = replaced(operands[path[0]], path[1:], new)
    return Expression(expression.operator, expression.dtype, tuple(operands), expression.leaf)


def substituted(expression: Expression, values: Mapping[str, Expression]) -> Expression:
    """``expression`` with ``values`` in place of the variables of these names."""
    if expression.operator == "var":
        return values.get(str(expression.leaf), expression)
    operands = tuple(substituted(operand, values) for operand in expression.operands)
    return Expression(expression.operator, expression.dtype, operands, expression.leaf)


def size(expression: Expression) -> int:
    """The number of nodes."""
    return 1 + sum(map(size, expression.operands))


def depth(expression: Expression) -> int:
    """The number of operators on the longest way from the root to a leaf: 0 of a leaf."""
    return 1 + max(map(depth, expression.operands)) if expression.operands else 0


def names(expression: Expression) -> frozenset[str]:
    """The names of the variables in ``expression``."""
    return frozenset(str(node.leaf) for node in nodes(expression) if node.operator == "var")


_STRENGTH = {
    "or": 1,
    "and": 2,
    "not": 3,
    **dict.fromkeys(COMPARISONS, 4),
    "|": 5,
    "^": 6,
    "&": 7,
    "<<": 8,
    ">>": 8,
    "+": 9,
    "-": 9,
    "*": 10,
    "//": 10,
    "%": 10,
}
_ATOM = 12


def _text(node: Expression) -> tuple[str, int]:
    """Python's notation, and how strongly its outermost operator binds.

    ``truncdiv(x, 2)``, ``select(c, x, y)`` and ``int8(x)``, a cast, are written as calls.
    """
    if node.operator == "var":
        return str(node.leaf), _ATOM
    if node.operator == "const":
        text = str(bool(node.leaf)) if node.dtype == BOOL else str(node.leaf)
        return (f"({text})" if text.startswith("-") else text), _ATOM
    parts = [_text(operand) for operand in node.operands]
    strength = _STRENGTH.get(node.operator)
    if strength is None:
        called = node.dtype if node.operator == "cast" else node.operator
        return f"{called}({', '.join(text for text, _ in parts)})", _ATOM
    if node.operator == "not":
        text, binds = parts[0]
        return f"not {text if binds >= strength else f'({text})'}", strength
    (left, left_binds), (right, right_binds) = parts
    # Comparisons chain in Python, so that on either side another one needs parentheses.
    if left_binds < strength or (left_binds == strength and node.operator in COMPARISONS):
        left = f"({left})"
    if right_binds <= strength:
        right = f"({right})"
    return f"{left} {node.operator} {right}", strength
