"""The engine's side of the workers: give them cases, get outcomes, survive whatever they do.

A worker that dies, hangs or outgrows its memory is replaced, and its current case gets the verdict
that says so, with the stage from the shared marker.
"""

import selectors
import signal
import time
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import replace
from types import TracebackType
from typing import Self

import msgspec

from relaxcheck.extensions.entry_points import record
from relaxcheck.generators.core.case import encode
from relaxcheck.harness.events import Event, EventType
from relaxcheck.harness.kinds import decode_record
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.harness.releases.releases import Release, own
from relaxcheck.harness.wording import plural
from relaxcheck.harness.workers.endings import may_be_spoilt, outcome_of
from relaxcheck.harness.workers.extending import check_all
from relaxcheck.harness.workers.jobs import Job, Limits, Queued, Worker, limits_for
from relaxcheck.harness.workers.marker import IDLE, Mark, mark
from relaxcheck.harness.workers.processes import LONGEST_ANSWER, ZygoteGone
from relaxcheck.harness.workers.protocol import BundledFix, Order, Reply
from relaxcheck.harness.workers.starting import PoolError, launched, wait_for

_POLL_SECONDS = 0.2
_DEATH_SECONDS = 1.0
"""The time that a process may take to die after its socket closed."""
_MOST_STARTS = 3
"""The number of starts of a case whose workers end for reasons that are not the case's."""

_EVENTS = {Verdict.TIMEOUT: EventType.TIMED_OUT, Verdict.OUT_OF_MEMORY: EventType.OUTGREW}


