"""Input values of a case: made from its seed and regime, the same on every machine.

The bits come from Philox, a counter-based generator (Salmon et al., "Parallel random numbers: as
easy as 1, 2, 3", SC 2011), keyed by a hash of seed, input name and binding. Only its raw 64-bit
words are used, which NumPy guarantees to be stable; every mapping to a value is done here, in
integer arithmetic.
"""

import hashlib
from collections.abc import Mapping
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from generators.dims import evaluate
from generators.program import Case, Input, Literal, LongestSegment, Offsets

Array = NDArray[Any]


def numpy_dtype(name: str) -> np.dtype[Any]:
    """The NumPy dtype for TVM's dtype ``name`` (bfloat16 through ml_dtypes)."""
    return np.dtype(ml_dtypes.bfloat16) if name == "bfloat16" else np.dtype(name)


def arrays(case: Case, binding_index: int) -> dict[str, Array]:
    """The value of each input of ``case`` at its binding number ``binding_index``, by name.

    A constant has the same value at every binding.
    """
    binding = case.bindings[binding_index]
    made: dict[str, Array] = {}
    for given in case.program.inputs:
        run = -1 if given.constant else binding_index
        shape = case.shape(given.name, binding)
        made[given.name] = _fill(case, given, shape, run, binding, made)
    return made


def constants(case: Case) -> dict[str, Array]:
    """The values of the constant inputs of ``case``, by name."""
    return {
        given.name: _fill(case, given, case.shape(given.name, {}), -1, {}, {})
        for given in case.program.inputs
        if given.constant
    }


def _fill(
    case: Case,
    given: Input,
    shape: tuple[int, ...],
    run: int,
    binding: Mapping[str, int],
    made: Mapping[str, Array],
) -> Array:
    dtype = numpy_dtype(given.dtype)
    match given.fill:
        case Literal(values=values):
            return np.array(values, dtype).reshape(shape)
        case Offsets(total=total):
            size = evaluate(total, binding)
            return _offsets(_words(case, given, run, size), size, shape[0] - 1).astype(dtype)
        case LongestSegment(of=of):
            return np.array(np.diff(made[of]).max(initial=0), dtype).reshape(shape)
    words = _words(case, given, run, int(np.prod(shape, dtype=np.int64)))
    return _regime(words, case.regime, dtype).reshape(shape)


def _words(case: Case, given: Input, run: int, count: int) -> NDArray[np.uint64]:
    key = hashlib.sha256(f"{case.seed}/{given.name}/{run}".encode()).digest()
    philox = np.random.Philox(key=np.frombuffer(key[:16], dtype="<u8").astype(np.uint64))
    return np.asarray(philox.random_raw(max(count, 1)), np.uint64)[:count]


# normal: multiples of 2**-11 in [-2, 2). exact: small integers, so that sums of products are
# exactly representable and any difference at all is a bug.
def _regime(words: NDArray[np.uint64], regime: str, dtype: np.dtype[Any]) -> Array:
    bits = (words >> np.uint64(40)).astype(np.int64)
    if dtype.kind == "b":
        return (bits % 2).astype(dtype)
    if dtype.kind in "iu":
        # Products of two such values summed a few hundred times stay inside int16.
        return (bits % 8 - (4 if dtype.kind == "i" else 0)).astype(dtype)
    if regime == "exact":
        return (bits % 7 - 3).astype(np.float64).astype(dtype)
    return ((bits % 8192 - 4096).astype(np.float64) / 2048.0).astype(dtype)


def _offsets(words: NDArray[np.uint64], total: int, segments: int) -> NDArray[np.int64]:
    """``segments + 1`` offsets from 0 to ``total``, no segment empty where that is possible."""
    if segments <= 0:
        return np.zeros(segments + 1, np.int64)
    if total < segments:
        inner = np.minimum(np.arange(1, segments), total)
    else:
        # The cuts are the first distinct positions in the order that the random words give.
        order = np.argsort(words[: total - 1], kind="stable") + 1
        inner = np.sort(order[: segments - 1])
    return np.concatenate([[0], inner, [total]]).astype(np.int64)
