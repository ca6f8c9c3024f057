"""The releases themselves, where they are installed side by side: what is known to differ does."""

import pytest

from harness.bisection.by_release import concluded, run_on
from harness.gaps import known_gaps
from harness.jobs import Limits
from harness.matrix import subjects
from harness.outcome import Verdict
from harness.releases import known, state

MISSING = [name for name in known() if not state(name).usable]


@pytest.mark.skipif(bool(MISSING), reason=f"not installed: {', '.join(MISSING)}")
def test_a_gap_of_one_release_is_bisected_to_it() -> None:
    gap = next(one for one in known_gaps() if one.releases == ("0.26",))
    [subject] = [one for one in subjects([]) if one.row.name == gap.name]
    found = concluded(list(run_on(known(), subject.row.case, Limits(), lambda name: None)))
    verdicts = {one.release: one.verdict for one in found.releases}
    assert verdicts == {"0.25": Verdict.PASS, "0.26": gap.verdict, "0.27": Verdict.PASS}
    assert (found.first_bad, found.good_again) == ("0.26", "0.27")
