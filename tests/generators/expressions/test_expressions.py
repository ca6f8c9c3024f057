"""Expressions as data: JSON, text, dtypes, walking and replacing."""

import msgspec
import pytest

from relaxcheck.generators.expressions import language as expressions
from relaxcheck.generators.expressions.language import (
    Expression,
    ExpressionError,
    Variable,
    apply,
    constant,
)
from relaxcheck.generators.expressions.text import parse

X = expressions.variable(Variable("x", "int32", -3, 4))
Y = expressions.variable(Variable("y", "int32", 0, 4))
DECLARED = (Variable("x", "int32", -3, 4), Variable("y", "int32", 0, 4))
TREE = apply(
    "select",
    apply("not", apply("<", X, apply("-", Y, apply("-", X, constant(-1))))),
    apply("truncdiv", apply("*", apply("+", X, Y), Y), Y),
    expressions.converted(expressions.converted(X, "int8"), "int32"),
)


def test_json_gives_back_what_was_written() -> None:
    read = msgspec.json.decode(msgspec.json.encode(TREE), type=Expression)
    assert read == TREE
    assert hash(read) == hash(TREE)
    expressions.validate(read, DECLARED)


def test_text_has_the_parentheses_that_it_needs() -> None:
    assert str(TREE) == "select(not x < y - (x - (-1)), truncdiv((x + y) * y, y), int32(int8(x)))"
    chained = apply("<", X, Y)
    assert str(apply("and", chained, apply("or", chained, chained))) == "x < y and (x < y or x < y)"
    assert str(apply("%", apply("//", X, Y), apply("//", X, Y))) == "x // y % (x // y)"
    assert str(apply("not", apply("and", chained, chained))) == "not (x < y and x < y)"


def test_ill_typed_terms_are_no_expressions() -> None:
    wide = constant(1, "int64")
    for operator, operands in (("+", (X, wide)), ("and", (X, X)), ("not", (X,)), ("pow", (X, X))):
        with pytest.raises(ExpressionError):
            apply(operator, *operands)
    with pytest.raises(ExpressionError):
        constant(128, "int8")


@pytest.mark.parametrize(
    "wrong",
    [
        Expression("+", "int64", (X, Y)),
        Expression("+", "int32", (X,)),
        Expression("var", "int32", (), "z"),
        Expression("var", "int64", (), "x"),
        Expression("const", "int8", (), 300),
        Expression("const", "int8", (), "x"),
        Expression("cast", "int32", (X, Y)),
        Expression("cast", "int7", (X,)),
    ],
)
def test_expressions_are_checked_when_read(wrong: Expression) -> None:
    with pytest.raises(ExpressionError):
        expressions.validate(wrong, DECLARED)


def test_places_lead_to_their_nodes() -> None:
    places = list(expressions.places(TREE))
    assert len(places) == expressions.size(TREE) == 19
    assert expressions.depth(TREE) == 5
    for path, node in places:
        assert expressions.replaced(TREE, path, node) == TREE
        changed = expressions.replaced(TREE, path, Expression("cast", node.dtype, (node,)))
        assert expressions.size(changed) == 20
    assert expressions.names(TREE) == {"x", "y"}
    assert expressions.names(expressions.substituted(TREE, {"x": Y})) == {"y"}


def test_text_is_read_as_it_is_printed() -> None:
    variables = {"x": X, "y": Y}
    assert parse(str(TREE), variables) == TREE
    wide = expressions.variable(Variable("n", "int64", 0, 9))
    read = parse("(n + 2*3 - 1) // 2 + 1 >= min(1, n) and int32(n) != -4", {"n": wide})
    assert {node.dtype for node in expressions.nodes(read)} == {"bool", "int64", "int32"}
    assert str(read) == "(n + 2 * 3 - 1) // 2 + 1 >= min(1, n) and int32(n) != (-4)"
    assert parse(str(read), {"n": wide}) == read


@pytest.mark.parametrize("text", ["x +", "z", "x / y", "x < y < x", "f(x)", "min(x)", "1.5", "x+n"])
def test_other_text_is_refused(text: str) -> None:
    variables = {"x": X, "y": Y, "n": expressions.variable(Variable("n", "int64", 0, 9))}
    with pytest.raises(ExpressionError):
        parse(text, variables)
