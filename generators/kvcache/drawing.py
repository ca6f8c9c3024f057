"""Draw operations on a cache: each is valid in the state that those before it lead to.

The model of the cache says which operations a state allows, as the rules of a state machine do.
"""

import random
from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

from relaxcheck.generators.kvcache.model import Cache, Refused, Unclear
from relaxcheck.generators.kvcache.operations import (
    LAST,
    Add,
    Commit,
    Fork,
    Forward,
    Operation,
    Pop,
    Remove,
    Slide,
)
from relaxcheck.generators.kvcache.settings import INLINE, Limits, Model

T = TypeVar("T")

_TRIES = 12
"""Draws of an operation before the sequence ends: few states allow none."""


class Chooser(Protocol):
    """A source of choices: Hypothesis (``generators.graphs.choices``), or a seed."""

    def below(self, limit: int) -> int:
        """An integer from 0 to ``limit - 1``; 0 is the simplest."""

    def choice(self, values: Sequence[T]) -> T:
        """One of ``values``."""

    def rarely(self, out_of: int) -> bool:
        """True once in ``out_of``."""


class Seeded:
    """The choices that a seed makes."""

    __slots__ = ("_random",)

    def __init__(self, seed: int):
        self._random = random.Random(seed)

    def below(self, limit: int) -> int:
        """An integer from 0 to ``limit - 1``."""
        return self._random.randrange(limit)

    def choice(self, values: Sequence[T]) -> T:
        """One of ``values``."""
        return values[self._random.randrange(len(values))]

    def rarely(self, out_of: int) -> bool:
        """True once in ``out_of``."""
        return not self._random.randrange(out_of)


def operations(
    choices: Chooser, model: Model, limits: Limits, most: int, *, trees: bool, invalid: bool
) -> tuple[Operation, ...]:
    """At most ``most`` operations, valid one after the other; ``trees``: with token trees.

    ``invalid``: the last is one that the cache has to refuse.
    """
    cache = Cache(model, limits)
    drawn: list[Operation] = []
    rules = _rules(trees and not limits.windows and limits.rope != INLINE, limits.windows)
    for _ in range(most):
        operation = _drawn(choices, cache, rules)
        if operation is None:
            break
        drawn.append(operation)
    if invalid and (wrong := _wrong(choices, cache)) is not None:
        drawn.append(wrong)
    return tuple(drawn)


Rule = Callable[[Chooser, Cache], Operation | None]


def _rules(trees: bool, windows: bool) -> tuple[Rule, ...]:
    return (
        *(_forward,) * 6,
        *(_decode,) * 4,
        *(_add,) * 3,
        *(_fork,) * 4,
        *(_pop,) * 3,
        *(_remove,) * 2,
        *((_tree,) * 5 if trees else ()),
        *((_slide,) * 4 if windows else ()),
    )


def _drawn(choices: Chooser, cache: Cache, rules: Sequence[Rule]) -> Operation | None:
    for _ in range(_TRIES):
        rule = choices.choice(rules)
        if not cache.sequences:
            rule = _add
        elif cache.uncommitted() and not choices.rarely(6):
            rule = _commit
        operation = rule(choices, cache)
        if operation is not None and _applied(cache, operation):
            return operation
    return None


def _applied(cache: Cache, operation: Operation) -> bool:
    try:
        cache.apply(operation)
    except (Refused, Unclear):
        return False
    return True


def _fresh(choices: Chooser, cache: Cache) -> int:
    free = [number for number in range(cache.limits.sequences) if number not in cache.sequences]
    return free[0] if free and not choices.rarely(4) else max(cache.sequences, default=0) + 1


def _some(choices: Chooser, values: Sequence[int], most: int) -> tuple[int, ...]:
    """One to ``most`` of ``values``, in any order."""
    left = list(values)
    count = min(len(left), most, 1 + choices.below(4))
    return tuple(left.pop(choices.below(len(left))) for _ in range(count))


def lengths_around(page: int) -> tuple[int, ...]:
    """Lengths of appends: around the ends of pages, and of blocks of several."""
    near = {page - 1, page, page + 1, 2 * page - 1, 2 * page, 2 * page + 1, 3 * page}
    return tuple(sorted(length for length in near | {1, 2, 3, 5, 7, 13} if 0 < length <= 64))


