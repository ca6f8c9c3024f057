"""Workers of several TVM releases as one pool: a case goes to each, and has one outcome."""

import select
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial

from harness.differential import joined, together
from harness.events import Event, What
from harness.jobs import Job
from harness.outcome import Outcome, Verdict
from harness.pool import Pool, PoolError


@dataclass(slots=True, eq=False)
class _Asked:
    """A job, the releases that still have to answer, and what came of it on the others."""

    job: Job
    wanted: set[str]
    outcomes: dict[str, Outcome] = field(default_factory=dict)


class Pools:
    """The ``pools`` by the release that each runs, used as one; whoever made them closes them.

    Of a job there is one outcome, when all releases that it names have answered: that on the
    newest of them, which holds the others. A release whose workers cannot be started again is left
    out from then on, which is an event; ``mute`` says why, of those that never answered at all.

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

    @property
    def running(self) -> int:
        """How many jobs some release has yet to answer."""
        return len(self._open)

    @property
    def waiting(self) -> int:
        """How many jobs have ended and were not given back yet."""
        return len(self._ended)

    @property
    def appetite(self) -> int:
        """How many jobs keep all workers busy; no release gets further ahead than that."""
        return max(pool.appetite for pool in self._pools.values())

    @property
    def busy(self) -> tuple[str, ...]:
        """What each worker does, after the name of its release."""
        return tuple(f"{name} {one}" for name, pool in self._pools.items() for one in pool.busy)

    def submit(self, *jobs: Job, first: bool = False) -> None:
        """Queue ``jobs``, ``first`` or last, on the releases that each of them names."""
        given: dict[str, list[Job]] = {name: [] for name in self._pools}
        for job in jobs:
            asked = _Asked(job, {name for name in given if name in (job.releases or given)})
            self._open.add(asked)
            self._close_if_answered(asked)
            for name in asked.wanted:
                given[name].append(replace(job, tag=asked))
        for name, own in given.items():
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
        """What happened to the workers of each release since it was asked last."""
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
            said = f"no workers are left of TVM {', '.join(asked.job.releases)}"
            outcome = Outcome(Verdict.HARNESS_ERROR, "idle", None, said)
        self._ended.append((asked.job, outcome))

    def _try(self, name: str, act: Callable[[], None]) -> None:
        """Do something with the pool of ``name``; leave it out if its workers cannot go on."""
        try:
            act()
        except PoolError as error:
            self._note(name, self._pools.pop(name))
            self._events.append(Event(What.GONE, f"TVM {name} is left out from here on: {error}"))
            if name not in self._heard:
                self.mute[name] = str(error)
            if not self._pools:
                raise
            for asked in tuple(self._open):
                asked.wanted.discard(name)
                self._close_if_answered(asked)

    def _note(self, name: str, pool: Pool) -> None:
        for event in pool.take_events():
            self._events.append(Event(event.what, f"TVM {name}: {event.text}"))
