"""The masks of attention, computed by an ONNX model from lengths and sequence starts."""

from functools import cache, lru_cache

import numpy as np
import onnx.parser
import onnxruntime
from numpy.typing import NDArray

from relaxcheck.oracles.answer import Array
from relaxcheck.oracles.onnxruntime.graph import session

_MODEL = """
<ir_version: 10, opset_import: ["": 23]>
visible (
    int64[bounds] starts_q, int64[bounds] starts_k, int64 queries, int64 keys,
    bool causal, bool bottom_right, bool windowed, int64 window_size
) => (bool[queries, keys] seen)
<int64 zero = {0}, int64 one = {1}, int64[1] front = {0}, int64[1] second = {1},
 int64[1] last = {-1}, int64[1] beyond = {9223372036854775807}, int64[2] behind = {1, 2}>
{
    first_q = Slice(starts_q, front, last)
    first_k = Slice(starts_k, front, last)
    stop_q = Slice(starts_q, second, beyond)
    stop_k = Slice(starts_k, second, beyond)
    length_q = Sub(stop_q, first_q)
    length_k = Sub(stop_k, first_k)
    difference = Sub(length_q, length_k)
    distance = Abs(difference)
    offset = Where(bottom_right, distance, zero)

    query = Range(zero, queries, one)
    query_column = Unsqueeze(query, second)
    from_q = Unsqueeze(first_q, behind)
    until_q = Unsqueeze(length_q, behind)
    i = Sub(query_column, from_q)
    begun_q = LessOrEqual(zero, i)
    unfinished_q = Less(i, until_q)
    of_q = And(begun_q, unfinished_q)

    key = Range(zero, keys, one)
    from_k = Unsqueeze(first_k, behind)
    until_k = Unsqueeze(length_k, behind)
    j = Sub(key, from_k)
    begun_k = LessOrEqual(zero, j)
    unfinished_k = Less(j, until_k)
    of_k = And(begun_k, unfinished_k)

    shift = Unsqueeze(offset, behind)
    diagonal = Add(i, shift)
    left = Sub(diagonal, window_size)
    not_causal = Not(causal)
    not_windowed = Not(windowed)
    not_beyond = LessOrEqual(j, diagonal)
    not_before = Greater(j, left)
    causal_holds = Or(not_causal, not_beyond)
    window_holds = Or(not_windowed, not_before)

    of_both = And(of_q, of_k)
    both_hold = And(causal_holds, window_holds)
    shown = And(of_both, both_hold)
    counted = Cast <to = 7> (shown)
    sequences = ReduceSum <keepdims = 0> (counted, front)
    seen = Greater(sequences, zero)
}
"""
# ``i`` (sequences, queries, 1) and ``j`` (sequences, 1, keys) count from the start of each
# sequence; ``shown`` has the axes of both. A key is seen where some sequence shows it.


def visible(
    starts_q: Array,
    starts_k: Array,
    queries: int,
    keys: int,
    causal_mask: str | None,
    window_size: int | None,
) -> NDArray[np.bool_]:
    """The mask (queries, keys) of sequences laid end to end: True where a query sees a key.

    Sequence n holds the queries ``starts_q[n]:starts_q[n + 1]`` and keys alike; a plain attention
    is one sequence. The array is cached and shared: do not write to it.
    """
    bounds = (tuple(starts.tolist()) for starts in (starts_q, starts_k))
    return _computed(*bounds, queries, keys, causal_mask, window_size)


# A case runs several times at the same lengths, with other values.
@lru_cache(maxsize=64)
def _computed(
    starts_q: tuple[int, ...],
    starts_k: tuple[int, ...],
    queries: int,
    keys: int,
    causal_mask: str | None,
    window_size: int | None,
) -> NDArray[np.bool_]:
    feeds = {
        "starts_q": np.array(starts_q, np.int64),
        "starts_k": np.array(starts_k, np.int64),
        "queries": np.array(queries, np.int64),
        "keys": np.array(keys, np.int64),
        "causal": np.array(causal_mask is not None),
        "bottom_right": np.array(causal_mask == "BottomRight"),
        "windowed": np.array(window_size is not None),
        "window_size": np.array(window_size or 0, np.int64),
    }
    seen = np.asarray(_session().run(["seen"], feeds)[0], np.bool_)
    seen.setflags(write=False)
    return seen


@cache
def _session() -> onnxruntime.InferenceSession:
    return session(onnx.parser.parse_model(_MODEL))
