"""The control of KV caches: a dense cache in float32 behind the interface of TVM's, and flaws.

It is right by construction, but that it rounds: an oracle that calls it wrong is wrong itself. With
one of ``FLAWS`` it has a bug of the kind that paged caches have.
"""

from collections.abc import Callable
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from relaxcheck.generators.kvcache.model import Attended, Cache, Refused, Sequence, Token
from relaxcheck.generators.kvcache.operations import LAST, Fork, Forward, Operation
from relaxcheck.generators.kvcache.settings import INLINE, NORMAL, Limits, Model
from relaxcheck.oracles.kvcache.attention import visible
from relaxcheck.oracles.kvcache.rope import frequencies

Array = npt.NDArray[Any]

PAGE, GROUP, FORK, WINDOW, ROPE = "page", "group", "fork", "window", "rope"
FLAWS: MappingProxyType[str, str] = MappingProxyType(
    {
        PAGE: "a cache that ends with a full page loses that page",
        GROUP: "query head h uses key head h modulo their number",
        FORK: "a fork within a page shares that page, which both then write",
        WINDOW: "a sliding window pins one token less, and keeps one more of the last",
        ROPE: "a query alone is rotated one position too far",
    }
)
"""Planted bugs, by name."""


class DenseCache:
    """A cache that keeps all rows; ``flaw`` is one of ``FLAWS``, "" for none."""

    def __init__(self, model: Model, limits: Limits, fixes: bool, flaw: str = ""):
        self._model, self._limits, self._flaw = model, limits, flaw
        self._cache = Cache(model, limits)
        self._parts: tuple[Attended, ...] = ()
        self._keys: list[list[Array]] = [[] for _ in range(model.layers)]
        self._values: list[list[Array]] = [[] for _ in range(model.layers)]
        self._row: dict[int, int] = {}
        self._sharing: dict[int, int] = {}

    def apply(self, operation: Operation) -> None:
        """Apply ``operation``; of a forward pass, its beginning alone."""
        before = {n: each.copied() for n, each in self._cache.sequences.items()}
        try:
            self._parts = self._cache.apply(operation)
        except Refused as refused:
            raise RuntimeError(f"{refused} ({refused.terms[0]})") from refused
        if isinstance(operation, Forward):
            for part in self._parts:
                self._begin(part, before[part.sequence])
        elif isinstance(operation, Fork) and self._flaw == FORK:
            length = len(self._cache.sequences[operation.child].tokens)
            if operation.position != LAST and length % self._model.page:
                self._sharing[operation.child] = operation.parent

    def _begin(self, part: Attended, before: Sequence) -> None:
        own = self._cache.sequences[part.sequence]
        if self._flaw == WINDOW and own.window is not None and len(part.keys) > own.window:
            pinned = max(own.pinned - 1, 0)
            own.tokens = [*part.keys[:pinned], *part.keys[pinned - own.window :]]
        parent = self._cache.sequences.get(self._sharing.get(part.sequence, -1))
        if parent is None:
            return
        start, page = len(before.tokens), self._model.page
        end = min(start // page * page + page, start + len(part.queries), len(parent.tokens))
        for at in range(start, end):
            self._row[parent.tokens[at].serial] = part.keys[at].serial

    def positions(self) -> Array:
        """The position of each token of the forward pass."""
        tokens = [token.position for part in self._parts for token in part.queries]
        return np.array(tokens, np.int32)

    def attend(self, layer: int, qkv: Array, scale: float) -> Array:
        """The attention of ``layer``: (tokens, heads, head_dim)."""
        heads, kv_heads = self._model.heads, self._model.kv_heads
        queries, keys, values = np.split(qkv, (heads, heads + kv_heads), axis=1)
        self._keys[layer].append(keys)
        self._values[layer].append(values)
        all_keys, all_values = (np.concatenate(each[layer]) for each in (self._keys, self._values))
        results, start = [], 0
        for part in self._parts:
            own = queries[start : start + len(part.queries)]
            start += len(part.queries)
            rows = self._rows(part.keys)
            results.append(self._one(part, own, all_keys[rows], all_values[rows], scale))
        return np.concatenate(results).astype(self._model.dtype)

    def _rows(self, tokens: tuple[Token, ...] | list[Token]) -> list[int]:
        return [self._row.get(token.serial, token.serial) for token in tokens]

    def _one(
        self, part: Attended, queries: Array, keys: Array, values: Array, scale: float
    ) -> Array:
        group, kv_heads = self._model.group, self._model.kv_heads
        late = int(self._flaw == ROPE and len(part.queries) == 1)
        if self._limits.rope in (NORMAL, INLINE):
            queries = self._rotated(queries, [t.position + late for t in part.queries])
            inline = self._limits.rope == INLINE
            places = [at if inline else token.position for at, token in enumerate(part.keys)]
            keys = self._rotated(keys, places)
        heads = np.arange(self._model.heads)
        used = heads % kv_heads if self._flaw == GROUP else heads // group
        keys, values = (each.astype(np.float32)[:, used] for each in (keys, values))
        scores = np.einsum("qhd,khd->hqk", queries.astype(np.float32), keys) * np.float32(scale)
        seen = visible(part)
        before = len(part.keys) - len(part.queries)
        if self._flaw == PAGE and before and before % self._model.page == 0:
            seen = seen.copy()
            seen[:, before - self._model.page : before] = False
        scores = np.where(seen, scores, -np.inf)
        weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
        weights /= weights.sum(axis=-1, keepdims=True)
        result: Array = np.einsum("hqk,khd->qhd", weights, values)
        return result

    def _rotated(self, data: Array, positions: list[int]) -> Array:
        angles = np.outer(positions, frequencies(self._model) * self._model.scale)
        cosine, sine = (f(angles.astype(np.float32))[:, None] for f in (np.cos, np.sin))
        half = self._model.head_dim // 2
        neighbours = self._model.scaling == "gptj"
        left = slice(0, None, 2) if neighbours else slice(0, half)
        right = slice(1, None, 2) if neighbours else slice(half, None)
        wide = data.astype(np.float32)
        result = np.empty_like(wide)
        result[..., left] = wide[..., left] * cosine - wide[..., right] * sine
        result[..., right] = wide[..., right] * cosine + wide[..., left] * sine
        return result.astype(self._model.dtype)

    def end_forward(self) -> None:
        """End a forward pass."""

    def content(self, sequence: int, length: int) -> tuple[Array, Array]:
        """Keys and values of ``sequence``: (layers, length, kv_heads, head_dim) each."""
        tokens = self._cache.sequences[sequence].tokens
        rows = self._rows(tokens)
        keys = np.stack([np.concatenate(each)[rows] for each in self._keys])
        values = np.stack([np.concatenate(each)[rows] for each in self._values])
        if self._limits.rope == NORMAL:
            places = [token.position for token in tokens]
            keys = np.stack([self._rotated(each, places) for each in keys])
        return keys, values

    @property
    def length(self) -> int:
        """The tokens of all sequences."""
        return self._cache.length

    @property
    def empty(self) -> bool:
        """True if no sequence is there."""
        return not self._cache.sequences


def with_flaw(flaw: str) -> Callable[[Model, Limits, bool], DenseCache]:
    """A function that makes caches with ``flaw``."""
    return partial(DenseCache, flaw=flaw)
