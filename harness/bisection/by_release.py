"""On which TVM releases a case fails: it runs on each, alone and in a fresh process."""

from collections.abc import Callable, Iterator, Sequence

from generators.cases import AnyCase
from harness.bisection.trace import ByRelease, OnRelease
from harness.differential import passed
from harness.jobs import Job, Limits
from harness.outcome import Outcome
from harness.pool import Pool, PoolError
from harness.releases import ReleaseError, release


def ran_on(name: str, outcome: Outcome) -> OnRelease:
    """What came of the case on the release ``name``."""
    return OnRelease(name, outcome.verdict, outcome.stage, outcome.message)


def run_on(
    names: Sequence[str], case: AnyCase, limits: Limits, told: Callable[[str], None]
) -> Iterator[OnRelease]:
    """What comes of ``case`` on each of the releases ``names``; ``told`` hears of each first.

    One that is not installed, or whose workers do not start, says so in place of a verdict.
    """
    for name in names:
        told(name)
        try:
            with Pool(1, limits, release=release(name)) as pool:
                pool.submit(Job(case, fresh=True))
                ((_, outcome),) = pool.drain()
        except (ReleaseError, PoolError) as error:
            yield OnRelease(name, missing=str(error))
        else:
            yield ran_on(name, outcome)


def concluded(releases: Sequence[OnRelease]) -> ByRelease:
    """The first of ``releases``, the oldest first, that fails, and the first that passes again."""
    ran = [one for one in releases if one.verdict is not None]
    first_bad = next((one for one in ran if one.verdict and one.verdict.is_failure), None)
    later = ran[ran.index(first_bad) + 1 :] if first_bad else []
    good = next((one for one in later if one.verdict and passed(Outcome(one.verdict))), None)
    return ByRelease(
        tuple(releases),
        first_bad.release if first_bad else None,
        good.release if good else None,
    )
