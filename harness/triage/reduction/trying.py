"""Running a reduction: all workers try candidates; the result does not depend on their number.

Candidates run ahead of being needed; the first in order that keeps the failure counts. Outcomes of
other candidates are kept, and counted when the search asks for them.
"""

import os
import shlex
import signal
import subprocess
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import msgspec

from relaxcheck.generators.core.case import AnyCase, CaseError, write
from relaxcheck.harness.kind import Trials
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.harness.triage.reduction.search import Hit, Keeps, Reduction, Search, same_standing
from relaxcheck.harness.workers.jobs import Job
from relaxcheck.harness.workers.pool import Pool
from relaxcheck.harness.workers.protocol import Ask
from relaxcheck.harness.workers.rooms import Runs

_POLL_SECONDS = 0.2

INTERESTING = Outcome(Verdict.OPAQUE_CRASH, "run", "predicate", "interesting")
"""The outcome that stands for a case which a command finds interesting."""


class Trier(Protocol):
    """Runs candidates, ``width`` of them at once."""

    @property
    def width(self) -> int:
        """The number of candidates that run at once."""

    def submit(self, case: AnyCase) -> None:
        """Start running ``case``."""

    def ended(self) -> Iterator[tuple[AnyCase, Outcome]]:
        """The cases that ended since the last call; waits a little for one."""

    def again(self, case: AnyCase) -> Outcome:
        """The outcome of ``case`` in a new process and without any shortcut."""


class InWorkers:
    """Runs the candidates that the reference accepts in isolated workers."""

    def __init__(self, pool: Runs):
        self._pool = pool
        self._died: dict[str, Outcome] = {}

    @property
    def width(self) -> int:
        """One for each worker."""
        return self._pool.size

    def submit(self, case: AnyCase) -> None:
        """Start running ``case``."""
        self._pool.submit(Job(case, alone=True, ask=Ask.VETTED))

    def ended(self) -> Iterator[tuple[AnyCase, Outcome]]:
        """The cases that ended since the last call; waits a little for one."""
        for job, outcome in self._pool.wait(_POLL_SECONDS):
            before = self._died.pop(job.case.identifier, None)
            if before is not None:
                yield job.case, msgspec.structs.replace(before, reference=outcome.reference)
            elif outcome.reference is None:
                # The reference's answer was lost with the worker.
                self._died[job.case.identifier] = outcome
                self._pool.submit(Job(job.case, alone=True, ask=Ask.VET), first=True)
            else:
                yield job.case, outcome

    def again(self, case: AnyCase) -> Outcome:
        """The outcome of ``case`` in a new process and without any shortcut."""
        plain = Job(case, fresh=True)
        self._pool.submit(plain, first=True)
        # Candidates that ran ahead may still run: leave nothing for the next user of the pool.
        ended = list(self._pool.drain())
        return next(outcome for job, outcome in ended if job is plain)