def _add(choices: Chooser, cache: Cache) -> Operation | None:
    return Add(_fresh(choices, cache)) if len(cache.sequences) < cache.limits.sequences else None


def _remove(choices: Chooser, cache: Cache) -> Operation | None:
    return Remove(choices.choice(sorted(cache.sequences)))


def _fork(choices: Chooser, cache: Cache) -> Operation | None:
    if len(cache.sequences) >= cache.limits.sequences:
        return None
    number = choices.choice(sorted(cache.sequences))
    parent, page = cache.sequences[number], cache.model.page
    length = len(parent.tokens) if parent.window is None else parent.pinned
    near = (LAST, 0, 1, length, length - 1, page, page - 1, page + 1, 2 * page, length // 2)
    return Fork(number, _fresh(choices, cache), choices.choice(near))


def _pop(choices: Chooser, cache: Cache) -> Operation | None:
    number = choices.choice(sorted(cache.sequences))
    length, page = len(cache.sequences[number].tokens), cache.model.page
    near = (1, 2, length, length - 1, page, page - 1, page + 1, length % page, length // 2)
    return Pop(number, max(0, choices.choice(near)))


def _slide(choices: Chooser, cache: Cache) -> Operation | None:
    free = [number for number, each in sorted(cache.sequences.items()) if each.window is None]
    if not free:
        return None
    page = cache.model.page
    window = choices.choice((page, page + 1, 2 * page, 2 * page - 1, 3 * page, 20, 33))
    sink = choices.choice((0, 1, 3, page - 1, page, page + 1, window - 1, window // 2))
    return Slide(choices.choice(free), window, min(sink, window - 1))


def _forward(choices: Chooser, cache: Cache) -> Operation | None:
    numbers = _some(choices, sorted(cache.sequences), cache.limits.sequences)
    around = lengths_around(cache.model.page)
    return Forward(numbers, tuple(choices.choice(around) for _ in numbers))


def _decode(choices: Chooser, cache: Cache) -> Operation | None:
    """One token for many sequences: the decode kernels."""
    numbers = _some(choices, sorted(cache.sequences), cache.limits.sequences)
    if choices.rarely(2):
        numbers = tuple(sorted(cache.sequences))[: cache.limits.sequences]
    return Forward(numbers, (1,) * len(numbers))


def _tree(choices: Chooser, cache: Cache) -> Operation | None:
    open_ones = cache.uncommitted()
    numbers = open_ones or _some(choices, sorted(cache.sequences), cache.limits.sequences)
    trees = []
    for number in numbers:
        before = len(cache.sequences[number].parents or ())
        count = 1 + choices.below(7)
        chain = choices.rarely(3)
        trees.append(
            tuple(
                node - 1 if chain else choices.below(node + 1) - 1
                for node in range(before, before + count)
            )
        )
    return Forward(numbers, tuple(map(len, trees)), tuple(trees))


def _commit(choices: Chooser, cache: Cache) -> Operation | None:
    numbers = cache.uncommitted()
    leaves = tuple(
        choices.below(len(cache.sequences[number].parents or ()) + 1) - 1 for number in numbers
    )
    return Commit(numbers, leaves) if numbers else None


def _wrong(choices: Chooser, cache: Cache) -> Operation | None:
    """An operation that ``cache`` has to refuse; None where no draw is one."""
    known = sorted(cache.sequences) or [0]
    number, unknown = choices.choice(known), max(known) + 2
    length = len(cache.sequences[number].tokens) if cache.sequences else 0
    candidates: list[Operation] = [
        Remove(unknown),
        Add(number),
        Fork(unknown, unknown + 1),
        Fork(number, number),
        Fork(number, unknown, length + 1),
        Pop(unknown, 1),
        Pop(number, length + 1),
        Pop(number, -1),
        Forward((unknown,), (1,)),
        Forward((number,), (0,)),
        Forward((number, number), (1,)),
        Forward((number,), (2,), ((-1,),)),
        Forward((number,), (2,), ((-1, 1),)),
        Commit((number,), (0,)),
        Commit((unknown,), (0,)),
        Commit((number,), ()),
        Slide(number, 4, 4),
        Slide(number, 0, 0),
        Slide(unknown, 8, 0),
    ]
    for _ in range(_TRIES):
        candidate = choices.choice(candidates)
        try:
            cache.apply(candidate)
        except Refused:
            return candidate
        except Unclear:
            continue
        return None
    return None
