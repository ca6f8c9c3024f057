"""Expressions where there is TIRx alone: in its own environment, if that is installed."""

import pytest
from msgspec.structs import replace

from relaxcheck.generators.core.axes import complete
from relaxcheck.generators.expressions.cases import ANALYZED, VALUE, ExpressionCase
from relaxcheck.generators.expressions.family import family
from relaxcheck.harness.expressions import execute
from relaxcheck.harness.known.corpus import entries
from relaxcheck.harness.outcomes.outcome import Verdict
from relaxcheck.harness.releases.releases import ALONE, release, state
from relaxcheck.harness.workers.jobs import Job, Limits
from relaxcheck.harness.workers.pool import Pool

(TIRX,) = ALONE
installed = pytest.mark.skipif(not state(TIRX).usable, reason=f"not installed: {TIRX}")
ENTRIES = [
    entry
    for entry in entries()
    if isinstance(entry.case, ExpressionCase) and entry.case.position == ANALYZED
]
"""What TIRx alone can run."""


@pytest.mark.slow
@installed
def test_the_corpus_ends_as_declared() -> None:
    with Pool(1, Limits(), release=release(TIRX, alone=True)) as pool:
        version = pool.environment["apache-tvm"]
        declared = {each.name: each.expected.verdict(version, fixes=False) for each in ENTRIES}
        pool.submit(*(Job(each.case, tag=each.name) for each in ENTRIES))
        ended = {job.tag: outcome.verdict for job, outcome in pool.drain()}
    assert len(ENTRIES) > 10
    assert ended == declared


@pytest.mark.slow
@installed
def test_a_batch_is_checked_and_what_is_compiled_has_no_verdict() -> None:
    own = family((ANALYZED,))
    batch = own.build(complete(own.axes, {"dtype": "int64", "depth": 3}), 3)
    compiled = replace(batch, at={**batch.at, "position": VALUE}, count=2)
    with Pool(1, Limits(), release=release(TIRX, alone=True)) as pool:
        pool.submit(Job(batch, tag="analyzed"), Job(compiled, tag="compiled"))
        ended = {job.tag: outcome for job, outcome in pool.drain()}
        assert pool.environment["apache-tvm"].startswith("tirx 0.1")
        assert pool.fixes == ()
    assert ended["analyzed"].verdict is Verdict.PASS
    assert ended["analyzed"].checked > 200
    assert ended["compiled"].verdict is Verdict.NO_ORACLE
    assert "in position value" in ended["compiled"].message


def test_what_needs_relax_has_no_verdict_without_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(execute, "has_relax", lambda: False)
    own = family()
    for at, fixes in (({"position": VALUE}, False), ({}, True)):
        batch = replace(own.build(complete(own.axes, at), 1), fixes=fixes)
        outcome = execute.execute(batch, lambda stage: None)
        assert outcome.verdict is Verdict.NO_ORACLE
        assert "takes Relax" in outcome.message
