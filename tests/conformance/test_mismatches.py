"""The command that calls random programs wrongly."""

from msgspec.structs import replace

from relaxcheck.generators.core.case import Mismatch
from relaxcheck.harness.outcomes.outcome import Verdict
from relaxcheck.harness.workers.pool import Pool
from tests.conformance.decoder import PIPELINES
from tests.conformance.mismatches import judged, wrong_calls


def test_wrong_calls_are_refused_and_other_outcomes_are_reported(
    pool: Pool, fixes_on: bool
) -> None:
    default, fused = (wrong_calls(pipeline, 2, 6) for pipeline in PIPELINES)
    assert [replace(case, pipeline=PIPELINES[0]) for case in fused] == default
    expect = default[0].expect
    assert isinstance(expect, Mismatch)
    # Refused for another parameter than the one that is said to be wrong.
    elsewhere = replace(default[0], expect=replace(expect, operator="nowhere"))
    counts, failures = judged(pool, [replace(case, fixes=fixes_on) for case in (elsewhere, *fused)])
    assert counts[Verdict.REJECTED] == len(fused)
    assert len(failures) == 1
    assert elsewhere.identifier in failures[0]
