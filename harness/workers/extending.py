"""Entry points that a case needs to run: of its operators, and of the fixes where they are on."""

from collections.abc import Iterable, Iterator, Sequence

from relaxcheck.extensions.entry_points import (
    FIXES,
    OPERATORS,
    PIPELINES,
    REGISTRATIONS,
    Broken,
    demand,
    registered,
)
from relaxcheck.generators.core.case import AnyCase
from relaxcheck.harness import kinds


def check_all(cases: Iterable[AnyCase], broken: Sequence[Broken]) -> None:
    """Check that none of ``cases`` needs one of ``broken``.

    Raises:
        ExtensionError: one does.
    """
    for case in cases if broken else ():
        demand(needed(case, broken))


def needed(case: AnyCase, broken: Sequence[Broken]) -> Iterator[Broken]:
    """Those of ``broken`` without which ``case`` would run as another case, or not at all.

    An operator needs each entry point of its name, and the registrations of its package. Which
    fixes are on decides how any case with fixes ends.
    """
    names = set(kinds.operators(case))
    own = registered(OPERATORS)
    owners = {own[name].distribution for name in names & own.keys()}
    for each in broken:
        if each.spare or each.group == PIPELINES:
            continue
        if each.group == FIXES:
            concerns = case.fixes
        elif each.group == REGISTRATIONS:
            concerns = each.distribution in owners
        else:
            concerns = each.name in names
        if concerns:
            yield each
