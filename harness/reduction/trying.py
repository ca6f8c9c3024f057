"""Running a reduction: all workers busy with candidates, the result the same with any number.

Candidates are run ahead of being needed; of those that keep the failure the first in their order
counts. What was run ahead in vain is remembered, and not counted before it is asked for.
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

from generators.cases import AnyCase
from generators.program import CaseError, write
from harness.finding import Trials
from harness.jobs import Job
from harness.outcome import Outcome, Verdict
from harness.pool import Pool
from harness.protocol import Ask
from harness.reduction.search import Hit, Keeps, Reduction, Search, same_standing

_POLL_SECONDS = 0.2

INTERESTING = Outcome(Verdict.OPAQUE_CRASH, "run", "predicate", "interesting")
"""What stands for the outcome of a case that a command finds interesting."""


class Trier(Protocol):
    """Runs candidates. ``width`` of them at once is what it has room for."""

    @property
    def width(self) -> int:
        """How many candidates run at once."""

    def submit(self, case: AnyCase) -> None:
        """Start to run ``case``."""

    def ended(self) -> Iterator[tuple[AnyCase, Outcome]]:
        """The cases that ended since it was asked last; waits a little for one."""

    def again(self, case: AnyCase) -> Outcome:
        """What comes of ``case`` once more, in a new process and without any shortcut."""


class InWorkers:
    """Runs candidates in isolated workers, what the reference lets pass of them."""

    def __init__(self, pool: Pool):
        self._pool = pool
        self._died: dict[str, Outcome] = {}

    @property
    def width(self) -> int:
        """One a worker."""
        return self._pool.size

    def submit(self, case: AnyCase) -> None:
        """Start to run ``case``."""
        self._pool.submit(Job(case, alone=True, ask=Ask.VETTED))

    def ended(self) -> Iterator[tuple[AnyCase, Outcome]]:
        """The cases that ended since it was asked last; waits a little for one."""
        for job, outcome in self._pool.wait(_POLL_SECONDS):
            before = self._died.pop(job.case.identifier, None)
            if before is not None:
                yield job.case, msgspec.structs.replace(before, reference=outcome.reference)
            elif outcome.reference is None:
                # What the reference had said went with the worker.
                self._died[job.case.identifier] = outcome
                self._pool.submit(Job(job.case, alone=True, ask=Ask.VET), first=True)
            else:
                yield job.case, outcome

    def again(self, case: AnyCase) -> Outcome:
        """What comes of ``case`` once more, in a new process and without any shortcut."""
        plain = Job(case, fresh=True)
        self._pool.submit(plain, first=True)
        # What was run ahead may still be running: nothing is left over for whoever comes next.
        ended = list(self._pool.drain())
        return next(outcome for job, outcome in ended if job is plain)


class ByCommand:
    """Has a command say of each candidate whether it is interesting, by exit code 0.

    Use as a context manager. The command is started by a shell, as many times at once as there are
    workers; the candidate's file takes the place of ``{}`` in it, or is its last argument. It is
    not asked about what the reference says otherwise of than of the start, or says nothing of
    because the worker died of asking it.
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
        """One a worker."""
        return self._pool.size

    def submit(self, case: AnyCase) -> None:
        """Have the reference look at ``case``, then the command."""
        self._pool.submit(Job(case, alone=True, ask=Ask.VET))

    def ended(self) -> Iterator[tuple[AnyCase, Outcome]]:
        """The cases that ended since it was asked last; waits a little for one."""
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
        """What the command says of ``case`` once more: each time it is a process of its own."""
        vetted = Outcome(Verdict.PASS)
        return self._ask(case, vetted)

    def _ask(self, case: AnyCase, vetted: Outcome) -> Outcome:
        """``INTERESTING``, or a pass; a command that takes too long found nothing interesting.

        Raises:
            OSError: there is no room for the candidate's file, or no shell.
        """
        path = Path(self._folder.name) / f"{case.identifier}.json"
        write(case, path)
        line = self._command.replace("{}", shlex.quote(str(path)))
        # A session of its own: Ctrl-C is for the reduction, and all that it started ends with it.
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
            # The command may have taken it away.
            path.unlink(missing_ok=True)
        interesting = INTERESTING if code == 0 else Outcome(Verdict.PASS)
        return msgspec.structs.replace(interesting, reference=vetted.reference)


@dataclass(slots=True)
class Budget:
    """``tries`` to run, ``seconds`` to do it in; ``stop`` says that it is to end at once."""

    tries: int
    seconds: float
    stop: Callable[[], object]
    _end: float = field(init=False)

    def __post_init__(self) -> None:
        self._end = time.monotonic() + self.seconds

    def over(self, reduction: Reduction) -> str:
        """Why ``reduction`` is to end now; nothing if it may go on."""
        if self.stop():
            return "interrupted"
        if reduction.spent(self.tries):
            return f"{self.tries} tries are used up"
        if time.monotonic() > self._end:
            return f"{self.seconds / 60:g} minutes are over"
        return ""


@dataclass(slots=True)
class Trying:
    """A reduction on its way. ``show`` is told of each candidate that was asked for."""

    trier: Trier
    reduction: Reduction
    keeps: Keeps
    budget: Budget
    show: Callable[[Reduction], None]
    _outcomes: dict[str, Outcome] = field(default_factory=dict)
    _started: set[str] = field(default_factory=set)

    def walk(self, trials: Trials[object]) -> str:
        """Run ``trials`` to their end; why they ended before, if they did."""
        try:
            case = next(trials)
            while True:
                _, why = self._first(iter((case,)))
                if why:
                    return why
                case = trials.send(self._outcomes[case.identifier])
        except StopIteration:
            return ""

    def search(self, search: Search) -> str:
        """Run ``search`` to its end; why it ended before, if it did."""
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

    def _first(self, candidates: Iterator[AnyCase]) -> tuple[Hit | None, str]:
        """The first of ``candidates`` that keeps the failure, or why that cannot be said."""
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
                self._outcomes |= {case.identifier: one for case, one in self.trier.ended()}
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
    """What comes of ``case`` alone."""
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
