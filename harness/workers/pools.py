"""Workers of several TVM releases as one pool: a case runs on each, and has one outcome."""

import select
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial

from relaxcheck.harness.events import Event, EventType
from relaxcheck.harness.outcomes.differential import joined, together
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.harness.workers.jobs import Job
from relaxcheck.harness.workers.pool import Pool
from relaxcheck.harness.workers.starting import PoolError


@dataclass(slots=True, eq=False)
class _Asked:
    """A job, the releases that have not answered yet, and the outcomes on the others."""

    job: Job
    wanted: set[str]
    outcomes: dict[str, Outcome] = field(default_factory=dict)


class Pools:
    """``pools`` by release, used as one; the caller closes them.

    A job has one outcome, when all releases that it names have answered: that on the newest of
    them, which holds the others. A release whose workers cannot be restarted is left out from then
    on, which is an event; ``mute`` has the reasons of releases that never answered.

    Raises:
        PoolError: (its methods) there is no release left.
    """

    def __init__(self, pools: Mapping[str, Pool]):
        self._pools = dict(pools)
        self._open: set[_Asked] = set()
        self._ended: list[tuple[Job, Outcome]] = []
        self._events: list[Event] = []
        self._heard: set[str] = set()
        self.mute: dict[str, str] = {}
        self.environment = joined({name: pool.environment for name, pool in pools.items()})
        # They are of this harness: the same on each release.
        self.fixes = next(iter(pools.values())).fixes

    @property
    def running(self) -> int:
        """The number of jobs that some release has not answered yet."""
        return len(self._open)

    @property
    def waiting(self) -> int:
        """The number of jobs that ended and were not returned yet."""
        return len(self._ended)

    @property
    def appetite(self) -> int:
        """The number of jobs that keeps all workers busy; no release gets further ahead."""
        return max(pool.appetite for pool in self._pools.values())

    @property
    def busy(self) -> tuple[str, ...]:
        """The activity of each worker, after the name of its release."""
        return tuple(f"{name} {case}" for name, pool in self._pools.items() for case in pool.busy)

    def submit(self, *jobs: Job, first: bool = False) -> None:
        """Queue ``jobs``, ``first`` or last, on the releases that each of them names."""
        by_release: dict[str, list[Job]] = {name: [] for name in self._pools}
        for job in jobs:
            asked = _Asked(
                job, {name for name in by_release if name in (job.releases or by_release)}
            )
            self._open.add(asked)
            self._close_if_answered(asked)
            for name in asked.wanted:
                by_release[name].append(replace(job, tag=asked))
        for name, own in by_release.items():
            if own:
                self._try(name, partial(self._pools[name].submit, *own, first=first))

    def wait(self, timeout: float) -> Iterator[tuple[Job, Outcome]]:
        """The jobs that ended within ``timeout`` seconds, as soon as a worker has answered."""
        if self._open and not self._ended:
            poll = select.poll()
            for pool in self._pools.values():
                poll.register(pool, select.POLLIN)
            poll.poll(timeout * 1000)
        for name in tuple(self._pools):
            self._try(name, partial(self._take, name))
        ended, self._ended = self._ended, []
        yield from ended

    def take_events(self) -> list[Event]:
        """The events on each release since the last call."""
        for name, pool in self._pools.items():
            self._note(name, pool)
        events, self._events = self._events, []
        return events

    def _take(self, name: str) -> None:
        for part, outcome in self._pools[name].wait(0):
            asked = part.tag
            assert isinstance(asked, _Asked)
            asked.outcomes[name] = outcome
            asked.wanted.discard(name)
            self._heard.add(name)
            self._close_if_answered(asked)

    def _close_if_answered(self, asked: _Asked) -> None:
        if asked.wanted:
            return
        self._open.discard(asked)
        if asked.outcomes:
            outcome = together(asked.outcomes)
        else:
            message = f"no workers are left of TVM {', '.join(asked.job.releases)}"
            outcome = Outcome(Verdict.HARNESS_ERROR, "idle", None, message)
        self._ended.append((asked.job, outcome))

    def _try(self, name: str, act: Callable[[], None]) -> None:
        """Call ``act`` on the pool of ``name``; leave the release out if its workers are gone."""
        try:
            act()
        except PoolError as error:
            self._note(name, self._pools.pop(name))
            self._events.append(
                Event(EventType.GONE, f"TVM {name} is left out from here on: {error}")
            )
            if name not in self._heard:
                self.mute[name] = str(error)
            if not self._pools:
                raise
            for asked in tuple(self._open):
                asked.wanted.discard(name)
                self._close_if_answered(asked)

    def _note(self, name: str, pool: Pool) -> None:
        for event in pool.take_events():
            self._events.append(Event(event.type, f"TVM {name}: {event.text}"))
