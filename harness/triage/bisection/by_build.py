"""Finds where a case begins to fail, or to pass, in a folder of many builds, by halving.

What ran is kept in a file, so that a search that was interrupted goes on, and one in a folder with
more builds asks only the new ones.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from relaxcheck.generators.core.case import AnyCase
from relaxcheck.harness.outcomes.differential import passed
from relaxcheck.harness.outcomes.errors import headline
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.harness.releases.many import Candidate, opened
from relaxcheck.harness.releases.releases import Release, ReleaseError
from relaxcheck.harness.triage.bisection.halving import halving
from relaxcheck.harness.workers.jobs import Job, Limits
from relaxcheck.harness.workers.pool import Pool, PoolError

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


class _Kept(msgspec.Struct, frozen=True):
    """A line of the file: what ``outcome`` is of, and that."""

    path: str
    stamp: str
    seconds: float
    outcome: OnBuild


@dataclass(slots=True)
class Memory:
    """The outcomes of one case that ``file`` keeps, a line for each.

    A build that was made anew is another, and so is a search with another deadline. What has no
    verdict is not kept: a package may be installed meanwhile.
    """

    file: Path
    seconds: float
    _known: dict[tuple[str, str, float], OnBuild] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Read the file; a line that was cut off, or is of another version, counts as missing."""
        lines = self.file.read_bytes().splitlines() if self.file.exists() else []
        for line in lines:
            try:
                kept = msgspec.json.decode(line, type=_Kept)
            except msgspec.DecodeError:
                continue
            self._known[kept.path, kept.stamp, kept.seconds] = kept.outcome

    def get(self, candidate: Candidate) -> OnBuild | None:
        """The outcome on ``candidate``, if it ran as it is now."""
        return self._known.get((str(candidate.path), candidate.stamp, self.seconds))

    def put(self, candidate: Candidate, outcome: OnBuild) -> None:
        """Keep the ``outcome`` on ``candidate``. Raises ``OSError``."""
        if outcome.verdict is None:
            return
        kept = _Kept(str(candidate.path), candidate.stamp, self.seconds, outcome)
        self._known[kept.path, kept.stamp, kept.seconds] = outcome
        self.file.parent.mkdir(parents=True, exist_ok=True)
        with self.file.open("ab") as out:
            # Behind a line that was cut off.
            out.write(b"\n" * _is_cut(self.file) + msgspec.json.encode(kept) + b"\n")


def _is_cut(file: Path) -> bool:
    text = file.read_bytes()
    return bool(text) and not text.endswith(b"\n")


def search(
    case: AnyCase,
    builds: Sequence[Candidate],
    memory: Memory,
    limits: Limits,
    show: Callable[[str], None],
) -> ByBuild:
    """Run ``case`` on as few of ``builds``, the oldest first, as show where its outcome changes.

    ``show`` is called with a line for each that runs, and for each outcome.

    Raises:
        OSError: the file of ``memory`` cannot be written.
    """
    ran: dict[int, OnBuild] = {}
    search = halving(len(builds))
    try:
        at = next(search)
        while True:
            candidate = builds[at]
            kept = memory.get(candidate)
            outcome = kept or _on(case, candidate, limits, show)
            if kept is None:
                memory.put(candidate, outcome)
            ran[at] = outcome
            show("; ".join(_told(outcome, ran_before=kept is not None)))
            at = search.send(outcome.counts)
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
