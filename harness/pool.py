"""The engine's side of the workers: give them cases, get outcomes, survive whatever they do.

A worker that dies, hangs or outgrows its memory is replaced, and the case it was on gets the
verdict that says so, with the stage from the shared marker.
"""

import selectors
import signal
import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from types import TracebackType
from typing import Self

import msgspec

from generators.program import encode
from harness.events import Event, What
from harness.jobs import Job, Limits, Queued, Worker
from harness.marker import IDLE, mark
from harness.outcome import Outcome, Verdict, blamed_on_us
from harness.processes import LONGEST_ANSWER, Zygote, ZygoteGone
from harness.protocol import Order, Reply
from harness.releases import Release, advice, own

_POLL_SECONDS = 0.2
_DEATH_SECONDS = 1.0
"""How long a process may take to die after its socket closed; one that is still there lives on."""
_MOST_STARTS = 3
"""How often a case is given to a worker that then ends for a reason that is not the case's."""


_WHAT = {Verdict.TIMEOUT: What.TIMED_OUT, Verdict.OUT_OF_MEMORY: What.OUTGREW}


class PoolError(RuntimeError):
    """The workers cannot be started, in one line that says why."""


class Pool:
    """``size`` workers forked from one zygote. Use as a context manager.

    ``zygote`` is the module that the workers' parent runs: ``harness.zygote``, or one that patches
    something before it calls that module's ``main`` (a planted bug), as ``arguments`` say. Workers
    run in the environment of ``release``, the engine's own without one.

    Raises:
        PoolError: the zygote does not start (TVM or an oracle cannot be imported).
    """

    def __init__(
        self,
        size: int,
        limits: Limits | None = None,
        zygote: str = "harness.zygote",
        arguments: Sequence[str] = (),
        release: Release | None = None,
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
        self._zygote = self._started()
        self.environment = self._zygote.environment

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
        """What can be read as soon as a worker has something to say."""
        return self._selector.fileno()

    @property
    def running(self) -> int:
        """How many cases workers have been given."""
        return sum(len(worker.unanswered) for worker in self._workers)

    @property
    def waiting(self) -> int:
        """How many cases wait for a worker."""
        return len(self._waiting) + len(self._given_up)

    @property
    def appetite(self) -> int:
        """How many cases it takes to keep all workers busy, with as many waiting."""
        return 2 * self.size * self.limits.together

    @property
    def pids(self) -> tuple[int, ...]:
        """The process of each worker that is there."""
        return tuple(worker.process.pid for worker in self._workers)

    @property
    def busy(self) -> tuple[str, ...]:
        """What each worker does: its case's family and stage, or ``idle``."""
        return tuple(
            f"{worker.on.job.case.family}: {worker.process.mark.stage}" if worker.on else "idle"
            for worker in self._workers
        )

    def submit(self, *jobs: Job, first: bool = False) -> None:
        """Queue ``jobs``, ``first`` or last; each starts as soon as a worker is free."""
        queued = [Queued(job) for job in jobs]
        if first:
            self._waiting.extendleft(reversed(queued))
        else:
            self._waiting.extend(queued)
        self._feed()

    def take_events(self) -> list[Event]:
        """What happened to the workers since it was asked last."""
        events, self._events = self._events, []
        return events

    def wait(self, timeout: float) -> Iterator[tuple[Job, Outcome]]:
        """The jobs that ended within ``timeout`` seconds, as soon as there is one at least."""
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
        self._zygote.close()
        self._selector.close()

    def _started(self) -> Zygote:
        try:
            return Zygote(self._module, self._arguments, self.release)
        except ZygoteGone as gone:
            raise PoolError(self._about(f"the workers' parent process ended: {gone}")) from gone
        except OSError as error:
            raise PoolError(self._about(f"cannot start the workers: {error}")) from error

    def _about(self, said: str) -> str:
        """What was ``said`` of another release than the engine's, and what mends it."""
        name = self.release.name
        return said if self.release.own else f"TVM {name}: {said}; {advice(name)}"

    def _restart(self) -> None:
        """Start another zygote; what its workers were on is run again."""
        interrupted = [queued for worker in self._workers for queued in worker.left]
        self._abandon()
        self._note(What.RESTARTED, self._zygote.close())
        self._again(interrupted, "the workers' parent process ended")
        self._zygote = self._started()

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
        """Queue what was ``interrupted`` once more, for a reason that tells nothing about it."""
        for queued in reversed(interrupted):
            if queued.starts < _MOST_STARTS:
                self._waiting.appendleft(queued)
            else:
                said = f"given up after {queued.starts} starts: {reason}"
                outcome = Outcome(Verdict.HARNESS_ERROR, "read", None, said)
                self._given_up.append((queued.job, outcome))

    def _note(self, what: What, text: str) -> None:
        self._events.append(Event(what, text))

    def _feed(self) -> None:
        while self._waiting:
            worker = self._free_worker(self._waiting[0].job.fresh)
            if worker is None:
                return
            given = self._next()
            worker.unanswered, worker.given = deque(given), len(given)
            worker.number, worker.deadline = 0, time.monotonic() + self.limits.seconds
            cases = tuple(msgspec.Raw(encode(queued.job.case)) for queued in given)
            first = given[0].job
            order = Order(cases, plain=first.fresh, ask=first.ask, tracing=first.tracing)
            if not worker.process.send(msgspec.json.encode(order) + b"\n"):
                # It died while idle: that is nobody's verdict, so the cases go to another.
                worker.unanswered.clear()
                self._again(given, "its workers ended before it began")
                self._lose(worker, "ended")

    def _next(self) -> list[Queued]:
        """What has waited longest, with what may run together with it."""
        first = self._waiting.popleft()
        given = [first]
        if first.job.joins:
            others = [one for one in self._waiting if one.job.joins]
            # The last are shared out, so that no worker idles while another has a group left.
            share = -(-(1 + len(others)) // self.size)
            given += others[: min(self.limits.together, share) - 1]
            for queued in given[1:]:
                self._waiting.remove(queued)
        return [replace(queued, starts=queued.starts + 1) for queued in given]

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
                process = self._zygote.fork(self.limits.memory)
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
            # One that went with another in this round is gone.
            if worker in self._workers:
                yield from self._attend(worker)
        self._enforce_limits()

    def _attend(self, worker: Worker) -> Iterator[tuple[Job, Outcome]]:
        # In this order: what it sent before it died is there once it is seen to be dead. That it
        # is dead does not close its socket where a child of its holds that.
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
            outcome = msgspec.json.decode(answer, type=Outcome)
            readable = True
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            said = f"unreadable answer: {error}: {bytes(answer[:80])!r}"
            outcome = Outcome(Verdict.HARNESS_ERROR, worker.process.mark.stage, None, said)
            readable = False
        worker.done += 1
        if not readable:
            # What it sends now cannot be told apart.
            others = worker.left
            worker.unanswered.clear()
            self._again(others, "its worker answered what cannot be read")
            self._lose(worker, "answered what cannot be read")
        elif not worker.unanswered:
            self._rest(worker, job)
        return job, outcome

    def _rest(self, worker: Worker, last: Job) -> None:
        """``worker`` has answered everything; end it where it is not to be used again."""
        mark(worker.process.marker, IDLE)
        # A worker that is being killed may still answer; it takes no other case with it.
        if last.fresh or worker.kill_reason is not None:
            self._discard(worker)
        elif worker.done >= self.limits.cases or worker.process.growth > self.limits.kept:
            grown = worker.process.growth >> 20
            self._note(
                What.RECYCLED, f"after {worker.done} cases, {grown} MiB larger than at first"
            )
            self._discard(worker)

    def _lose(self, worker: Worker, how: str) -> None:
        """Replace a worker that is on no case."""
        self._note(What.LOST, f"it {how} after {worker.done} cases")
        self._discard(worker)

    def _bury(self, worker: Worker) -> Iterator[tuple[Job, Outcome]]:
        """Replace a worker that is gone; the outcome of the case it was on, if it had one.

        The others that it had been given are given to another. If it was on all of them at once,
        each is given to one alone.
        """
        culprit, reason = worker.on, worker.kill_reason
        if culprit is None:
            self._lose(worker, "ended")
            return
        by_itself = worker.process.ended(_DEATH_SECONDS)
        now = worker.process.mark
        said = worker.process.last_words
        unanswered = worker.left
        ended = self._discard(worker)
        if ended is None:
            self._again(unanswered, "the workers' parent process ended")
            return
        if now.number is None and len(unanswered) > 1:
            self._note(What.LOST, f"it ended in {now.stage}, on {len(unanswered)} cases at once")
            for queued in reversed(unanswered):
                self._waiting.appendleft(Queued(replace(queued.job, alone=True)))
            return
        if now.stage == IDLE and reason is None:
            self._note(What.LOST, "it ended before it began with its cases")
            self._again(unanswered, "its workers ended before it began")
            return
        unanswered.remove(culprit)
        self._waiting.extendleft(reversed(unanswered))
        job = culprit.job
        case = f"{job.case.family} case {job.case.identifier} in {now.stage}"
        killed = by_itself and reason is None and ended.signal == signal.SIGKILL
        if killed and culprit.starts == 1:
            # Nothing kills itself this way: it was the kernel, short of memory, or a person.
            self._note(What.KILLED, case)
            self._again([culprit], "its workers were killed")
            return
        how = f"signal {ended.signal}" if ended.signal else f"exit code {ended.exit_code}"
        if ended.signal:
            with suppress(ValueError):
                how = signal.Signals(ended.signal).name
        if not by_itself:
            how = "a closed connection"
        if reason is Verdict.TIMEOUT:
            message = f"still in {now.stage} after {self.limits.seconds:g} s"
        elif reason is Verdict.OUT_OF_MEMORY:
            message = f"grew by more than {self.limits.memory >> 20} MiB in {now.stage}"
        else:
            message = f"worker ended with {how} in {now.stage}" + (f": {said}" if said else "")
        self._note(_WHAT[reason] if reason else What.DIED, f"{case}: {message.splitlines()[0]}")
        verdict = blamed_on_us(now.stage) or reason or Verdict.PROCESS_DEATH
        yield job, Outcome(verdict, now.stage, None, message)

    def _discard(self, worker: Worker) -> Reply | None:
        """End ``worker``; how it ended, or None if the zygote was gone and is another one now."""
        pid = worker.process.pid
        # Harmless to one that is dead, and nobody waits for one that only closed its socket.
        worker.process.kill()
        self._release(worker)
        try:
            return self._zygote.reap(pid)
        except ZygoteGone:
            self._restart()
            return None

    def _enforce_limits(self) -> None:
        now = time.monotonic()
        for worker in self._workers:
            if not worker.unanswered or worker.kill_reason is not None:
                continue
            number = worker.process.mark.number
            if number != worker.number:
                # Every case has all of the time, and so has what they share.
                worker.number, worker.deadline = number, now + self.limits.seconds
            if now > worker.deadline:
                worker.kill_reason = Verdict.TIMEOUT
            elif worker.process.growth > self.limits.memory:
                worker.kill_reason = Verdict.OUT_OF_MEMORY
            else:
                continue
            worker.process.kill()
