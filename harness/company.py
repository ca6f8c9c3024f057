"""What failed in a block, and whether it fails alone as well; so with what an expression fails
beside its first cause.

What fails only together with others is in no verdict of a case: its parts pass. It is a failure
all the same, of a state that they share, and whoever shows a campaign has to be told of it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from generators.axes import Family
from generators.cases import AnyCase
from generators.expression_cases import Block, Member
from harness.differential import by_release
from harness.events import Event, What
from harness.finding import CUT_SHORT
from harness.outcome import Outcome, Verdict

_RIGHT = frozenset({Verdict.PASS, Verdict.NO_ORACLE})


def is_part(case: AnyCase, families: Mapping[str, Family]) -> bool:
    """Whether ``case`` came of a block or an expression, and was not drawn as it is.

    ``families`` are by name.
    """
    if isinstance(case, Member):
        return True
    if not isinstance(case, Block):
        return False
    family = families[case.family]
    whole = family.build(family.point(case), case.seed)
    return case.first > 0 or (isinstance(whole, Block) and case.count < whole.count)


@dataclass(slots=True)
class _Failure:
    """Parts failed, one or all of them, in ``whole``, on ``release``.

    ``kind`` is what ``whole`` is, a block or an expression. ``large``: by what they took together,
    which says nothing of any of them. ``left`` of ``parts`` have not ended; ``again`` says whether
    one of the others failed.
    """

    kind: str
    whole: str
    release: str
    parts: tuple[str, ...]
    large: bool
    left: int
    again: bool = False

    @property
    def event(self) -> Event:
        on = ("on", self.release) if self.release else ()
        words = (self.kind, self.whole, *on, "passes as", *self.parts)
        return Event(What.UNREPEATED, " ".join(words))


@dataclass(slots=True)
class Company:
    """The failures in blocks, and beside others of one expression, that did not come again, or of
    which something is not known yet.

    What came again is forgotten: in a long campaign that is millions.
    """

    unrepeated: list[Event] = field(default_factory=list)
    _waiting: dict[str, list[_Failure]] = field(default_factory=dict)

    def add(self, case: AnyCase, outcome: Outcome) -> None:
        """Take note of what came of the drawn case ``case``."""
        if isinstance(case, Block | Member):
            self._settle(case.identifier, outcome)
        if not isinstance(case, Block | Member):
            return
        for name, one in by_release(outcome).items():
            if isinstance(case, Member) or one.verdict is Verdict.PASS:
                for part in one.parts:
                    self._wait(case, name, (part,))
            else:
                parts = case.halves or case.members
                self._wait(case, name, parts, large=one.verdict in CUT_SHORT)

    def look_up(self, ended: Callable[[str], Outcome | None]) -> None:
        """Ask ``ended`` what came of the parts that are waited for: they may have run before."""
        for identifier in list(self._waiting):
            outcome = ended(identifier)
            if outcome is not None:
                self._settle(identifier, outcome)

    @property
    def waiting(self) -> int:
        """How many parts have not ended: nobody knows what there is to them."""
        return len(self._waiting)

    def _wait(
        self, whole: Block | Member, release: str, parts: Sequence[AnyCase], *, large: bool = False
    ) -> None:
        named = tuple(part.identifier for part in parts)
        kind = "block" if isinstance(whole, Block) else "expression"
        failure = _Failure(kind, whole.identifier, release, named, large, len(named))
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
