"""An expression as Python that makes it with TVM, node by node or as a person would write it."""

from collections.abc import Sequence

from relaxcheck.generators.expressions.language import BOOL, Expression, Variable

_NODES = {
    "+": "Add",
    "-": "Sub",
    "*": "Mul",
    "//": "FloorDiv",
    "%": "FloorMod",
    "truncdiv": "Div",
    "truncmod": "Mod",
    "min": "Min",
    "max": "Max",
    "<": "LT",
    "<=": "LE",
    ">": "GT",
    ">=": "GE",
    "==": "EQ",
    "!=": "NE",
    "and": "And",
    "or": "Or",
    "not": "Not",
    "select": "Select",
    "if_then_else": "if_then_else",
}
_FUNCTIONS = {"//": "floordiv", "%": "floormod", "truncdiv": "truncdiv", "truncmod": "truncmod"}
_INFIX = ("+", "-", "*", "<", "<=", ">", ">=", "<<", ">>", "&", "|", "^")
_BITS = ("<<", ">>", "&", "|", "^")


def node_text(expression: Expression, *, folding: bool = False) -> str:
    """``expression`` by constructors of nodes, which compute nothing.

    If ``folding``, by the functions that compute with constants at once.
    """
    operator = expression.operator
    if operator == "var":
        return str(expression.leaf)
    if operator == "const":
        return constant_text(int(expression.leaf), expression.dtype)
    parts = [node_text(operand, folding=folding) for operand in expression.operands]
    if operator == "cast":
        return f'tirx.Cast("{expression.dtype}", {parts[0]})'
    if operator in _BITS or (folding and operator in _INFIX):
        return f"({parts[0]} {operator} {parts[1]})"
    name = _NODES[operator]
    if folding:
        name = _FUNCTIONS.get(operator, operator if operator in ("min", "max") else name)
    return f"tirx.{name}({', '.join(parts)})"


def constant_text(value: int, dtype: str) -> str:
    """The constant ``value``."""
    kind = "const" if value >= 2**63 else "IntImm"
    first, second = (str(value), f'"{dtype}"')
    return f"tirx.{kind}({', '.join((first, second) if kind == 'const' else (second, first))})"


def declared_lines(variables: Sequence[Variable]) -> list[str]:
    """A line for each of ``variables``, which makes it."""
    return [
        f'{variable.name} = tirx.Var("{variable.name}", "{variable.dtype}")'
        for variable in variables
    ]


def range_text(variable: Variable) -> str:
    """The range of ``variable``, exactly as many values as it takes."""
    low, extent = (
        constant_text(n, variable.dtype) for n in (variable.low, variable.high - variable.low + 1)
    )
    return f"tvm.ir.Range.from_min_extent({low}, {extent})"


def condition_lines(variable: Variable) -> list[str]:
    """Two conditions that put ``variable`` in its range."""
    low, high = (constant_text(end, variable.dtype) for end in (variable.low, variable.high))
    return [f"tirx.GE({variable.name}, {low})", f"tirx.LE({variable.name}, {high})"]


def is_condition(expression: Expression) -> bool:
    """True if it is a Boolean expression."""
    return expression.dtype == BOOL
