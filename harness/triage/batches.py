"""Failures that appear only when cases run in one batch.

Such a failure is in no verdict of a case: its parts pass. It is a failure all the same, of a state
that they share, and a campaign reports it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from relaxcheck.generators.core.case import AnyCase
from relaxcheck.harness.events import Event, EventType
from relaxcheck.harness.kinds import of
from relaxcheck.harness.outcomes.differential import by_release
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.harness.triage.finding import CUT_SHORT

_RIGHT = frozenset({Verdict.PASS, Verdict.BUILT, Verdict.NO_ORACLE})


@dataclass(slots=True)
class _Failure:
    """A failure in ``whole``, on ``release``, that one of ``parts`` should show by itself.

    ``noun`` is the word for ``whole``. ``large``: together they passed a limit, which says nothing
    about a single part. ``left`` parts have not ended; ``again``: one of the others failed.
    """

    noun: str
    whole: str
    release: str
    parts: tuple[str, ...]
    large: bool
    left: int
    again: bool = False

    @property
    def event(self) -> Event:
        on = ("on", self.release) if self.release else ()
        words = (self.noun, self.whole, *on, "passes as", *self.parts)
        return Event(EventType.UNREPEATED, " ".join(words))


@dataclass(slots=True)
class BatchOnlyFailures:
    """Failures in batches whose parts all pass by themselves, or have not ended yet.

    Failures that came again are forgotten: in a long campaign they are millions.
    """

    unrepeated: list[Event] = field(default_factory=list)
    _waiting: dict[str, list[_Failure]] = field(default_factory=dict)

    def add(self, case: AnyCase, outcome: Outcome) -> None:
        """Take note of ``outcome`` of the drawn case ``case``."""
        kind = of(case)
        if self._waiting:
            self._settle(case.identifier, outcome)
        for name, on_release in by_release(outcome).items():
            for parts in kind.parts(case, on_release):
                self._wait(case, name, parts, large=on_release.verdict in CUT_SHORT)

    def look_up(self, ended: Callable[[str], Outcome | None]) -> None:
        """Look up outcomes of the parts that are waited for: they may have run before."""
        for identifier in list(self._waiting):
            outcome = ended(identifier)
            if outcome is not None:
                self._settle(identifier, outcome)

    @property
    def waiting(self) -> int:
        """The number of parts that have not ended."""
        return len(self._waiting)

    def _wait(
        self,
        whole: AnyCase,
        release: str,
        parts: Sequence[AnyCase],
        *,
        large: bool = False,
    ) -> None:
        named = tuple(part.identifier for part in parts)
        noun = of(whole).noun(whole)
        failure = _Failure(noun, whole.identifier, release, named, large, len(named))
        for name in named:
            self._waiting.setdefault(name, []).append(failure)

    def _settle(self, identifier: str, outcome: Outcome) -> None:
        outcomes = by_release(outcome)
        for failure in self._waiting.pop(identifier, ()):
            here = outcomes.get(failure.release)
            failure.again |= here is not None and here.verdict not in _RIGHT
            failure.left -= 1
            if not (failure.left or failure.again or failure.large):
                self.unrepeated.append(failure.event)
