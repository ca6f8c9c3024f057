"""TVM's analyzer as the checks ask it: what it is told, and what comes back."""

import pytest

from relaxcheck.generators.emission.expressions import NotRead
from relaxcheck.generators.expressions import language as expressions
from relaxcheck.generators.expressions.language import Expression, Variable
from relaxcheck.generators.expressions.text import parse
from relaxcheck.harness.expressions.analyzer.session import Session, forget, shared_session

X = Variable("x", "int32", 2, 9)
Y = Variable("y", "int32", 0, 3)


def text(written: str) -> Expression:
    return parse(written, {each.name: expressions.variable(each) for each in (X, Y)})


@pytest.mark.parametrize("ranges", ["range", "scope", "bound"])
def test_ranges_are_bound(ranges: str) -> None:
    session = Session((X, Y), ranges)
    assert session.bounds(session.emit(text("x"))) == (2, 9)
    assert session.bounds(session.emit(text("x + y"))) == (2, 12)
    assert session.proves(session.emit(text("y < 4")), strong=False)


def test_ranges_are_not_bound_where_none_is_declared() -> None:
    session = Session((X,), "nothing")
    low, high = session.bounds(session.emit(text("x")))
    assert low is None or low < -1000
    assert high is None or high > 1000


def test_conditions_hold_inside_and_not_after() -> None:
    session = Session((X, Y), "range")
    claim = session.emit(text("x < 5"))
    with session.assuming([session.emit(text("x < 6")), session.emit(text("x != 5"))]):
        assert session.bounds(session.emit(text("x")))[1] == 5
    assert session.bounds(session.emit(text("x"))) == (2, 9)
    assert not session.proves(claim, strong=False)


def test_answers_come_back_as_expressions() -> None:
    session = Session((X, Y), "range")
    assert session.read(session.rewritten("simplify", session.emit(text("x * 2 - x - x")))) == text(
        "0"
    )
    assert session.modular(session.emit(text("y * 6 + 1"))) == (6, 1)
    assert session.covering(session.emit(text("x + y")), ("x",)) == (text("2 + y"), text("9 + y"))
    assert session.covering(session.emit(text("x + y")), ("x", "y")) == (text("2"), text("12"))
    assert session.proves_equal(session.emit(text("x + y")), session.emit(text("y + x")))


def test_functions_fold_constants_and_nodes_do_not() -> None:
    session = Session((X,), "range")
    sum_ = text("x + 2 * 3")
    assert session.read(session.emit(sum_)) == sum_
    assert session.read(session.fold(sum_)) == text("x + 6")
    compared = session.compared("<", session.emit(text("x")), session.emit(text("3")))
    assert session.read(compared) == text("x < 3")


def test_a_variable_that_is_not_declared_is_not_read() -> None:
    session, other = Session((X,), "range"), Session((X, Y), "range")
    with pytest.raises(NotRead, match="y"):
        session.read(other.emit(text("x + y")))


def test_indices_come_back_as_maps() -> None:
    i = Variable("x", "int32", 0, 7)
    session = Session((i,), "range")
    index = session.emit(text("x // 4 * 4 + x % 4"))
    assert session.index(index, None) == text("x")
    assert session.iterators(session.emit(text("x // 2")), None, "Surjective") == (
        text("x // 2"),
        (0, 1, 4),
    )
    assert session.iterators(session.emit(text("x // 2")), None, "Bijective") is None


def test_ranges_that_make_a_comparison_hold() -> None:
    session = Session((X, Y), "range")
    assert session.deduced(session.emit(text("x + y < 7")), "x") == (None, text("6 - y"))
    assert session.deduced(session.emit(text("x * 2 >= 5")), "x") == (text("3"), None)
    assert session.order(session.emit(text("x")), session.emit(text("y"))) is None
    assert session.linear(session.emit(text("x * 3 + y + 1")), ("x",)) == [text("3"), text("y + 1")]
    with session.assuming([session.emit(text("x < y"))]):
        assert session.order(session.emit(text("x")), session.emit(text("y"))) == "<"


def test_another_range_replaces_the_first() -> None:
    session = Session((Variable("x", "int32", 20, 30),), "range")
    session.rebind((X,))
    assert session.bounds(session.emit(text("x"))) == (2, 9)


def test_a_session_is_kept_until_it_is_forgotten() -> None:
    first = shared_session((X,), "range")
    assert shared_session((X,), "range") is first
    assert shared_session((X,), "bound") is not first
    forget((X,), "range")
    assert shared_session((X,), "range") is not first
