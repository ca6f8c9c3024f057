"""What failed in a block, and whether it fails alone as well.

What fails only together with others is in no verdict of a case: its parts pass. It is a failure
all the same, of a state that they share, and whoever shows a campaign has to be told of it.
"""

from collections.abc import Iterator, Mapping
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
    """Whether ``case`` came of a block, and was not drawn as it is. ``families`` are by name."""
    if isinstance(case, Member):
        return True
    if not isinstance(case, Block):
        return False
    family = families[case.family]
    whole = family.build(family.point(case), case.seed)
    return case.first > 0 or (isinstance(whole, Block) and case.count < whole.count)


@dataclass(frozen=True, slots=True)
class _Failure:
    """``parts`` failed, one or all of them, in the block ``block``, on ``release``.

    ``large``: by what they took together, which says nothing of any of them.
    """

    block: str
    release: str
    parts: tuple[str, ...]
    large: bool


@dataclass(slots=True)
class Company:
    """The failures in blocks, by what came of the blocks and of their parts, in any order."""

    families: Mapping[str, Family]
    _failures: list[_Failure] = field(default_factory=list)
    _failed_on: dict[str, frozenset[str]] = field(default_factory=dict)

    def add(self, case: AnyCase, outcome: Outcome) -> None:
        """Take note of what came of the drawn case ``case``."""
        outcomes = by_release(outcome)
        if is_part(case, self.families):
            failed = (name for name, one in outcomes.items() if one.verdict not in _RIGHT)
            self._failed_on[case.identifier] = frozenset(failed)
        if not isinstance(case, Block):
            return
        for name, one in outcomes.items():
            if one.verdict is Verdict.PASS:
                sets: Iterator[tuple[AnyCase, ...]] = ((part,) for part in one.parts)
            else:
                sets = iter((case.halves or case.members,))
            for parts in sets:
                named = tuple(part.identifier for part in parts)
                large = one.verdict in CUT_SHORT
                self._failures.append(_Failure(case.identifier, name, named, large))

    @property
    def waiting(self) -> int:
        """How many parts of blocks have not ended: nobody knows what there is to them."""
        parts = {part for one in self._failures for part in one.parts}
        return len(parts - self._failed_on.keys())

    @property
    def unrepeated(self) -> list[Event]:
        """The failures in blocks that did not come again in their parts, which all have ended."""
        return [
            Event(What.UNREPEATED, " ".join(("block", one.block, *on, "passes as", *one.parts)))
            for one in self._failures
            if not one.large and self._passed(one)
            for on in [("on", one.release) if one.release else ()]
        ]

    def _passed(self, failure: _Failure) -> bool:
        return all(
            part in self._failed_on and failure.release not in self._failed_on[part]
            for part in failure.parts
        )
