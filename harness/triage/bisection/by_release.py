"""Finding the releases on which a case fails: it runs on each, alone in a fresh process."""

from collections.abc import Callable, Iterator, Sequence

from relaxcheck.generators.core.case import AnyCase
from relaxcheck.harness.outcomes.differential import passed
from relaxcheck.harness.outcomes.outcome import Outcome
from relaxcheck.harness.releases.releases import ReleaseError, release
from relaxcheck.harness.triage.bisection.trace import ByRelease, OnRelease
from relaxcheck.harness.workers.jobs import Job, Limits
from relaxcheck.harness.workers.pool import Pool
from relaxcheck.harness.workers.rooms import Rooms
from relaxcheck.harness.workers.starting import PoolError


def ran_on(name: str, outcome: Outcome) -> OnRelease:
    """``outcome`` of the case on the release ``name``."""
    return OnRelease(name, outcome.verdict, outcome.stage, outcome.message)


def run_on(
    names: Sequence[str],
    case: AnyCase,
    limits: Limits,
    announce: Callable[[str], None],
    died: Outcome | None = None,
) -> Iterator[OnRelease]:
    """Run ``case`` on each of the releases ``names``; call ``announce`` with each name first.

    ``died``: the outcome of a case that corrupts the heap, which rooms show.

    A release that is not installed, or whose workers do not start, has the reason in place of a
    verdict.
    """
    for name in names:
        announce(name)
        try:
            with Pool(1, limits, release=release(name)) as pool:
                runs = pool if died is None else Rooms(pool, died)
                runs.submit(Job(case, fresh=True))
                ((_, outcome),) = runs.drain()
        except (ReleaseError, PoolError) as error:
            yield OnRelease(name, missing=str(error))
        else:
            yield ran_on(name, outcome)


def concluded(releases: Sequence[OnRelease]) -> ByRelease:
    """The first of ``releases`` (the oldest first) to fail after a pass, and to pass after that."""
    passing = [
        at for at, row in enumerate(releases) if row.verdict and passed(Outcome(row.verdict))
    ]
    failing = [at for at, row in enumerate(releases) if row.verdict and row.verdict.is_failure]
    bad = next((at for at in failing if passing and passing[0] < at), None)
    since = bad if bad is not None else min(failing, default=len(releases))
    good = next((at for at in passing if at > since), None)
    return ByRelease(
        tuple(releases),
        None if bad is None else releases[bad].release,
        None if good is None else releases[good].release,
    )
