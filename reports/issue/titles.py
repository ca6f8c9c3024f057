"""Titles of which no two are the same."""

from collections.abc import Sequence

from relaxcheck.generators.core.case import AnyCase
from relaxcheck.harness.outcomes.outcome import Outcome
from relaxcheck.reports.issue.pasting import distinctions_of


class Titles:
    """The titles so far, each with further traits of its failure, in words."""

    def __init__(self) -> None:
        self._traits: dict[str, list[frozenset[str]]] = {}
        self._used: set[str] = set()

    def add(self, title: str, case: AnyCase, outcome: Outcome) -> str:
        """``title``, or if another failure has it, the same with a trait that the other lacks.

        A title that stays the same even so is that of the same failure of the same program.
        """
        traits = tuple(each for each in distinctions_of(case, outcome) if each not in title)
        others = self._traits.setdefault(title, [])
        unlike = _apart(title, traits, others, self._used) if title in self._used else title
        others.append(frozenset(traits))
        self._used.add(unlike)
        return unlike


def _apart(
    title: str, traits: Sequence[str], others: Sequence[frozenset[str]], used: set[str]
) -> str:
    """``title`` with as few of ``traits`` as it takes to be none of ``used``."""
    own = [trait for trait in traits if not any(trait in other for other in others)]
    for trait in (*own, *traits):
        if f"{title}, {trait}" not in used:
            return f"{title}, {trait}"
    return f"{title}, {', '.join(traits)}"
