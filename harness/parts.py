"""How many cases one stands for in the figures, and what of it has to run by itself."""

from generators.cases import AnyCase
from generators.expression_cases import Block, Member
from harness.differential import by_release
from harness.outcome import Outcome, Verdict


def parts_of(case: AnyCase, outcome: Outcome) -> tuple[AnyCase, ...]:
    """What has to run as cases of their own once ``outcome`` came of ``case``; mostly nothing.

    The expressions of a block that failed, on any release. Where a block did not come to its end,
    because it ended its worker or took too long, its halves; in the end that is one expression. Of
    an expression that fails for several causes, itself once more for each but the first.
    """
    if not isinstance(case, Block | Member):
        return ()
    found: dict[str, AnyCase] = {}
    for one in by_release(outcome).values():
        ended = isinstance(case, Member) or one.verdict is Verdict.PASS
        for part in one.parts if ended else _halves(case):
            found[part.identifier] = part
    return tuple(found.values())


def _halves(case: AnyCase) -> tuple[AnyCase, ...]:
    return case.halves or case.members if isinstance(case, Block) else ()


def weight(case: AnyCase, outcome: Outcome) -> int:
    """How many cases ``case`` counts as: of a block what was checked and needs no run alone."""
    if not isinstance(case, Block):
        return 1
    outcomes = by_release(outcome).values()
    if any(one.verdict is not Verdict.PASS for one in outcomes):
        return 0
    return min(one.checked for one in outcomes) - len(parts_of(case, outcome))


def drawn_as(case: AnyCase) -> int:
    """How many cases are drawn with ``case``."""
    return case.count if isinstance(case, Block) else 1
