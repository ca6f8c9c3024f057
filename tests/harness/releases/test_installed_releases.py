"""The releases themselves, where they are installed side by side: what is known to differ does."""

import pytest

from relaxcheck.harness.known.corpus import Entry, entries
from relaxcheck.harness.known.expected_failures import ExpectedFailure, known_gaps
from relaxcheck.harness.matrix.matrix import subjects
from relaxcheck.harness.outcomes.outcome import Verdict
from relaxcheck.harness.releases.releases import by_age, state, supported
from relaxcheck.harness.triage.bisection.by_release import concluded, run_on
from relaxcheck.harness.workers.jobs import Limits

MISSING = [name for name in supported() if not state(name).usable]
installed = pytest.mark.skipif(bool(MISSING), reason=f"not installed: {', '.join(MISSING)}")


def _declared(entry: Entry) -> dict[str, Verdict]:
    """The verdicts without the fixes, by release; TIRx alone is none."""
    return {
        name: sides["off"] for name, sides in entry.expected.verdicts.items() if name in supported()
    }


DIFFERING = [entry for entry in entries() if len(set(_declared(entry).values())) > 1][:1]
GAPS = [gap for gap in known_gaps() if set(gap.releases) < set(supported())][:1]
"""Declared of some releases; there need not be any."""


@installed
@pytest.mark.parametrize("entry", DIFFERING, ids=lambda entry: entry.name)
def test_an_entry_that_differs_is_bisected_as_declared(entry: Entry) -> None:
    declared = _declared(entry)
    result = concluded(list(run_on(supported(), entry.case, Limits(), lambda name: None)))
    verdicts = {release.release: release.verdict for release in result.releases}
    assert {name: verdicts[name] for name in declared} == declared
    failing = tuple(name for name in by_age(declared) if declared[name].is_failure)
    assert result.failing == failing
    # Where the oldest release fails, no release is the first that fails.
    assert (result.first_bad is None) == (failing[0] == by_age(declared)[0])


@pytest.mark.slow
@installed
@pytest.mark.parametrize("gap", GAPS, ids=lambda gap: gap.name)
def test_a_gap_of_some_releases_is_bisected_to_them(gap: ExpectedFailure) -> None:
    [subject] = [each for each in subjects([]) if each.row.name == gap.name]
    result = concluded(list(run_on(supported(), subject.row.case, Limits(), lambda name: None)))
    assert {release.release: release.verdict for release in result.releases} == {
        name: gap.verdict if name in gap.releases else Verdict.PASS for name in supported()
    }
    oldest = by_age(gap.releases)[0]
    assert result.first_bad == (None if oldest == supported()[0] else oldest)
