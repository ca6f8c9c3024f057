"""The interface of a cache that is tested: TVM's, or one that stands in its place."""

from collections.abc import Callable
from typing import Any, Protocol

import numpy.typing as npt

from relaxcheck.generators.kvcache.operations import Operation
from relaxcheck.generators.kvcache.settings import Limits, Model

Array = npt.NDArray[Any]


class Under(Protocol):
    """A cache that operations are applied to; an operation that it refuses raises an error."""

    def apply(self, operation: Operation) -> None:
        """Apply ``operation``; of a forward pass, its beginning alone."""

    def positions(self) -> Array:
        """The position of each token of the forward pass: (tokens,) of int32."""

    def attend(self, layer: int, qkv: Array, scale: float) -> Array:
        """The attention of ``layer``, (tokens, heads, head_dim).

        ``qkv`` are queries, keys and values, (tokens, heads + 2 kv_heads, head_dim).
        """

    def end_forward(self) -> None:
        """End a forward pass."""

    def content(self, sequence: int, length: int) -> tuple[Array, Array]:
        """Keys and values of ``sequence``: (layers, length, kv_heads, head_dim) each."""

    @property
    def length(self) -> int:
        """The tokens of all sequences."""

    @property
    def empty(self) -> bool:
        """True if no sequence is there, and every page and block is free."""


Make = Callable[[Model, Limits, bool], Under]
"""Make a cache, with the fixes or without."""
