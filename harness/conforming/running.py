"""Running the cases of a conformance run, and looking into those that differ."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import msgspec

from relaxcheck.generators.core.axes import Family
from relaxcheck.generators.core.case import AnyCase
from relaxcheck.harness.conforming.comparing import (
    Cell,
    Difference,
    Pair,
    cell_of,
    differences,
    merged,
)
from relaxcheck.harness.kinds import families
from relaxcheck.harness.outcomes.keeping import Kept
from relaxcheck.harness.outcomes.outcome import Outcome
from relaxcheck.harness.triage.bisection.running import bisected
from relaxcheck.harness.triage.reduction.running import reduced
from relaxcheck.harness.triage.reduction.trying import Budget, InWorkers
from relaxcheck.harness.workers.jobs import Job
from relaxcheck.harness.workers.pool import Pool

_LOOKED_INTO = 12
"""Causes that are looked into, the worst first: a minute each."""

_TRIES, _SECONDS = 120, 40.0
"""The limits of reducing one."""

Progress = Callable[[str, int, int], None]
"""Called with the phase, the number of its cases that are done, and of all."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two pipelines to compare on ``release``, and the files that keep what ran.

    The user may change ``theirs`` and run again: what ran by ``tvms`` stands then.
    """

    theirs: str
    tvms: str
    release: str
    kept_theirs: Kept[Cell]
    kept_tvms: Kept[Cell]


def compared(
    wanted: Comparison, cases: Sequence[AnyCase], pool: Pool, show: Progress
) -> Iterator[Pair]:
    """Each of ``cases``, compiled by both pipelines; what was kept does not run again.

    They are yielded in their order, as soon as both have ended.

    Raises:
        PoolError: the workers cannot go on.
        OSError: an end cannot be kept.
    """
    version = pool.environment["apache-tvm"]

    def kept(case: AnyCase) -> tuple[Cell, Cell] | None:
        own = wanted.kept_theirs.get(wanted.release, version, case.identifier)
        other = by(case, wanted.tvms)
        tvms = wanted.kept_tvms.get(wanted.release, version, other.identifier)
        return None if own is None or tvms is None else (own, tvms)

    for case in cases:
        for keeper, each in ((wanted.kept_theirs, case), (wanted.kept_tvms, by(case, wanted.tvms))):
            if keeper.get(wanted.release, version, each.identifier) is None:
                pool.submit(Job(each, tag=keeper))
            else:
                keeper.reused += 1
    left = iter(cases)
    waiting = next(left, None)
    done = 0
    for job, outcome in _none_first(pool):
        if job is not None and outcome is not None:
            cell = cell_of(job.case, outcome)
            assert isinstance(job.tag, Kept)
            job.tag.add(wanted.release, version, job.case.identifier, cell)
        while waiting is not None and (cells := kept(waiting)) is not None:
            done += 1
            show("cases", done, len(cases))
            yield Pair(waiting, *cells)
            waiting = next(left, None)


def _none_first(pool: Pool) -> Iterator[tuple[Job | None, Outcome | None]]:
    """What ends in ``pool``; a pair of nothing first, for what was kept."""
    yield None, None
    yield from pool.drain()


def by(case: AnyCase, pipeline: str) -> AnyCase:
    """``case`` compiled by ``pipeline``."""
    return msgspec.structs.replace(case, pipeline=pipeline)  # type: ignore[type-var]


def looked_into(
    wanted: Comparison, pairs: Sequence[Pair], pool: Pool, show: Progress
) -> tuple[Difference, ...]:
    """The causes of what is worse by the user's pipeline, each with its smallest case and pass."""
    found = differences(pairs)
    known = families()
    done = []
    for number, each in enumerate(found[:_LOOKED_INTO]):
        show("causes", number, min(len(found), _LOOKED_INTO))
        done.append(_blamed(_smaller(each, wanted, pool, known), pool))
    return merged((*done, *found[_LOOKED_INTO:]))


def _smaller(
    each: Difference, wanted: Comparison, pool: Pool, known: Sequence[Family]
) -> Difference:
    """``each`` with a smaller example, if there is one that TVM's own pipeline compiles rightly."""
    trier = InWorkers(pool)
    start = _outcome(pool, each.example)
    if start.verdict is not each.cell.verdict:
        return replace(each, why="it ended otherwise when it ran again")
    ended = reduced(each.example, start, trier, known, Budget(_TRIES, _SECONDS, lambda: None))
    case = ended.reduction.case
    if case == each.example or getattr(case, "pipeline", "") != wanted.theirs or not ended.stable:
        return each
    if not _outcome(pool, by(case, wanted.tvms)).verdict.is_right:
        return each
    return replace(each, example=case, cell=cell_of(case, ended.reduction.outcome))


def _outcome(pool: Pool, case: AnyCase) -> Outcome:
    job = Job(case, fresh=True)
    pool.submit(job)
    return next(outcome for ended, outcome in pool.drain() if ended is job)


def _blamed(each: Difference, pool: Pool) -> Difference:
    """``each`` with the pass that breaks its example."""
    if each.why:
        return each
    result = bisected(pool, each.example)
    return replace(each, culprit=result.culprit or "", why=result.why)
