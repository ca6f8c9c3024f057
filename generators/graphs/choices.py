"""Choices by index, drawn by Hypothesis: index 0 is the simplest, towards which it shrinks."""

from collections.abc import Sequence
from functools import lru_cache
from typing import TypeVar

from hypothesis import strategies as st

_Choice = TypeVar("_Choice")


@lru_cache(maxsize=256)
def _below(limit: int) -> st.SearchStrategy[int]:
    # To make a strategy and to validate it costs more than to draw from it.
    return st.integers(0, limit - 1)


class Choices:
    """Choices of one example of Hypothesis, made through its ``draw``."""

    __slots__ = ("_draw",)

    def __init__(self, draw: st.DrawFn):
        self._draw = draw

    def below(self, limit: int) -> int:
        """An integer from 0 to ``limit - 1``."""
        return self._draw(_below(limit)) if limit > 1 else 0

    def choice(self, values: Sequence[_Choice]) -> _Choice:
        """One of ``values``, each as likely as any other; the first is the simplest."""
        return values[self.below(len(values))]

    def rarely(self, out_of: int) -> bool:
        """True once in ``out_of``; False is simpler."""
        return self.below(out_of) == out_of - 1

    def shuffled(self, values: Sequence[_Choice]) -> tuple[_Choice, ...]:
        """``values`` in any order; as they are is the simplest."""
        left = list(values)
        return tuple(left.pop(self.below(len(left))) for _ in values)
