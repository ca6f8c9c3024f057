"""Everything that is measured, contestants taking turns on the same cases."""

import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from itertools import islice
from pathlib import Path

import msgspec

from relaxcheck.generators.core.case import AnyCase
from relaxcheck.harness.campaign.drawing import stream
from relaxcheck.harness.outcomes.outcome import Verdict
from relaxcheck.harness.releases.environment import versions
from relaxcheck.harness.workers.jobs import Job, Limits
from relaxcheck.harness.workers.pool import Pool
from tests.measure.bench.contestants import CAMPAIGN, Contestant, Engine, Solitary
from tests.measure.bench.record import ended
from tests.measure.bench.spent import Spent
from tests.measure.bench.subjects import (
    CHEAP,
    FAMILIES,
    SUBJECTS,
    Subject,
    chunks,
    drawn,
    invalid,
)

_POLL_SECONDS = 0.05

Show = Callable[[str, float], None]

NAIVE, FORK, EXECUTE, ENGINE, PAIR = "naive", "fork", "execute", "engine", "pair"
"""The naive loop; a fork a case; a case without the engine; the engine with one worker, and two."""


class Measured(msgspec.Struct, frozen=True):
    """The time of each contestant on each subject, turn by turn, and other measurements.

    In the same turn all have the same cases. ``rejected`` is what the engine spent on invalid
    programs; ``drawing`` CPU seconds a case, ``first_verdict`` seconds from the start.
    """

    cases: int
    seed: int
    versions: dict[str, str]
    spent: dict[str, dict[str, list[Spent]]]
    rejected: Spent
    drawing: float
    first_verdict: float


def measure(
    count: int, chunk: int, seed: int, show: Show, subjects: Sequence[Subject] = SUBJECTS
) -> Measured:
    """Measure ``count`` cases of each subject, drawn with ``seed``, ``chunk`` at a time in turn."""
    # Before cases are chosen, which leaves behind what drawing works out once.
    drawing = _drawing(seed)
    cases = {subject.name: _chosen(subject, count, seed, show) for subject in subjects}
    with ExitStack() as stack:
        contestants: dict[str, Contestant] = {
            NAIVE: stack.enter_context(Solitary(NAIVE)),
            EXECUTE: stack.enter_context(Solitary(EXECUTE)),
            FORK: stack.enter_context(Engine(1, Limits(cases=1, together=1), drawing)),
            ENGINE: stack.enter_context(Engine(1, Limits(), drawing)),
            PAIR: stack.enter_context(Engine(2, Limits(), drawing)),
        }
        _warm(contestants, cases)
        spent: dict[str, dict[str, list[Spent]]] = {}
        turns = sum(-(-len(some) // chunk) for some in cases.values()) * len(contestants)
        done = 0
        for subject, some in cases.items():
            spent[subject] = {name: [] for name in contestants}
            for turn, part in enumerate(chunks(some, chunk)):
                # Another one begins each time: none always comes when the machine is busy.
                order = list(contestants)[turn % len(contestants) :]
                order += list(contestants)[: turn % len(contestants)]
                for name in order:
                    spent[subject][name].append(contestants[name](part))
                    done += 1
                    show(f"{subject}: {name}", done / turns)
    return Measured(
        count, seed, versions(), spent, _rejecting(count, seed), drawing, _first_verdict()
    )


def _chosen(subject: Subject, count: int, seed: int, show: Show) -> list[AnyCase]:
    """The first ``count`` cases of ``subject``; of those that pass, where only such are wanted.

    ``show`` hears how many of them there are; nothing is measured meanwhile.

    Raises:
        RuntimeError: of ``count`` cases none passes.
    """
    every = drawn(subject, seed)
    if not subject.passing:
        return list(islice(every, count))
    chosen: list[AnyCase] = []
    with Pool(1) as pool:
        while len(chosen) < count:
            pool.submit(*(Job(case, number) for number, case in enumerate(islice(every, count))))
            results = sorted(pool.drain(), key=lambda result: int(str(result[0].tag)))
            passing = [job.case for job, outcome in results if outcome.verdict is Verdict.PASS]
            if not passing:
                raise RuntimeError(f"{subject.name}: of {count} cases none passes on this TVM")
            chosen += passing
            show(f"choosing {subject.name}: {len(chosen)} of {count}", 0.0)
    return chosen[:count]


def _drawing(seed: int) -> float:
    """CPU seconds that a campaign takes to draw a case: the first of each family take longer."""
    began = time.process_time()
    deque(islice(stream((*FAMILIES, *CHEAP), seed), CAMPAIGN), maxlen=0)
    return (time.process_time() - began) / CAMPAIGN


def _warm(contestants: Mapping[str, Contestant], cases: Mapping[str, Sequence[AnyCase]]) -> None:
    """Have everything imported and everything started that is needed once."""
    for contestant in contestants.values():
        contestant([some[0] for some in cases.values()])


def _rejecting(count: int, seed: int) -> Spent:
    some = invalid(count, seed)
    with Pool(1) as pool:
        pool.submit(*(Job(case) for case in some[:8]))
        list(pool.drain())
        wall = time.monotonic()
        pool.submit(*(Job(case) for case in some))
        cpu = sum(sum(outcome.seconds.values()) for _, outcome in pool.drain())
    return Spent(len(some), cpu=cpu, wall=time.monotonic() - wall)


def _first_verdict() -> float:
    """Seconds from the start of a campaign until its journal has the first outcome."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "out")
        command = [sys.executable, "-m", "relaxcheck", "fuzz", "--cases=1", f"--out={out}"]
        began = time.monotonic()
        with subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        ) as campaign:
            while not ended(out):
                if campaign.poll() is not None and not ended(out):
                    raise RuntimeError("a campaign ended without a verdict")
                time.sleep(_POLL_SECONDS)
            return time.monotonic() - began
