"""Documented facts are true, and the page says what the running TVM makes of them."""

from itertools import product
from pathlib import Path

import pytest

from relaxcheck.cli.actions.algebra.facts import PAGE
from relaxcheck.fixes.framework.bounds import QUESTIONS
from relaxcheck.generators.core.case import CaseError
from relaxcheck.generators.expressions.scalar_values import NoValue, value_at
from relaxcheck.harness.expressions import shape_facts as facts
from relaxcheck.harness.expressions.shape_facts import Answers, Fact, Facts, Proof, Question
from relaxcheck.harness.releases.releases import own
from relaxcheck.reports.expressions import facts as algebra_facts

READ = facts.read()


def holds(fact: Fact, *sizes: int) -> bool | None:
    """True if ``fact`` holds at these sizes; None where its assumptions do not."""
    read = fact.read()
    point = dict(zip(fact.sizes, sizes, strict=True))
    try:
        if not all(value_at(condition, point) for condition in read.assumed):
            return None
        return bool(value_at(read.claim, point))
    except NoValue:
        return None


@pytest.mark.parametrize("fact", READ.facts, ids=lambda fact: fact.claim)
def test_a_fact_is_true(fact: Fact) -> None:
    largest = {1: 100, 2: 15, 3: 9, 4: 6}[len(fact.sizes)]
    results = [holds(fact, *point) for point in product(range(largest), repeat=len(fact.sizes))]
    assert False not in results
    assert results.count(True) > len(results) // 5


def test_a_false_one_would_be_seen() -> None:
    assert holds(Fact("", ("m",), "m // 2 * 2 == m"), 3) is False
    assert holds(Fact("", ("m", "n"), "m // n >= 0", ("m < n",)), 3, 2) is None
    assert holds(Fact("", ("m", "n"), "m // n >= 0"), 3, 0) is None


def test_each_probe_is_asked_once() -> None:
    assert sorted(question.probe for question in READ.questions) == sorted(QUESTIONS)


def test_the_page_says_what_this_release_does() -> None:
    """Of other releases it was asked when it was written."""
    result = facts.answered(own())
    page = PAGE.read_text()
    column = f"TVM {result.tvm}"
    rows = [
        [cell.strip() for cell in line.strip("| ").split(" | ")]
        for line in algebra_facts.markdown(READ, [result], facts.by_sympy(READ)).splitlines()
        if line.startswith("|")
    ]
    assert len(rows) > len(READ.facts) + len(READ.questions)
    columns: list[str] = []
    there = 0
    for line in page.splitlines():
        cells = [cell.strip() for cell in line.removeprefix("|").removesuffix("|").split(" | ")]
        if column in cells:
            columns = cells
        for fact, proof in zip(READ.facts, result.proofs, strict=True):
            if columns and cells[0].endswith(f"`{fact.claim}`"):
                there += 1
                assert cells[columns.index(column)] == algebra_facts.way(proof), line
        for question, answer in zip(READ.questions, result.answers, strict=True):
            if columns and len(cells) > 1 and cells[1] == question.about:
                there += 1
                assert cells[columns.index(column)] == ("yes" if answer else "–"), line
    assert there == len(READ.facts) + len(READ.questions)


SMALL = Facts(
    1,
    (
        Fact("sums", ("m",), "m + 1 > m"),
        Fact("sums", ("m", "n"), "m - n > 0", ("m > n",)),
        Fact("parts", ("m",), "m // 2 <= m"),
    ),
    (Question("asserting", "it is refused", "a"), Question("asserting", "it is known", "b")),
)


def answers(release: str, *ways: tuple[bool, bool, bool, str], refused: bool | None) -> Answers:
    return Answers(
        release, f"{release}.0", False, tuple(Proof(*way) for way in ways), (refused, True)
    )


def test_the_page() -> None:
    old = answers(
        "0.1",
        (True, True, True, "analyzer"),
        (False, False, False, ""),
        (False, True, True, "analyzer"),
        refused=None,
    )
    new = answers(
        "0.2",
        (True, False, True, "analyzer"),
        (False, False, True, "strongest"),
        (False, False, False, "written_out"),
        refused=False,
    )
    text = algebra_facts.markdown(SMALL, [old, new], (True, None, False))
    assert "| *sums*: `m + 1 > m` |  | yes | yes | yes | analyzer |" in text
    assert "| `m - n > 0` | `m > n` | not asked | – | strongest | – / strongest |" in text
    assert "| *parts*: `m // 2 <= m` |  | – | equal | – | analyzer / written_out |" in text
    assert "TVM 0.1.0: 2 at default strength, 2 at its strongest, 2 by the prover" in text
    assert "TVM 0.2.0: 1 at default strength, 2 at its strongest, 3 by the prover" in text
    assert "SymPy: 1 of the 2" in text
    assert "| asserting | it is refused | dies | – |" in text
    assert "|  | it is known | yes | yes |" in text


def test_a_page_keeps_what_stands_around() -> None:
    page = algebra_facts.within("# Title\n", "one\n")
    assert page.startswith("# Title\n\n")
    assert page.count("one") == 1
    again = algebra_facts.within(f"{page}\nThe end.\n", "two\n")
    assert again == page.replace("one", "two") + "\nThe end.\n"
    assert "two" in algebra_facts.within("", "two\n")


@pytest.mark.parametrize(
    "text",
    ["{", '{"format": 2, "facts": [], "questions": []}', '{"format": 1, "facts": []}'],
)
def test_a_file_that_is_none(tmp_path: Path, text: str) -> None:
    path = tmp_path / "facts.json"
    path.write_text(text)
    with pytest.raises(CaseError, match=r"facts\.json"):
        facts.read(path)
