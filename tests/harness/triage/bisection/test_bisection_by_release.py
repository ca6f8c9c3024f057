"""Bisection by release: which are tried, and which is the first that fails after a pass."""

from collections.abc import Iterator
from pathlib import Path
from typing import Self

import pytest

from relaxcheck.generators.core.program import Case, Input, Program
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.harness.releases.releases import Release, ReleaseError
from relaxcheck.harness.triage.bisection import by_release
from relaxcheck.harness.triage.bisection.by_release import concluded, run_on
from relaxcheck.harness.triage.bisection.trace import OnRelease
from relaxcheck.harness.workers.jobs import Job, Limits
from relaxcheck.harness.workers.starting import PoolError

CASE = Case("toy", Program((Input("x", (1,), "float32"),), (), ("x",)))
P, F, R, S, H = (
    Verdict.PASS,
    Verdict.SILENT_BAIL,
    Verdict.REJECTED,
    Verdict.ORACLE_SPLIT,
    Verdict.HARNESS_ERROR,
)


class FakePool:
    def __init__(self, size: int, limits: Limits, release: Release):
        assert (size, limits.seconds) == (1, 7)
        if release.name == "0.2":
            raise PoolError("TVM 0.2: it does not start")
        self.jobs: list[Job] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def submit(self, job: Job) -> None:
        assert job.fresh
        self.jobs.append(job)

    def drain(self) -> Iterator[tuple[Job, Outcome]]:
        for job in self.jobs:
            yield job, Outcome(F, "LegalizeOps", None, "left")


def test_each_release_says_what_came_or_why_nothing_did(monkeypatch: pytest.MonkeyPatch) -> None:
    def release(name: str) -> Release:
        if name == "0.1":
            raise ReleaseError("TVM 0.1 is not installed")
        return Release(name, Path("python"))

    monkeypatch.setattr(by_release, "Pool", FakePool)
    monkeypatch.setattr(by_release, "release", release)
    answer: list[str] = []
    result = list(run_on(("0.1", "0.2", "0.3"), CASE, Limits(seconds=7), answer.append))
    assert answer == ["0.1", "0.2", "0.3"]
    assert result == [
        OnRelease("0.1", missing="TVM 0.1 is not installed"),
        OnRelease("0.2", missing="TVM 0.2: it does not start"),
        OnRelease("0.3", F, "LegalizeOps", "left"),
    ]


@pytest.mark.parametrize(
    ("verdicts", "first_bad", "good_again"),
    [
        ((P, F, F), "1", None),
        ((F, F, P), None, "2"),
        ((F, F, F), None, None),
        ((F,), None, None),
        ((None, None, F), None, None),
        ((P, F, None, R), "1", "3"),
        ((None, F, S, H), None, None),
        ((P, None, F), "2", None),
        ((P, F, P, F), "1", "2"),
        ((P, P), None, None),
        ((F, P, F, P), "2", "3"),
        ((S, H, None), None, None),
    ],
)
def test_the_first_that_fails_and_the_first_that_passes_again(
    verdicts: tuple[Verdict | None, ...], first_bad: str | None, good_again: str | None
) -> None:
    releases = tuple(
        OnRelease(str(number), verdict, missing="" if verdict else "not installed")
        for number, verdict in enumerate(verdicts)
    )
    result = concluded(releases)
    assert result.releases == releases
    assert (result.first_bad, result.good_again) == (first_bad, good_again)
    assert result.failing == tuple(str(at) for at, verdict in enumerate(verdicts) if verdict is F)
