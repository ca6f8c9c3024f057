"""Counts by operator for the support table: known failures, and a campaign's verdicts."""

from collections import Counter
from collections.abc import Iterable, Mapping

from relaxcheck.generators.core.case import AnyCase
from relaxcheck.generators.operators import OPERATORS
from relaxcheck.generators.operators.family import OperatorFamily
from relaxcheck.harness.kinds import operators
from relaxcheck.harness.known.corpus import Entry
from relaxcheck.harness.known.expected_failures import Known
from relaxcheck.harness.outcomes.outcome import Verdict

_BY_FAMILY = {OperatorFamily(record, ()).name: record.name for record in OPERATORS.values()}


def known_failures(
    entries: Iterable[Entry], declared: Iterable[Known], release: str
) -> Counter[str]:
    """Failures by operator: corpus entries that fail on ``release``, and declared failures.

    An entry counts for the operator of its family; one of a graph, if that has a single operator.
    """
    counts: Counter[str] = Counter()
    for entry in entries:
        verdict = entry.expected.verdict(release, fixes=False)
        if verdict is not None and verdict.is_failure:
            counts.update(_subject(entry.case))
    counts.update(
        each.operator
        for each in declared
        if any(each.concerns(release, fixes=fixes) for fixes in (False, True))
    )
    return counts


def by_operator(verdicts: Iterable[tuple[str, Verdict, int]]) -> Mapping[str, Mapping[str, int]]:
    """Cases by operator and verdict, of ``verdicts`` by family; families of graphs have none."""
    counts: dict[str, Counter[str]] = {}
    for family, verdict, count in verdicts:
        if family in _BY_FAMILY:
            counts.setdefault(_BY_FAMILY[family], Counter())[str(verdict)] += count
    return counts


def _subject(case: AnyCase) -> tuple[str, ...]:
    if case.family in _BY_FAMILY:
        return (_BY_FAMILY[case.family],)
    there = operators(case)
    return there if len(there) == 1 else ()
