"""Counts of the support table."""

from relaxcheck.harness.known.corpus import entries
from relaxcheck.harness.known.expected_failures import declared
from relaxcheck.harness.outcomes.outcome import Verdict
from relaxcheck.harness.programs.support.audit import by_operator, known_failures


def test_a_corpus_entry_counts_where_it_fails_and_a_declared_failure_where_it_is_declared() -> None:
    (entry,) = (each for each in entries() if each.name == "attention-grouped-query")
    assert known_failures([entry], [], "0.27")["nn.attention"] == 1
    assert not known_failures([entry], [], "0.1")
    known = declared()[0]
    assert known_failures([], [known], known.releases[0]) == {known.operator: 1}
    assert not known_failures([], [known], "0.1")


def test_verdicts_of_a_family_are_those_of_its_operator() -> None:
    verdicts = [
        ("conv2d", Verdict.PASS, 2),
        ("conv2d", Verdict.PASS, 1),
        ("dynamic", Verdict.PASS, 1),
    ]
    assert by_operator(verdicts) == {"nn.conv2d": {"pass": 3}}