class Pool:
    """``size`` workers forked from one zygote. Use as a context manager.

    ``zygote`` is the module that the workers' parent runs with ``arguments``:
    ``harness.workers.zygote``, or one that patches something (a planted bug) before it calls that
    module's ``main``. Workers run in the environment of ``release``, by default the engine's own.
    ``early`` returns while the zygote still imports: call ``ready`` before anything else.

    Raises:
        PoolError: the zygote does not start (TVM or an oracle cannot be imported).
    """

    environment: dict[str, str]
    fixes: tuple[BundledFix, ...]

    def __init__(
        self,
        size: int,
        limits: Limits | None = None,
        zygote: str = "relaxcheck.harness.workers.zygote",
        arguments: Sequence[str] = (),
        release: Release | None = None,
        *,
        early: bool = False,
    ):
        self.size = size
        self.limits = limits or Limits()
        self._module = zygote
        self._arguments = arguments
        self.release = release or own()
        self._waiting: deque[Queued] = deque()
        self._given_up: list[tuple[Job, Outcome]] = []
        self._events: list[Event] = []
        self._workers: list[Worker] = []
        self._selector = selectors.DefaultSelector()
        self._kinds: dict[str, None] = {}
        self._zygote = launched(self._module, self._arguments, self.release)
        self._ready = False
        if not early:
            self.ready()

    def ready(self) -> None:
        """Wait until workers can be forked. Raises ``PoolError`` if the zygote does not start."""
        if self._ready:
            return
        wait_for(self._zygote, self.release)
        self._ready = True
        self.environment, self.fixes = self._zygote.environment, self._zygote.fixes
        self._broken = self._zygote.broken
        record(self._broken)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def fileno(self) -> int:
        """A descriptor that becomes readable when a worker answers or ends."""
        return self._selector.fileno()

    @property
    def running(self) -> int:
        """The number of cases that workers have and did not answer yet."""
        return sum(len(worker.unanswered) for worker in self._workers)

    @property
    def waiting(self) -> int:
        """The number of cases that wait for a worker."""
        return len(self._waiting) + len(self._given_up)

    @property
    def appetite(self) -> int:
        """The number of cases that keeps all workers busy, with as many waiting."""
        return 2 * self.size * self.limits.together

    @property
    def pids(self) -> tuple[int, ...]:
        """The process of each worker."""
        return tuple(worker.process.pid for worker in self._workers)

    @property
    def busy(self) -> tuple[str, ...]:
        """The activity of each worker: the family and stage of its case, or ``idle``."""
        return tuple(
            f"{worker.on.job.case.family}: {worker.process.mark.stage}" if worker.on else "idle"
            for worker in self._workers
        )

    def submit(self, *jobs: Job, first: bool = False) -> None:
        """Queue ``jobs``, ``first`` or last. ``ExtensionError``: one needs a broken entry point."""
        check_all((job.case for job in jobs), self._broken)
        queued = [Queued(job) for job in jobs]
        self._kinds.update((job.case.kind, None) for job in jobs)
        if first:
            self._waiting.extendleft(reversed(queued))
        else:
            self._waiting.extend(queued)
        self._feed()

    def take_events(self) -> list[Event]:
        """The events since the last call."""
        events, self._events = self._events, []
        return events

    def wait(self, timeout: float) -> Iterator[tuple[Job, Outcome]]:
        """The jobs that end within ``timeout`` seconds; returns as soon as there is one."""
        end = time.monotonic() + timeout
        while True:
            ended = list(self._poll(min(_POLL_SECONDS, max(0.0, end - time.monotonic()))))
            self._feed()
            ended += self._given_up
            self._given_up = []
            yield from ended
            if ended or time.monotonic() >= end or not self.running:
                return

    def drain(self) -> Iterator[tuple[Job, Outcome]]:
        """Every job that is queued or running, as each ends."""
        while self.running or self.waiting:
            yield from self.wait(_POLL_SECONDS)

    def close(self) -> None:
        """End all workers and the zygote, whatever they are doing, and all that they started."""
        self._abandon()
        self._zygote.close(at_once=not self._ready)
        self._selector.close()

    def _restart(self) -> None:
        """Start another zygote; run the interrupted cases of its workers again."""
        interrupted = [queued for worker in self._workers for queued in worker.left]
        self._abandon()
        self._note(EventType.RESTARTED, self._zygote.close())
        self._again(interrupted, "the workers' parent process ended")
        self._zygote = launched(self._module, self._arguments, self.release)
        wait_for(self._zygote, self.release)

    def _abandon(self) -> None:
        for worker in list(self._workers):
            worker.process.kill()
            self._release(worker)

    def _release(self, worker: Worker) -> None:
        self._workers.remove(worker)
        self._selector.unregister(worker.process.connection)
        self._selector.unregister(worker.process.descriptor)
        worker.process.close()

    def _again(self, interrupted: Sequence[Queued], reason: str) -> None:
        """Queue ``interrupted`` jobs once more, for a ``reason`` that is not theirs."""
        for queued in reversed(interrupted):
            if queued.starts < _MOST_STARTS:
                self._waiting.appendleft(queued)
            else:
                message = f"given up after {queued.starts} starts: {reason}"
                outcome = Outcome(Verdict.HARNESS_ERROR, "read", None, message)
                self._given_up.append((queued.job, outcome))

    def _note(self, kind: EventType, text: str) -> None:
        self._events.append(Event(kind, text))

    def _feed(self) -> None:
        while self._waiting:
            worker = self._free_worker(self._waiting[0].job.fresh)
            if worker is None:
                return
            jobs = self._next()
            worker.unanswered, worker.assigned = deque(jobs), len(jobs)
            worker.begin(Mark(IDLE), self.limits)
            cases = tuple(msgspec.Raw(encode(queued.job.case)) for queued in jobs)
            first = jobs[0].job
            order = Order(cases, first.fresh, first.ask, first.tracing, first.fixes)
            if not worker.process.send(msgspec.json.encode(order) + b"\n"):
                # It died while idle: that is no verdict on the cases, so they go to another.
                worker.unanswered.clear()
                self._again(jobs, "its workers ended before it began")
                self._lose(worker, "ended")

    def _next(self) -> list[Queued]:
        """The job that has waited longest, with others that may run together with it."""
        first = self._waiting.popleft()
        jobs = [first]
        if first.job.joins:
            others = [waiting for waiting in self._waiting if waiting.job.joins == first.job.joins]
            # The last are shared out, so that no worker idles while another has a group left.
            share = -(-(1 + len(others)) // self.size)
            jobs += others[: min(self.limits.together, share) - 1]
            for queued in jobs[1:]:
                self._waiting.remove(queued)
        return [replace(queued, starts=queued.starts + 1) for queued in jobs]

    def _free_worker(self, fresh: bool) -> Worker | None:
        for worker in self._workers:
            if not worker.unanswered and not (fresh and worker.done):
                return worker
        if len(self._workers) >= self.size:
            idle = next((worker for worker in self._workers if not worker.unanswered), None)
            if idle is None:
                return None
            self._discard(idle)
        return self._fork()

    def _fork(self) -> Worker:
        for _ in range(_MOST_STARTS):
            try:
                process = self._zygote.fork(self.limits.memory, tuple(self._kinds))
            except ZygoteGone:
                self._restart()
                continue
            worker = Worker(process)
            self._workers.append(worker)
            self._selector.register(process.connection, selectors.EVENT_READ, worker)
            self._selector.register(process.descriptor, selectors.EVENT_READ, worker)
            return worker
        raise PoolError("the workers' parent process ends whenever it is to start one")

    def _poll(self, timeout: float) -> Iterator[tuple[Job, Outcome]]:
        for worker in dict.fromkeys(key.data for key, _ in self._selector.select(timeout)):
            # A worker may be gone since the start of this round.
            if worker in self._workers:
                yield from self._attend(worker)
        self._enforce_limits()

    def _attend(self, worker: Worker) -> Iterator[tuple[Job, Outcome]]:
        # In this order: once it is seen to be dead, all that it sent is there. Its death does not
        # close its socket if one of its children holds that.
        dead = worker.process.ended()
        closed = worker.process.receive()
        received = worker.process.received
        if received and not worker.unanswered:
            self._lose(worker, "answered without being asked")
        while worker in self._workers and (b"\n" in received or len(received) > LONGEST_ANSWER):
            yield self._finish(worker)
        if worker in self._workers and (dead or closed):
            yield from self._bury(worker)

    def _finish(self, worker: Worker) -> tuple[Job, Outcome]:
        job = worker.unanswered.popleft().job
        answer, _, more = worker.process.received.partition(b"\n")
        del worker.process.received[: len(answer) + 1]
        try:
            if more and not worker.unanswered:
                raise msgspec.DecodeError("there is something behind it")
            outcome = decode_record(bytes(answer), Outcome)
            readable = True
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            message = f"unreadable answer: {error}: {bytes(answer[:80])!r}"
            outcome = Outcome(Verdict.HARNESS_ERROR, worker.process.mark.stage, None, message)
            readable = False
        worker.done += 1
        if not readable:
            # Its further answers cannot be separated.
            others = worker.left
            worker.unanswered.clear()
            self._again(others, "its worker answered what cannot be read")
            self._lose(worker, "answered what cannot be read")
        elif not worker.unanswered:
            self._rest(worker, job)
        return job, outcome

    def _rest(self, worker: Worker, last: Job) -> None:
        """Return ``worker``, which has answered everything, to use, or end it."""
        mark(worker.process.marker, IDLE)
        # A worker that is being killed may still answer; it takes no other case with it.
        if last.fresh or worker.kill_reason is not None:
            self._discard(worker)
        elif worker.done >= self.limits.cases or worker.process.growth > self.limits.kept:
            grown = worker.process.growth >> 20
            self._note(
                EventType.RECYCLED,
                f"after {plural(worker.done, 'case')}, {grown} MiB larger than at first",
            )
            self._discard(worker)

    def _lose(self, worker: Worker, how: str) -> None:
        """Replace a worker that has no case."""
        self._note(EventType.LOST, f"it {how} after {plural(worker.done, 'case')}")
        self._discard(worker)

    def _bury(self, worker: Worker) -> Iterator[tuple[Job, Outcome]]:
        """Replace a worker that is gone; yield the outcome of its current case, if it had one.

        Its other cases go to another worker. If it worked on all of them at once, each of them runs
        alone.
        """
        culprit, reason = worker.on, worker.kill_reason
        if culprit is None:
            self._lose(worker, "ended")
            return
        by_itself = worker.process.ended(_DEATH_SECONDS)
        now = worker.process.mark
        words = worker.process.last_words
        unanswered = worker.left
        ended = self._discard(worker)
        if ended is None:
            self._again(unanswered, "the workers' parent process ended")
            return
        if now.number is None and len(unanswered) > 1:
            self._note(
                EventType.LOST, f"it ended in {now.stage}, on {len(unanswered)} cases at once"
            )
            for queued in reversed(unanswered):
                self._waiting.appendleft(Queued(replace(queued.job, alone=True)))
            return
        if now.stage == IDLE and reason is None:
            self._note(EventType.LOST, "it ended before it began with its cases")
            self._again(unanswered, "its workers ended before it began")
            return
        unanswered.remove(culprit)
        self._waiting.extendleft(reversed(unanswered))
        job = culprit.job
        case = f"{job.case.family} case {job.case.identifier} in {now.stage}"
        killed = by_itself and reason is None and ended.signal == signal.SIGKILL
        if killed and culprit.starts == 1:
            # No case kills its worker this way: it was the kernel, short of memory, or a person.
            self._note(EventType.KILLED, case)
            self._again([culprit], "its workers were killed")
            return
        seen = ended if by_itself else None
        outcome = outcome_of(now.stage, limits_for(job, self.limits, now), reason, seen, words)
        first_line = outcome.message.splitlines()[0]
        spoilt = reason is None and may_be_spoilt(now.stage, seen, words)
        if spoilt and worker.assigned + worker.done > 1 and culprit.starts == 1:
            # An earlier case may have written there. A fresh process shows whose fault it is.
            self._note(EventType.CORRUPTED, f"{case}: {first_line}")
            self._again([replace(culprit, job=replace(job, alone=True, fresh=True))], "it died")
            return
        self._note(_EVENTS[reason] if reason else EventType.DIED, f"{case}: {first_line}")
        yield job, outcome

    def _discard(self, worker: Worker) -> Reply | None:
        """End ``worker``; its exit, or None if the zygote was gone and had to be restarted."""
        pid = worker.process.pid
        # Harmless to a dead worker, and nobody waits for one that only closed its socket.
        worker.process.kill()
        self._release(worker)
        try:
            return self._zygote.reap(pid)
        except ZygoteGone:
            self._restart()
            return None

    def _enforce_limits(self) -> None:
        for worker in self._workers:
            if not worker.unanswered or worker.kill_reason is not None:
                continue
            worker.follow(self.limits)
            if worker.is_late:
                worker.kill_reason = Verdict.TIMEOUT
            elif worker.process.growth > self.limits.memory:
                worker.kill_reason = Verdict.OUT_OF_MEMORY
            else:
                continue
            worker.process.kill()
