"""Proposals of what an expression may be rewritten to; whether one is right is judged elsewhere.

They move operations into branches, make conditions of extrema and back, and leave out what may not
matter. So operands appear that overflow or divide by zero and are not used, as in what TVM answers.
"""

from collections.abc import Iterator

from relaxcheck.generators.expressions.language import (
    BOOL,
    COMPARISONS,
    INTEGER_BINARY,
    LIMITS,
    LOGIC,
    Expression,
    apply,
    constant,
    converted,
)

CHOICES = ("select", "if_then_else")
_TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}
_OTHERWISE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}


def proposals(node: Expression) -> Iterator[Expression]:
    """Expressions of the dtype of ``node`` that may stand in its place."""
    operator = node.operator
    if operator in (*INTEGER_BINARY, *COMPARISONS, *LOGIC):
        yield from _of_two(node)
    if operator in CHOICES:
        yield from _of_choice(node)
    if operator in LOGIC:
        yield from _of_logic(node)
    if operator in ("not", "cast") and node.operands[0].operator in CHOICES:
        condition, *branches = node.operands[0].operands
        moved = (_again(node, branch) for branch in branches)
        yield apply(node.operands[0].operator, condition, *moved)


def _again(node: Expression, operand: Expression) -> Expression:
    return converted(operand, node.dtype) if node.operator == "cast" else apply("not", operand)


def _of_two(node: Expression) -> Iterator[Expression]:
    left, right = node.operands
    operator = node.operator
    if left.operator in CHOICES and (left.operator, left.operands[0]) == (
        right.operator,
        right.operands[0] if right.operands else None,
    ):
        pairs = zip(left.operands[1:], right.operands[1:], strict=True)
        moved = [_simple(operator, *pair) for pair in pairs]
        yield apply(left.operator, left.operands[0], *moved)
    if left.operator in CHOICES:
        moved = [_simple(operator, branch, right) for branch in left.operands[1:]]
        yield apply(left.operator, left.operands[0], *moved)
    if right.operator in CHOICES:
        moved = [_simple(operator, left, branch) for branch in right.operands[1:]]
        yield apply(right.operator, right.operands[0], *moved)
    if operator in ("min", "max"):
        condition = apply("<" if operator == "min" else ">=", left, right)
        for choice in CHOICES:
            yield apply(choice, condition, left, right)
        yield apply(operator, right, left)
    if operator in COMPARISONS:
        yield apply(_TURNED[operator], right, left)
        yield apply("not", apply(_OTHERWISE[operator], left, right))
    if operator in ("<", ">="):
        yield _guarded(operator, left, right)


def _guarded(operator: str, left: Expression, right: Expression) -> Expression:
    """``left < right`` is ``lowest < right and left <= right - 1``, and so the other way round."""
    lowest = constant(LIMITS[right.dtype][0], right.dtype)
    before = apply("-", right, constant(1, right.dtype))
    if operator == "<":
        return apply("and", apply("<", lowest, right), apply("<=", left, before))
    return apply("or", apply(">=", lowest, right), apply(">", left, before))


def _simple(operator: str, left: Expression, right: Expression) -> Expression:
    """``operator`` of both, or the 0 that it is."""
    if operator == "-" and left == right:
        return constant(0, left.dtype)
    return apply(operator, left, right)


def _of_choice(node: Expression) -> Iterator[Expression]:
    condition, then, otherwise = node.operands
    for choice in CHOICES:
        yield apply(choice, apply("not", condition), otherwise, then)
        yield apply(choice, condition, then, otherwise)
    yield then
    yield otherwise
    if node.dtype == BOOL:
        no = apply("and", apply("not", condition), otherwise)
        yield apply("or", apply("and", condition, then), no)
        yield apply("or", no, apply("and", then, condition))


def _of_logic(node: Expression) -> Iterator[Expression]:
    left, right = node.operands
    other = "and" if node.operator == "or" else "or"
    yield apply(node.operator, right, left)
    yield apply("not", apply(other, apply("not", left), apply("not", right)))
    decided = constant(int(node.operator == "or"), BOOL)
    branches = (decided, right) if node.operator == "or" else (right, decided)
    for choice in CHOICES:
        yield apply(choice, left, *branches)
    yield left
    yield right
