"""Workers that see each write out of bounds: results of functions have room around them.

A heap that a program corrupts is noticed by chance: it may pass, end with other words, or hang.
No comparison of such runs says anything of a release, a pass or a setting.
"""

import os
from collections.abc import Iterator
from dataclasses import replace
from typing import Protocol

import msgspec

from relaxcheck.generators.core.case import AnyCase
from relaxcheck.harness.kind import Tracing
from relaxcheck.harness.kinds import of
from relaxcheck.harness.outcomes.errors import (
    WRITTEN,
    corrupts_heap,
    own_words,
    writes_out_of_bounds,
)
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.harness.releases.releases import Release
from relaxcheck.harness.workers.jobs import Job, Limits
from relaxcheck.harness.workers.protocol import Ask, BundledFix

BY_CHANCE = "it is chance if a corrupted heap is noticed"

_DIRECT = ("load", "run")
"""The stages in which functions that cannot be called one by one raise an error of ours."""


class Runs(Protocol):
    """A pool of workers, for those who do not care how these look at a case."""

    limits: Limits
    release: Release
    environment: dict[str, str]
    fixes: tuple[BundledFix, ...]
    size: int

    def submit(self, *jobs: Job, first: bool = False) -> None:
        """Queue ``jobs``."""

    def wait(self, timeout: float) -> Iterator[tuple[Job, Outcome]]:
        """The jobs that end within ``timeout`` seconds."""

    def drain(self) -> Iterator[tuple[Job, Outcome]]:
        """Every job that is queued or running, as each ends."""


class Rooms:
    """Workers of ``pool`` for a case that ``died`` of a corrupted heap, and for those made of it.

    The functions of each lowered program are built one by one and called on results with room
    around them. One that writes there has the outcome ``died``, with the proof in its details.
    Where they cannot be called so, there is no verdict.
    """

    def __init__(self, pool: Runs, died: Outcome):
        self.limits, self.release, self.size = pool.limits, pool.release, pool.size
        self.environment, self.fixes = pool.environment, pool.fixes
        self._pool = pool
        self._died = died

    def submit(self, *jobs: Job, first: bool = False) -> None:
        """Queue ``jobs``, each alone."""
        self._pool.submit(*map(_roomy, jobs), first=first)

    def wait(self, timeout: float) -> Iterator[tuple[Job, Outcome]]:
        """The jobs that end within ``timeout`` seconds."""
        return map(self._answered, self._pool.wait(timeout))

    def drain(self) -> Iterator[tuple[Job, Outcome]]:
        """Every job that is queued or running, as each ends."""
        return map(self._answered, self._pool.drain())

    def _answered(self, ended: tuple[Job, Outcome]) -> tuple[Job, Outcome]:
        roomy, outcome = ended
        assert isinstance(roomy.tag, Job)
        return roomy.tag, _judged(outcome, self._died)


def _roomy(job: Job) -> Job:
    if job.ask is Ask.VET:
        return Job(job.case, job, alone=True, ask=job.ask)
    tracing = msgspec.structs.replace(job.tracing or Tracing(os.devnull), direct=True)
    return replace(job, tag=job, alone=True, tracing=tracing)


def _judged(outcome: Outcome, died: Outcome) -> Outcome:
    if writes_out_of_bounds(outcome.message):
        details = {WRITTEN: own_words(outcome.message)}
        return msgspec.structs.replace(died, details=details, reference=outcome.reference)
    unable = outcome.verdict is Verdict.HARNESS_ERROR and outcome.stage in _DIRECT
    if unable or corrupts_heap(outcome.message):
        return Outcome(Verdict.NO_ORACLE, message=BY_CHANCE, reference=outcome.reference)
    return outcome


def watched(pool: Runs, case: AnyCase, died: Outcome | None) -> Runs:
    """``pool`` as it should look at ``case``: with rooms if they show why the case ``died``."""
    if died is None or not (of(case).has_passes and corrupts_heap(died.message)):
        return pool
    rooms = Rooms(pool, died)
    rooms.submit(Job(case, fresh=True))
    shown = any(WRITTEN in outcome.details for _, outcome in list(rooms.drain()))
    return rooms if shown else pool


def by_chance(outcome: Outcome) -> bool:
    """True of a corrupted heap that no function was seen to corrupt."""
    return corrupts_heap(outcome.message) and WRITTEN not in outcome.details
