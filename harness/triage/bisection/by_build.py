"""Finds where a case begins to fail, or to pass, in a folder of many builds, by halving.

What ran is kept in a file, so that a search that was interrupted goes on, and one in a folder with
more builds asks only the new ones.
"""

from collections.abc import Callable, Iterator, Sequence

import msgspec

from relaxcheck.generators.core.case import AnyCase
from relaxcheck.harness.outcomes.differential import passed
from relaxcheck.harness.outcomes.errors import headline
from relaxcheck.harness.outcomes.keeping import Kept
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.harness.releases.many import Candidate, opened
from relaxcheck.harness.releases.releases import Release, ReleaseError
from relaxcheck.harness.triage.bisection.halving import halving
from relaxcheck.harness.workers.jobs import Job, Limits
from relaxcheck.harness.workers.pool import Pool
from relaxcheck.harness.workers.starting import PoolError

PASSES = "passes"
"""The outcome that counts of a build that is right."""


class OnBuild(msgspec.Struct, frozen=True):
    """The outcome of a case on the build ``name``; ``missing`` says why there is none.

    ``version`` and ``commit`` are those that its TVM says it has.
    """

    name: str
    version: str = ""
    commit: str = ""
    verdict: Verdict | None = None
    stage: str | None = None
    message: str = ""
    missing: str = ""

    @property
    def counts(self) -> str | None:
        """The outcome that halving compares; None if it says nothing about TVM."""
        if self.verdict is None:
            return None
        if passed(Outcome(self.verdict)):
            return PASSES
        return str(self.verdict) if self.verdict.is_failure else None


class ByBuild(msgspec.Struct, frozen=True):
    """The search for a change of ``case`` in ``of`` builds.

    ``builds`` are those that ran, the oldest first. The outcome changes between ``before`` and
    ``after``, names of builds; None if no change is known. Nothing is known of those ``skipped``.
    """

    case: str
    of: int
    builds: tuple[OnBuild, ...]
    before: str | None = None
    after: str | None = None
    skipped: tuple[str, ...] = ()

    def on(self, name: str | None) -> OnBuild | None:
        """The outcome on the build ``name``, if it ran."""
        return next((row for row in self.builds if row.name == name), None)


def search(
    case: AnyCase,
    builds: Sequence[Candidate],
    kept: Kept[OnBuild],
    limits: Limits,
    show: Callable[[str], None],
) -> ByBuild:
    """Run ``case`` on as few of ``builds``, the oldest first, as show where its outcome changes.

    ``show`` is called with a line for each that runs, and for each outcome. ``kept`` has those of
    earlier searches: a build that was made anew, or another deadline, makes another. What has no
    verdict is not kept, as a package may be installed meanwhile.

    Raises:
        OSError: ``kept`` cannot be written, or a build is gone.
    """
    ran: dict[int, OnBuild] = {}
    tries = halving(len(builds))
    what = f"{case.identifier} fixes={case.fixes} seconds={limits.seconds:g}"
    try:
        at = next(tries)
        while True:
            candidate = builds[at]
            key = str(candidate.path), candidate.stamp, what
            before = kept.get(*key)
            outcome = before or _on(case, candidate, limits, show)
            if before is None and outcome.verdict is not None:
                kept.add(*key, outcome)
            ran[at] = outcome
            show("; ".join(_told(outcome, ran_before=before is not None)))
            at = tries.send(outcome.counts)
    except StopIteration as end:
        change = end.value
    rows = tuple(ran[at] for at in sorted(ran))
    if change is None:
        return ByBuild(case.identifier, len(builds), rows)
    skipped = tuple(builds[at].name for at in change.skipped)
    before, after = builds[change.before].name, builds[change.after].name
    return ByBuild(case.identifier, len(builds), rows, before, after, skipped)


def _told(outcome: OnBuild, *, ran_before: bool) -> Iterator[str]:
    words = outcome.verdict or f"not run: {outcome.missing}"
    yield f"{outcome.name}: {words}" + (f" at {outcome.stage}" if outcome.stage else "")
    if ran_before:
        yield "it ran before"


def _on(
    case: AnyCase, candidate: Candidate, limits: Limits, show: Callable[[str], None]
) -> OnBuild:
    """Run ``case`` on ``candidate``, alone in a new process."""
    try:
        with opened(candidate, lambda step: show(f"{candidate.name}: {step}")) as release:
            return _ran(case, candidate.name, release, limits)
    except (ReleaseError, PoolError) as error:
        return OnBuild(candidate.name, missing=str(error))


def _ran(case: AnyCase, name: str, release: Release, limits: Limits) -> OnBuild:
    assert release.build is not None
    with Pool(1, limits, release=release) as pool:
        pool.submit(Job(case, fresh=True))
        ((_, outcome),) = pool.drain()
    return OnBuild(
        name,
        release.build.version,
        release.build.commit,
        outcome.verdict,
        outcome.stage,
        headline(outcome.message),
    )
