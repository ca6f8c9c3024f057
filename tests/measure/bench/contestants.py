"""The ways to run cases that are compared: the naive loop, a fork a case, and the engine."""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

import msgspec

from relaxcheck.generators.core.case import AnyCase
from relaxcheck.harness.campaign.campaign import Campaign, Plan
from relaxcheck.harness.campaign.drawing import RuledOut
from relaxcheck.harness.journal.journal import DRAWN, Journal
from relaxcheck.harness.releases.environment import single_threaded
from relaxcheck.harness.workers.jobs import Limits
from relaxcheck.harness.workers.pool import Pool
from tests.measure.bench.spent import Spent, total
from tests.measure.bench.subjects import CHEAP, EXPORTED, FAMILIES, MODELS

_TICK = os.sysconf("SC_CLK_TCK")


CAMPAIGN = 3000
"""Cases of a campaign of some minutes, over which what it does once is spread."""

Contestant = Callable[[Sequence[AnyCase]], Spent]
"""Runs cases and says what that cost."""


class Solitary:
    """A contestant of ``tests.measure.bench.solitary``. Use as a context manager."""

    def __init__(self, name: str):
        # A file: a pipe that nobody reads would stop the process.
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.measure.bench.solitary", name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env=single_threaded(),
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            assert stream is not None
            stream.close()
        self._errors.close()

    def __call__(self, cases: Sequence[AnyCase]) -> Spent:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(msgspec.json.encode(list(cases)) + b"\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            code = self._process.wait()
            self._errors.seek(0)
            last = self._errors.read().decode(errors="replace").strip().rpartition("\n")[2]
            raise RuntimeError(f"a contestant ended with exit code {code}: {last}")
        return msgspec.json.decode(line, type=Spent)


@dataclass(frozen=True)
class _Redrawn(Plan):
    """A campaign of cases that were drawn before."""

    drawn: tuple[AnyCase, ...] = field(default=())

    def cases(self, ruled_out: RuledOut = lambda family, cell, other: None) -> Iterator[AnyCase]:
        return iter(self.drawn)


class Engine:
    """Campaigns on one pool of ``size`` workers. Use as a context manager.

    Each turn is a campaign: of the seconds in which it opens, its cases pay their share of a
    campaign of ``CAMPAIGN``. ``per_case`` is what it took to draw a case, which counts as well.
    """

    def __init__(self, size: int, limits: Limits, per_case: float):
        self._per_case = per_case
        self._stack = ExitStack()
        self._pool = self._stack.enter_context(Pool(size, limits))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def __call__(self, cases: Sequence[AnyCase]) -> Spent:
        plan = _Redrawn(
            (*FAMILIES, *CHEAP, *MODELS, *EXPORTED),
            0,
            float("inf"),
            (True,),
            len(cases),
            drawn=tuple(cases),
        )
        with tempfile.TemporaryDirectory() as folder, Journal(Path(folder)) as journal:
            began = time.process_time()
            campaign = Campaign(plan, self._pool, journal, ())
            opening = (time.process_time() - began) / CAMPAIGN * len(cases)
            began, wall = _cpu(), time.monotonic()
            state = campaign.run(lambda state: None)
            spent = Spent(
                state.cases,
                state.checks,
                _cpu() - began + self._per_case * len(cases) + opening,
                wall=time.monotonic() - wall + opening,
            )
            outcomes = [
                entry.outcome for entry in journal.cases(DRAWN) if entry.outcome is not None
            ]
        failed = sum(outcome.verdict.is_failure for outcome in outcomes)
        if len(outcomes) != len(cases) or failed:
            raise RuntimeError(f"{failed} of {len(cases)} cases failed, {len(outcomes)} ended")
        return spent + total(Spent(parts=outcome.seconds) for outcome in outcomes)


def _cpu() -> float:
    """CPU seconds of this process, of its children, and of theirs, since they began."""
    return _of(os.getpid()) / _TICK


def _of(pid: int) -> int:
    # After the name, which may hold anything: state is field 0, utime to cstime are 11 to 14.
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return sum(map(int, fields[11:15])) + sum(_of(int(child)) for child in children)
