"""What expressions that fail for one cause have in common, as far as it can be seen."""

from generators.expressions import BOOL, Expression


def skeleton(expression: Expression) -> str:
    """``expression`` without what one cause leaves open.

    Variables are numbered in the order in which they come, the same number for the same one.
    Constants other than -1, 0 and 1 are told by their sign. What dtype it is computed in is left
    out, but where it is none of those that sizes and indices have.
    """
    numbers: dict[str, int] = {}
    text = _text(expression, numbers)
    dtypes = sorted({one.dtype for one in _leaves(expression)} - {BOOL, "int32", "int64"})
    return " ".join([text, *dtypes])


def _leaves(expression: Expression) -> list[Expression]:
    if not expression.operands:
        return [expression]
    return [leaf for operand in expression.operands for leaf in _leaves(operand)]


def _text(node: Expression, numbers: dict[str, int]) -> str:
    if node.operator == "var":
        return f"v{numbers.setdefault(str(node.leaf), len(numbers))}"
    if node.operator == "const":
        value = int(node.leaf)
        if node.dtype == BOOL:
            return str(bool(value))
        return str(value) if abs(value) <= 1 else "c" if value > 0 else "-c"
    called = node.dtype if node.operator == "cast" else node.operator
    return f"{called}({', '.join(_text(one, numbers) for one in node.operands)})"
