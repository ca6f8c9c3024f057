"""Smaller cases than a case: what is tried, one after the other, while what is wrong stays."""

from collections.abc import Iterator

import msgspec

from relaxcheck.generators.expressions import language as expressions
from relaxcheck.generators.expressions.language import (
    BOOL,
    LIMITS,
    Expression,
    ExpressionError,
    Variable,
)
from relaxcheck.generators.expressions.subject import Problem

_SIMPLE = (0, 1, 2, -1)


def smaller(case: Problem) -> Iterator[Problem]:
    """Cases that are simpler by one step, those that take away most first.

    Every step makes ``weight`` less, so that taking steps comes to an end. All are valid.
    """
    for new in _candidates(case):
        new = _without_unused(new)
        if weight(new) < weight(case):
            yield new


def weight(case: Problem) -> tuple[int, ...]:
    """The measure to reduce: nodes, conditions, then sizes of constants and of ranges."""
    trees = [case.expression, *case.constraints, *([case.other] if case.other else ())]
    nodes = [node for tree in trees for node in expressions.nodes(tree)]
    constants = [int(node.leaf) for node in nodes if node.operator == "const"]
    return (
        len(nodes),
        len(trees),
        int(case.means != "range"),
        sum(_strangeness(node) for node in nodes),
        len({str(node.leaf) for node in nodes if node.operator == "var"}),
        sum(abs(value) * 2 + (value < 0) for value in constants),
        sum(abs(each.low) + abs(each.high) * 2 for each in case.variables),
        sum(each.low < 0 for each in case.variables),
    )


def _strangeness(node: Expression) -> int:
    """Operators in order of how plain they are; ``int32`` plainest of the dtypes."""
    dtype = {"int32": 0, BOOL: 0, "int64": 1}.get(node.dtype, 2)
    return dtype + (node.operator in ("select", "if_then_else", "cast", "not"))


def _candidates(case: Problem) -> Iterator[Problem]:
    if case.other is not None:
        yield msgspec.structs.replace(case, other=None)
    for number in range(len(case.constraints)):
        rest = (*case.constraints[:number], *case.constraints[number + 1 :])
        yield msgspec.structs.replace(case, constraints=rest)
    if case.means != "range":
        yield msgspec.structs.replace(case, means="range")
    for _, node in expressions.places(case.expression):
        if case.other is None and node is not case.expression:
            yield msgspec.structs.replace(case, expression=node)
    for new in _trees(case.expression):
        yield msgspec.structs.replace(case, expression=new)
    if case.other is not None:
        for new in _trees(case.other):
            yield msgspec.structs.replace(case, other=new)
        yield from _of_both(case, case.other)
    for number, constraint in enumerate(case.constraints):
        for new in _trees(constraint):
            changed = (*case.constraints[:number], new, *case.constraints[number + 1 :])
            yield msgspec.structs.replace(case, constraints=changed)
    yield from _merged(case)
    yield from _narrower(case)
    yield from _plainer(case)


def _trees(tree: Expression) -> Iterator[Expression]:
    """``tree`` with one node replaced by an operand, a constant, or a simpler constant."""
    for path, node in expressions.places(tree):
        for operand in _below(node):
            yield expressions.replaced(tree, path, operand)
        for value in _values(node):
            yield expressions.replaced(tree, path, Expression("const", node.dtype, (), value))


def _below(node: Expression) -> Iterator[Expression]:
    """Nodes under ``node`` of its dtype, at most two steps down."""
    for operand in node.operands:
        if operand.dtype == node.dtype:
            yield operand
        for lower in operand.operands:
            if lower.dtype == node.dtype:
                yield lower


def _values(node: Expression) -> Iterator[int]:
    low, high = LIMITS[node.dtype]
    if node.operator != "const":
        candidates: list[int] = [0, 1] if node.operands else []
    else:
        value = int(node.leaf)
        nearer = value - 1 if value > 0 else value + 1
        candidates = [*_SIMPLE, -value, value // 2, -(-value // 2), nearer]
        candidates = [each for each in candidates if abs(each) < abs(value) or each == -value > 0]
    for value in dict.fromkeys(candidates):
        if low <= value <= high:
            yield value


def _of_both(case: Problem, other: Expression) -> Iterator[Problem]:
    """The same operator off both: each pair of operands at the same place."""
    expression = case.expression
    if expression.operator == other.operator and len(expression.operands) == len(other.operands):
        for left, right in zip(expression.operands, other.operands, strict=True):
            if left.dtype == right.dtype:
                yield msgspec.structs.replace(case, expression=left, other=right)


def _merged(case: Problem) -> Iterator[Problem]:
    """One variable in another's place, or a constant of its range in its place."""
    for each in case.variables:
        values = [
            expressions.variable(other)
            for other in case.variables
            if other.dtype == each.dtype and other.name < each.name
        ]
        ends = dict.fromkeys(v for v in (0, 1, each.low, each.high) if each.low <= v <= each.high)
        values += [Expression("const", each.dtype, (), value) for value in ends]
        for value in values:
            yield _substituted(case, {each.name: value})


def _substituted(case: Problem, values: dict[str, Expression]) -> Problem:
    return msgspec.structs.replace(
        case,
        expression=expressions.substituted(case.expression, values),
        constraints=tuple(expressions.substituted(each, values) for each in case.constraints),
        other=None if case.other is None else expressions.substituted(case.other, values),
    )


def _narrower(case: Problem) -> Iterator[Problem]:
    for number, each in enumerate(case.variables):
        middle = (each.low + each.high) // 2
        ends = (
            *((value, value) for value in (0, 1, each.low, each.high)),
            *((each.low, middle), (middle, each.high), (0, each.high)),
            *((each.low, each.high - 1), (each.low + 1, each.high)),
        )
        for low, high in dict.fromkeys(ends):
            if each.low <= low <= high <= each.high and (low, high) != (each.low, each.high):
                changed = msgspec.structs.replace(each, low=low, high=high)
                variables = (*case.variables[:number], changed, *case.variables[number + 1 :])
                yield msgspec.structs.replace(case, variables=variables)


def _plainer(case: Problem) -> Iterator[Problem]:
    """All in int32, where every dtype in it can be."""
    low, high = LIMITS["int32"]
    if any(not low <= each.low <= each.high <= high for each in case.variables):
        return
    try:
        yield msgspec.structs.replace(
            case,
            variables=tuple(msgspec.structs.replace(v, dtype="int32") for v in case.variables),
            expression=_as_int32(case.expression),
            constraints=tuple(map(_as_int32, case.constraints)),
            other=None if case.other is None else _as_int32(case.other),
        )
    except ExpressionError:
        return


def _as_int32(tree: Expression) -> Expression:
    if tree.operator == "const" and tree.dtype != BOOL:
        return expressions.constant(int(tree.leaf), "int32")
    dtype = tree.dtype if tree.dtype == BOOL else "int32"
    operands = tuple(map(_as_int32, tree.operands))
    return Expression(tree.operator, dtype, operands, tree.leaf)


def _without_unused(case: Problem) -> Problem:
    trees = [case.expression, *case.constraints, *([case.other] if case.other else ())]
    used = frozenset().union(*map(expressions.names, trees))
    kept: tuple[Variable, ...] = tuple(each for each in case.variables if each.name in used)
    return (
        case if len(kept) == len(case.variables) else msgspec.structs.replace(case, variables=kept)
    )
