"""Finds by halving where a list of builds changes, as plain data: nothing is run here."""

from collections.abc import Generator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Change:
    """The outcome differs between the builds ``before`` and ``after`` (their positions).

    Those between them, if any, are ``skipped``: nothing is known of them.
    """

    before: int
    after: int
    skipped: tuple[int, ...] = ()


Halving = Generator[int, str | None, Change | None]
"""Yields the position of a build to try; takes the outcome, None if it says nothing."""


def halving(count: int) -> Halving:
    """Find a change between the first and the last of ``count`` builds that say something.

    Returns None if fewer than two say something, or both say the same. A build whose outcome is
    that of neither end says nothing. Of n builds it tries 2 + log2(n), more where some are skipped.
    """
    skipped: set[int] = set()
    first = yield from _end(range(count), skipped)
    if first is None:
        return None
    last = yield from _end(range(count - 1, first[0], -1), skipped)
    if last is None or first[1] == last[1]:
        return None
    (low, of_low), (high, of_high) = first, last
    while between := [at for at in range(low + 1, high) if at not in skipped]:
        at = min(between, key=lambda each: (abs(2 * each - low - high), each))
        outcome = yield at
        if outcome == of_low:
            low = at
        elif outcome == of_high:
            high = at
        else:
            skipped.add(at)
    return Change(low, high, tuple(range(low + 1, high)))


def _end(positions: range, skipped: set[int]) -> Generator[int, str | None, tuple[int, str] | None]:
    """The first of ``positions`` that says something, and what."""
    for at in positions:
        outcome = yield at
        if outcome is not None:
            return at, outcome
        skipped.add(at)
    return None
