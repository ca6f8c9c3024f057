"""What expressions that fail for one cause have in common, as far as it can be seen."""

from generators.expressions import BOOL, LIMITS, Expression, nodes

_UNSIGNED = frozenset(name for name in LIMITS if name.startswith("uint"))
_NARROW = frozenset(("int8", "int16"))


def cause(expression: Expression) -> str:
    """What tells ``expression``, which nothing can be taken from, from others of another cause.

    What is unsigned, or too narrow for sizes, fails as such, whatever it computes. Of others it is
    the outermost operator, with its constants by their sign (-1, 0 and 1 as they are): a rule of
    the analyzer begins there.
    """
    dtypes = {one.dtype for one in nodes(expression)}
    if dtypes & _UNSIGNED:
        return "unsigned"
    if dtypes & _NARROW:
        return "narrow"
    operands = ", ".join(map(_operand, expression.operands))
    return f"{expression.operator}({operands})" if operands else _operand(expression)


def _operand(node: Expression) -> str:
    if node.operator != "const":
        return "…"
    value = int(node.leaf)
    if node.dtype == BOOL or abs(value) <= 1:
        return str(value)
    return "c" if value > 0 else "-c"
