"""The visible features that expressions share if they fail for one cause."""

from relaxcheck.generators.expressions.language import BOOL, LIMITS, Expression, nodes

_UNSIGNED = frozenset(name for name in LIMITS if name.startswith("uint"))
_NARROW = frozenset(("int8", "int16"))


def cause(expression: Expression) -> str:
    """The feature of a smallest ``expression`` that separates it from those of other causes.

    It is the outermost operator, with its constants by their sign (-1, 0 and 1 as they are): a rule
    of the analyzer begins there. Where something is unsigned, or too narrow for sizes, that is said
    before it, and in place of the constants, of which it is seldom a matter then.
    """
    dtypes = {node.dtype for node in nodes(expression)}
    unusual = "unsigned" if dtypes & _UNSIGNED else "narrow" if dtypes & _NARROW else ""
    if unusual:
        return f"{unusual} {expression.operator}"
    operands = ", ".join(map(_operand, expression.operands))
    return f"{expression.operator}({operands})" if operands else _operand(expression)


def _operand(node: Expression) -> str:
    if node.operator != "const":
        return "…"
    value = int(node.leaf)
    if node.dtype == BOOL or abs(value) <= 1:
        return str(value)
    return "c" if value > 0 else "-c"
