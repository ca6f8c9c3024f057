"""True facts about sizes and places, by kind: how many of them are proved is how complete one is.

Written as text over ``n``, ``m``, ``k``, which are sizes, and ``i``, ``j``, which are places in
them; ``a``, ``b``, ``c`` stand for positive constants, ``b`` a multiple of ``a``. Each is true for
all sizes where what is assumed holds.
"""

import random
from collections.abc import Iterator
from typing import NamedTuple

from relaxcheck.generators.expressions import language as expressions
from relaxcheck.generators.expressions.language import Expression, Variable
from relaxcheck.generators.expressions.text import parse

LARGEST = 2**20
"""No size is larger. Products of two sizes and a constant, the largest that a fact has, are less
than 2**48 then: nothing overflows in int64."""


class Fact(NamedTuple):
    """``claim`` holds wherever all of ``assumed`` do and the variables are in their ranges."""

    kind: str
    variables: tuple[Variable, ...]
    claim: Expression
    assumed: tuple[Expression, ...]


_Text = tuple[str, ...]
"""A claim, and what is assumed."""

FACTS: dict[str, tuple[_Text, ...]] = {
    "sums and products": (
        ("(n + m) * a == n * a + m * a",),
        ("n * (m * a) == (n * a) * m",),
        ("(n + m) * (n + m) == n * n + 2 * n * m + m * m",),
        ("n * m + n * k == n * (k + m)",),
        ("n + m - m == n",),
        ("n * m * a >= 0",),
        ("n * a <= n * b",),
        ("n * m >= m", "n >= 1"),
    ),
    "splitting": (
        ("n // a * a + n % a == n",),
        ("n // b == n // a // (b // a)",),
        ("n * b // a == n * (b // a)",),
        ("n // a * a <= n",),
        ("n // a * a == n", "n % a == 0"),
        ("n * m // m == n", "m >= 1"),
        ("(n * a) // (m * a) == n // m", "m >= 1"),
        ("n % b % a == n % a",),
    ),
    "rounding up": (
        ("(n + a - 1) // a * a >= n",),
        ("(n + a - 1) // a == n // a", "n % a == 0"),
        ("(n + a - 1) // a * a - n < a",),
        ("(n + a - 1) // a == 0 - (0 - n) // a",),
        ("(n + a - 1) // a <= n",),
        ("(n * a + a - 1) // a == n",),
        ("((n + a - 1) // a * a) % a == 0",),
        ("(n + a - 1) // a >= 1", "n >= 1"),
    ),
    "windows": (
        ("(n + 2 * a - k) // c + 1 >= 1", "k <= n + 2 * a"),
        ("(n - 1) // 1 + 1 == n",),
        ("(n + 2 * a - (2 * a + 1)) // 1 + 1 == n",),
        ("(n * c - c) // c + 1 == n",),
        ("((n - 1) * c + k - k) // c + 1 == n",),
        ("(n - 1) * c + k >= k", "n >= 1"),
        ("((n - k) // c) * c + k <= n", "k <= n"),
        ("(n + c - 1) // c == (n - 1) // c + 1",),
    ),
    "slices and paddings": (
        ("min(n, a) + max(n - a, 0) == n",),
        ("max(n - a, 0) <= n",),
        ("min(n, m) <= n",),
        ("n + m - min(n, m) == max(n, m)",),
        ("min(n + a, n + b) == n + a",),
        ("max(min(n, m), 0) == min(n, m)",),
        ("min(n, a) - min(n, a) // c * c < c",),
        ("min(n, m) * a == min(n * a, m * a)",),
    ),
    "bounds": (
        ("n // a >= 0",),
        ("n % a < a",),
        ("n // a <= n",),
        ("n // b <= n // a",),
        ("n + a > n",),
        ("n - m >= 0", "m <= n"),
        ("n // a <= m // a", "n <= m"),
        ("n < m + 1", "n <= m"),
    ),
    "divisibility": (
        ("n * a % a == 0",),
        ("n * b % a == 0",),
        ("(n * a + m * b) % a == 0",),
        ("(n * a + c) % a == c % a",),
        ("n * m % m == 0", "m >= 1"),
        ("(n + m) % a == 0", "n % a == 0", "m % a == 0"),
        ("n % a == 0", "n % b == 0"),
        ("(n * b + m) // b * b <= n * b + m",),
    ),
    "places": (
        ("i * a + j < n * a", "i < n", "j < a"),
        ("(i * a + j) // a == i", "j < a"),
        ("(i * a + j) % a == j", "j < a"),
        ("i // a < (n + a - 1) // a", "i < n"),
        ("i // a * a + i % a == i",),
        ("i * m + j < n * m", "i < n", "j < m"),
        ("(i * m + j) // m == i", "j < m"),
        ("n - 1 - i >= 0", "i < n"),
    ),
}


def facts(seed: int, each: int) -> Iterator[Fact]:
    """Every fact with ``each`` choices of its constants, or once where it has none."""
    rng = random.Random(seed)
    for kind, texts in FACTS.items():
        for claim, *assumed in texts:
            made: set[Fact] = set()
            for _ in range(each):
                made.add(_fact(kind, claim, assumed, rng))
            yield from sorted(made, key=lambda fact: str(fact.claim))


def _fact(kind: str, claim: str, assumed: list[str], rng: random.Random) -> Fact:
    a = rng.choice((2, 3, 4, 7, 8, 16, 64))
    constants = {"a": a, "b": a * rng.choice((2, 3, 4)), "c": rng.choice((2, 3, 4, 5, 8))}
    names = {name: expressions.variable(Variable(name, "int64", 0, LARGEST)) for name in "nmkij"}
    values = {name: expressions.constant(value, "int64") for name, value in constants.items()}
    read = [parse(text, {**names, **values}, "int64") for text in (claim, *assumed)]
    used = frozenset().union(*map(expressions.names, read))
    variables = tuple(Variable(name, "int64", 0, LARGEST) for name in "nmkij" if name in used)
    return Fact(kind, variables, read[0], tuple(read[1:]))
