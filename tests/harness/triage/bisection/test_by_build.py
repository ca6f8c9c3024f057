"""A folder of builds is searched, and what ran is not run again."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import pytest

from relaxcheck.harness.outcomes.keeping import Kept
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.harness.releases.builds import Build
from relaxcheck.harness.releases.many import Candidate, candidates
from relaxcheck.harness.releases.releases import Release, ReleaseError, of_build
from relaxcheck.harness.triage.bisection import by_build
from relaxcheck.harness.triage.bisection.by_build import ByBuild, OnBuild, search
from relaxcheck.harness.workers.jobs import Job, Limits
from relaxcheck.harness.workers.starting import PoolError
from tests.harness.triage.test_finding import DEFAULT, TOY

CASE = TOY.build(DEFAULT, 0)
BAD = Outcome(Verdict.WRONG_VALUE, "compare", None, "1 of 2 outside")
REFUSED = Outcome(Verdict.UNSUPPORTED, "emit", None, "toy.op is not supported")


class Builds:
    """A folder of seven builds, whose outcomes are ``outcomes``; a reason: it cannot be used."""

    def __init__(self, folder: Path, outcomes: dict[int, Outcome | str]) -> None:
        for number in range(1, 8):
            wheel = folder / f"apache_tvm-0.28.dev{number}-py3-none-any.whl"
            if not wheel.exists():
                wheel.write_bytes(b"a wheel")
        self.candidates = candidates(folder)
        self.outcomes = outcomes
        self.ran: list[str] = []
        self.said: list[str] = []

    @contextmanager
    def opened(self, candidate: Candidate, say: Callable[[str], None]) -> Iterator[Release]:
        say("unpacking")
        outcome = self._of(candidate.name)
        if isinstance(outcome, str) and outcome != "no worker":
            raise ReleaseError(outcome)
        build = Build(candidate.name, "python", version=candidate.name[11:], commit="abc")
        yield of_build(build)

    def pool(self, size: int, limits: Limits, release: Release) -> "_Pool":
        return _Pool(self, release.name)

    def _of(self, name: str) -> Outcome | str:
        return self.outcomes.get(int(name[-1]), Outcome(Verdict.PASS))

    def search(self, file: Path, seconds: float = 3) -> ByBuild:
        kept = Kept(file, OnBuild)
        return search(CASE, self.candidates, kept, Limits(seconds=seconds), self.said.append)


class _Pool:
    def __init__(self, builds: Builds, name: str) -> None:
        self._builds = builds
        self._name = name
        self._jobs: list[Job] = []

    def __enter__(self) -> "_Pool":
        if self._builds._of(self._name) == "no worker":
            raise PoolError("no worker starts")
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def submit(self, job: Job) -> None:
        assert job.fresh
        self._jobs.append(job)

    def drain(self) -> list[tuple[Job, Outcome]]:
        outcome = self._builds._of(self._name)
        assert isinstance(outcome, Outcome)
        self._builds.ran.append(self._name)
        return [(job, outcome) for job in self._jobs]


@pytest.fixture
def make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Builds]:
    folder = tmp_path / "builds"
    folder.mkdir()

    def made(outcomes: dict[int, Outcome | str]) -> Builds:
        builds = Builds(folder, outcomes)
        monkeypatch.setattr(by_build, "opened", builds.opened)
        monkeypatch.setattr(by_build, "Pool", builds.pool)
        return builds

    return made


def test_the_first_that_fails_is_found_and_the_rest_stays_untried(
    make: Callable[..., Builds], tmp_path: Path
) -> None:
    builds = make(dict.fromkeys((5, 6, 7), BAD))
    found = builds.search(tmp_path / "kept.jsonl")
    assert (found.before, found.after) == ("apache_tvm-0.28.dev4", "apache_tvm-0.28.dev5")
    assert (found.of, len(found.builds), found.skipped) == (7, 4, ())
    row = found.on(found.after)
    assert row == OnBuild(
        "apache_tvm-0.28.dev5", "0.28.dev5", "abc", Verdict.WRONG_VALUE, "compare", BAD.message
    )
    assert found.on(None) is None
    assert [row.name for row in found.builds] == sorted(row.name for row in found.builds)
    assert "apache_tvm-0.28.dev5: unpacking" in builds.said
    assert builds.said[-1] == "apache_tvm-0.28.dev5: wrong-value at compare"


def test_what_passes_again_and_another_failure_are_found_too(
    make: Callable[..., Builds], tmp_path: Path
) -> None:
    found = make(dict.fromkeys((1, 2, 3), BAD)).search(tmp_path / "a.jsonl")
    assert found.after == "apache_tvm-0.28.dev4"
    outcomes = dict.fromkeys((1, 2), REFUSED) | dict.fromkeys((3, 4, 5, 6, 7), BAD)
    found = make(outcomes).search(tmp_path / "b.jsonl")
    assert found.after == "apache_tvm-0.28.dev3"


def test_builds_that_say_nothing_are_passed_over(
    make: Callable[..., Builds], tmp_path: Path
) -> None:
    fault = Outcome(Verdict.HARNESS_ERROR, "oracle", None, "KeyError")
    builds = make({1: "it lacks torch", 3: fault, 4: "no worker", 5: REFUSED, 6: BAD, 7: BAD})
    found = builds.search(tmp_path / "kept.jsonl")
    assert (found.before, found.after) == ("apache_tvm-0.28.dev2", "apache_tvm-0.28.dev6")
    assert found.skipped == tuple(f"apache_tvm-0.28.dev{number}" for number in (3, 4, 5))
    reasons = {row.name[-1]: row.missing for row in found.builds if row.missing}
    assert reasons == {"1": "it lacks torch", "4": "no worker starts"}
    assert make({}).search(tmp_path / "same.jsonl").after is None


def test_what_ran_is_kept_until_the_build_or_the_deadline_changes(
    make: Callable[..., Builds], tmp_path: Path
) -> None:
    file = tmp_path / "deep" / "kept.jsonl"
    outcomes: dict[int, Outcome | str] = dict.fromkeys((5, 6, 7), BAD) | {4: "it lacks torch"}
    first = make(outcomes)
    found = first.search(file)
    assert len(first.ran) == len(set(first.ran)) == 4
    # A worker that died while it wrote, and a line of another version.
    file.write_bytes(file.read_bytes() + b'{"other": 1}\n{"path": "/')
    again = make(outcomes)
    assert again.search(file) == found
    assert not again.ran
    assert any(line.endswith("it ran before") for line in again.said)
    # What could not run is tried again.
    del outcomes[4]
    mended = make(outcomes)
    assert mended.search(file).before == "apache_tvm-0.28.dev4"
    assert mended.ran == ["apache_tvm-0.28.dev4"]
    assert all(msgspec.json.decode(line) for line in file.read_bytes().splitlines()[-1:])
    other = make(outcomes)
    other.search(file, 4)
    assert other.ran
    anew = make(outcomes)
    os.utime(anew.candidates[0].path, (1, 1))
    anew.search(file)
    assert anew.ran == [anew.candidates[0].name]