class ByCommand:
    """Asks a command if a candidate is interesting: it is if the command exits with 0.

    Use as a context manager. A shell runs the command, as many at once as there are workers; the
    candidate's file replaces ``{}`` in it, or is its last argument. The command does not see
    candidates that the reference judges otherwise than the start, or that killed the worker which
    asked the reference.
    """

    def __init__(self, command: str, pool: Pool, seconds: float):
        self._command = command if "{}" in command else f"{command} {{}}"
        self._pool = pool
        self._seconds = seconds
        self._start: Outcome | None = None
        self._asked: dict[Future[Outcome], AnyCase] = {}
        self._running: set[int] = set()
        self._over = False

    def __enter__(self) -> "ByCommand":
        self._threads = ThreadPoolExecutor(self._pool.size)
        self._folder = tempfile.TemporaryDirectory(prefix="relaxcheck-reduce-")
        return self

    def __exit__(self, *_: object) -> None:
        self._over = True
        for pid in tuple(self._running):
            with suppress(ProcessLookupError):
                os.killpg(pid, signal.SIGKILL)
        self._threads.shutdown(cancel_futures=True)
        self._folder.cleanup()

    @property
    def width(self) -> int:
        """One for each worker."""
        return self._pool.size

    def submit(self, case: AnyCase) -> None:
        """Ask the reference about ``case``, then the command."""
        self._pool.submit(Job(case, alone=True, ask=Ask.VET))

    def ended(self) -> Iterator[tuple[AnyCase, Outcome]]:
        """The cases that ended since the last call; waits a little for one."""
        for job, vetted in self._pool.wait(0 if self._asked else _POLL_SECONDS):
            self._start = self._start or vetted
            if vetted.reference is not None and same_standing(vetted, self._start):
                self._asked[self._threads.submit(self._ask, job.case, vetted)] = job.case
            else:
                yield job.case, vetted
        if self._asked:
            seconds = 0.01 if self._pool.running else _POLL_SECONDS
            for future in wait(self._asked, seconds, FIRST_COMPLETED).done:
                yield self._asked.pop(future), future.result()

    def again(self, case: AnyCase) -> Outcome:
        """The command's answer about ``case`` once more, in a process of its own."""
        vetted = Outcome(Verdict.PASS)
        return self._ask(case, vetted)

    def _ask(self, case: AnyCase, vetted: Outcome) -> Outcome:
        """``INTERESTING``, or a pass, also if the command takes too long.

        Raises:
            OSError: there is no room for the candidate's file, or no shell.
        """
        path = Path(self._folder.name) / f"{case.identifier}.json"
        write(case, path)
        line = self._command.replace("{}", shlex.quote(str(path)))
        # A session of its own: Ctrl-C goes to the reduction alone, and ends the whole session.
        process = subprocess.Popen(
            line,
            shell=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        self._running.add(process.pid)
        try:
            if self._over:
                os.killpg(process.pid, signal.SIGKILL)
            code = process.wait(self._seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            code = process.wait()
        finally:
            self._running.discard(process.pid)
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            # The command may have removed it.
            path.unlink(missing_ok=True)
        interesting = INTERESTING if code == 0 else Outcome(Verdict.PASS)
        return msgspec.structs.replace(interesting, reference=vetted.reference)


@dataclass(slots=True)
class Budget:
    """The limits of a reduction: ``tries``, ``seconds``, and ``stop``, which ends it at once."""

    tries: int
    seconds: float
    stop: Callable[[], object]
    _end: float = field(init=False)

    def __post_init__(self) -> None:
        self._end = time.monotonic() + self.seconds

    def over(self, reduction: Reduction) -> str:
        """The reason that ``reduction`` has to end now; empty if it may continue."""
        if self.stop():
            return "interrupted"
        if reduction.spent(self.tries):
            return f"{self.tries} tries are used up"
        if time.monotonic() > self._end:
            return f"{self.seconds / 60:g} minutes are over"
        return ""


@dataclass(slots=True)
class Trying:
    """A running reduction. ``show`` is called after each candidate that was asked for."""

    trier: Trier
    reduction: Reduction
    keeps: Keeps
    budget: Budget
    show: Callable[[Reduction], None]
    _outcomes: dict[str, Outcome] = field(default_factory=dict)
    _started: set[str] = field(default_factory=set)

    def walk(self, trials: Trials[object]) -> str:
        """Run ``trials`` to their end; the reason that they ended early, if they did."""
        try:
            case = next(trials)
            while True:
                _, why = self._first(iter((case,)))
                if why:
                    return why
                case = trials.send(self._outcomes[case.identifier])
        except StopIteration:
            return ""

    def choose(self, trials: Trials[Hit | None]) -> Hit | None:
        """Run ``trials``, and move to the hit that they end at; None: to none, or not in time."""
        try:
            case = next(trials)
            while True:
                outcome = self._outcome(case)
                if outcome is None:
                    return None
                case = trials.send(outcome)
        except StopIteration as end:
            hit: Hit | None = end.value
            if hit is not None:
                self.reduction.move(hit)
            return hit

    def search(self, search: Search) -> str:
        """Run ``search`` to its end; the reason that it ended early, if it did."""
        try:
            candidates = next(search)
            while True:
                hit, why = self._first(candidates)
                if why:
                    return why
                candidates = search.send(hit)
        except StopIteration:
            self.reduction.minimal = True
            return ""

    def prefer(self, candidates: Iterator[AnyCase]) -> None:
        """Move to the first of ``candidates`` that keeps the failure, if the budget allows."""
        hit, _ = self._first(candidates)
        self.reduction.familiar = hit is not None

    def _outcome(self, case: AnyCase) -> Outcome | None:
        """The outcome of ``case``, which counts as a try; None if the budget is used up."""
        keeps, self.keeps = self.keeps, lambda case, outcome: False
        _, why = self._first(iter((case,)))
        self.keeps = keeps
        return None if why else self._outcomes[case.identifier]

    def _first(self, candidates: Iterator[AnyCase]) -> tuple[Hit | None, str]:
        """The first of ``candidates`` that keeps the failure, or why there is no answer."""
        ahead: deque[AnyCase] = deque()
        number = 0
        while True:
            while len(ahead) < self.trier.width and (case := next(candidates, None)) is not None:
                ahead.append(case)
                if case.identifier not in self._started:
                    self._started.add(case.identifier)
                    self.trier.submit(case)
            if not ahead:
                return None, ""
            if why := self.budget.over(self.reduction):
                return None, why
            outcome = self._outcomes.get(ahead[0].identifier)
            if outcome is None:
                self._outcomes |= {case.identifier: ended for case, ended in self.trier.ended()}
                continue
            case = ahead.popleft()
            self.reduction.count(outcome)
            if self.keeps(case, outcome):
                hit = Hit(number, case, outcome)
                self.reduction.move(hit)
                self.show(self.reduction)
                return hit, ""
            self.show(self.reduction)
            number += 1


def outcome_of(trier: Trier, case: AnyCase) -> Outcome:
    """The outcome of ``case``."""
    trier.submit(case)
    while True:
        for _, outcome in trier.ended():
            return outcome


def check_command(command: str) -> Sequence[str]:
    """The words of ``command``.

    Raises:
        CaseError: it has none, or a quote is not closed.
    """
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise CaseError(f"--predicate {command!r}: {error}") from error
    if not words:
        raise CaseError("--predicate: there is no command")
    return words
