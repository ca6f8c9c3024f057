"""The table of what is proved, from a few answers; and answers of TVM itself."""

from collections.abc import Callable
from math import prod

import pytest

from relaxcheck.generators.expressions.facts import LARGEST, facts
from relaxcheck.generators.expressions.language import Expression, Variable, apply, variable
from relaxcheck.harness.expressions.analyzer.completeness import asked
from relaxcheck.harness.expressions.analyzer.session import Session
from relaxcheck.reports.expressions.completeness import Proved, lost, page, table

PROVED = (
    Proved("a", "x >= 0", {"0.25": (True, None, True), "0.26": (False, None, True)}, True, False),
    Proved("a", "x == x", {"0.25": (True, True, True), "0.26": (True, True, True)}, None, True),
    Proved("b", "x < 9", {"0.25": (False,) * 3, "0.26": (False,) * 3}, True, True),
)


def test_shares_are_of_those_that_were_asked() -> None:
    head, _, first, second, whole = table(PROVED)
    assert head.startswith("| kind | facts | 0.25 can_prove | 0.25 can_prove_equal |")
    assert first == "| a | 2 | 100% | 100% | 100% | 50% | 100% | 100% | 50% | 50% |"
    assert second == "| b | 1 | 0% | 0% | 0% | 0% | 0% | 0% | 100% | 100% |"
    assert whole.startswith("| all | 3 | 67% | 50% | 67% | 33% |")


def test_conditions_that_a_release_no_longer_proves_are_listed() -> None:
    assert lost(PROVED) == ["x >= 0: proved by can_prove of 0.25, not of 0.26"]
    text = page(PROVED, "Made by hand.")
    assert "Made by hand." in text
    assert "* x >= 0: proved by can_prove of 0.25, not of 0.26" in text
    assert text.rstrip().endswith("* `x < 9`")


def magnitude(node: Expression) -> int:
    """A bound of ``node`` and of every node in it, by the operands' magnitudes alone."""
    if node.operator in ("const", "var"):
        return abs(int(node.leaf)) if node.operator == "const" else LARGEST
    parts = [magnitude(operand) for operand in node.operands]
    ways: dict[str, Callable[[list[int]], int]] = {"+": sum, "-": sum, "*": prod}
    return max(ways.get(node.operator, max)(parts), *parts)


def test_no_fact_overflows() -> None:
    trees = [tree for fact in facts(1, 30) for tree in (fact.claim, *fact.assumed)]
    assert 2**40 < max(map(magnitude, trees)) < 2**63


def solves() -> bool:
    """True if TVM's strongest way is a solver: no bounds of n alone tell that n * n >= n."""
    n = Variable("n", "int64", 0, 1000)
    session = Session((n,), "range")
    size = variable(n)
    return session.proves(session.emit(apply(">=", apply("*", size, size), size)), strong=True)


def test_the_strongest_way_makes_use_of_ranges_and_not_of_constant_bounds() -> None:
    if not solves():
        pytest.skip("needs Z3 inside TVM")
    (fact,) = (
        candidate for candidate in facts(1, 1) if str(candidate.claim) == "(i * m + j) // m == i"
    )
    results = []
    for answer in ("bound", "range"):
        session = Session(fact.variables, answer)
        with session.assuming([session.emit(each) for each in fact.assumed]):
            results.append(session.proves(session.emit(fact.claim), strong=True))
    assert results == [False, True]


def test_tvm_is_asked_in_every_way() -> None:
    result = {str(fact.claim): asked(fact) for fact in facts(1, 1) if fact.kind == "splitting"}
    assert result["n * m // m == n"] == (True, True, True)
    bounds = {str(fact.claim): asked(fact) for fact in facts(1, 1) if fact.kind == "bounds"}
    assert bounds["n - m >= 0"][1] is None
