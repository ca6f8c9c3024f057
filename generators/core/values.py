"""Input values of a case: made from its seed and regime, the same on every machine.

The bits come from Philox, a counter-based generator (Salmon et al., "Parallel random numbers: as
easy as 1, 2, 3", SC 2011), keyed by a hash of seed, input name and binding. Only its raw 64-bit
words are used, which NumPy guarantees to be stable; every mapping to a value is done here, in
integer arithmetic.
"""

import hashlib
from collections.abc import Mapping, Sequence
from math import floor, prod
from typing import Any, Protocol

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from relaxcheck.generators.core.dims import evaluate
from relaxcheck.generators.core.fills.borders import Borders, borders
from relaxcheck.generators.core.fills.drawn import Drawn, filled
from relaxcheck.generators.core.fills.kinds import (
    Below,
    Classed,
    Distinct,
    Fill,
    Literal,
    LongestSegment,
    Misfit,
    Offsets,
    Positive,
    Regions,
    Steps,
    Within,
)
from relaxcheck.generators.core.fills.whole_range import spanning
from relaxcheck.generators.core.program import WHOLE_RANGE

Array = NDArray[Any]

_PHILOX = np.random.Philox(key=0)
"""Set to its beginning, with another key, for each input: a new one would ask the system for
entropy that a key makes useless, and take ten times as long."""


FOREIGN = (
    *("bfloat16", "float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz"),
    *("float8_e8m0fnu", "float4_e2m1fn", "int4", "uint4", "int2", "uint2"),
)
"""The dtypes that NumPy lacks, by the names of ml_dtypes; where TVM has them, by its own, too."""


class Filled(Protocol):
    """A tensor whose values a case gives. A ``constant`` has the same ones at every binding."""

    @property
    def name(self) -> str:
        """Its name, which its values depend on."""

    @property
    def dtype(self) -> str:
        """The name of its dtype."""

    @property
    def constant(self) -> bool:
        """True if it is no argument of a run."""

    @property
    def fill(self) -> Fill:
        """The kind of its values."""


class Feeding(Protocol):
    """A case whose inputs have drawn values."""

    @property
    def seed(self) -> int:
        """The seed of the values."""

    @property
    def regime(self) -> str:
        """The regime of the values."""

    @property
    def bindings(self) -> tuple[dict[str, int], ...]:
        """The sizes of symbols, by run."""

    @property
    def inputs(self) -> Sequence[Filled]:
        """The tensors."""

    def shape(self, name: str, binding: Mapping[str, int]) -> tuple[int, ...]:
        """The shape of the tensor ``name`` at ``binding``."""


def numpy_dtype(name: str) -> np.dtype[Any]:
    """The NumPy dtype for TVM's dtype ``name`` (those that NumPy lacks through ml_dtypes)."""
    return np.dtype(getattr(ml_dtypes, name)) if name in FOREIGN else np.dtype(name)


def arrays(case: Feeding, binding_index: int, regime: str | None = None) -> dict[str, Array]:
    """The value of each input of ``case`` at its binding number ``binding_index``, by name.

    ``regime`` is the case's own unless given. A constant has the same value at every binding, and
    always in the case's own regime.
    """
    binding = case.bindings[binding_index]
    made: dict[str, Array] = {}
    for tensor in case.inputs:
        run, drawn = (
            (-1, case.regime) if tensor.constant else (binding_index, regime or case.regime)
        )
        shape = case.shape(tensor.name, binding)
        made[tensor.name] = _fill(case, tensor, shape, run, drawn, binding, made)
    return made


def constants(case: Feeding) -> dict[str, Array]:
    """The values of the constant inputs of ``case``, by name."""
    made: dict[str, Array] = {}
    for tensor in case.inputs:
        if tensor.constant:
            shape = case.shape(tensor.name, {})
            made[tensor.name] = _fill(case, tensor, shape, -1, case.regime, {}, made)
    return made


def _fill(
    case: Feeding,
    tensor: Filled,
    shape: tuple[int, ...],
    run: int,
    regime: str,
    binding: Mapping[str, int],
    made: Mapping[str, Array],
) -> Array:
    dtype = numpy_dtype(tensor.dtype)
    match tensor.fill:
        case Literal(values=values):
            return np.array(values, dtype).reshape(shape)
        case Offsets(total=total):
            size = evaluate(total, binding)
            return _offsets(_words(case, tensor, run, size), size, shape[0] - 1).astype(dtype)
        case LongestSegment(of=of):
            return np.array(np.diff(made[of]).max(initial=0), dtype).reshape(shape)
        case Regions(limit=limit, reach=reach):
            size = max(evaluate(limit, binding), 1)
            rows = -(-prod(shape) // 5)
            drawn = _boxes(_words(case, tensor, run, 5 * rows), size, reach).astype(dtype)
            # A wrong call may have rows of six.
            return drawn.ravel()[: prod(shape)].reshape(shape)
        case Steps(parts=parts, reach=reach):
            places = _drawn(_words(case, tensor, run, prod(shape)), 2 * reach + 1) - reach
            return (places / parts).astype(dtype).reshape(shape)
        case Distinct(limit=limit, along=along, negative=counted_back):
            size = evaluate(limit, binding)
            full = (*shape[:along], size, *shape[along + 1 :])
            words = _words(case, tensor, run, prod(full)).reshape(full)
            order = np.argsort(words, axis=along, kind="stable")
            places = np.take(order, range(shape[along]), axis=along)
            if not counted_back:
                return places.astype(dtype)
            negative = np.take(words, range(shape[along]), axis=along) % np.uint64(2) == 1
            return np.where(negative, places - size, places).astype(dtype)
        case Below(limit=limit):
            size = max(evaluate(limit, binding), 1)
            most = 2 * size if isinstance(tensor.fill, Within) else size
            places = _drawn(_words(case, tensor, run, prod(shape)), most)
            return (places - (most - size)).astype(dtype).reshape(shape)
        case Misfit(shape=other):
            shape = tuple(evaluate(dim, binding) for dim in other)
    words = _words(case, tensor, run, prod(shape))
    if isinstance(tensor.fill, Borders):
        return borders(words, dtype, numpy_dtype(tensor.fill.to)).reshape(shape)
    if isinstance(tensor.fill, Drawn):
        # Arithmetic makes numbers of NumPy of arrays without dimensions.
        return np.asarray(filled(tensor.fill, words.reshape(shape))).astype(dtype)
    if isinstance(tensor.fill, Classed):
        return _of_all_classes(words, dtype).reshape(shape)
    if isinstance(tensor.fill, Positive):
        sized = _in_regime(case, tensor, run, words, regime, dtype)
        # The whole range begins at a pole, not half a number away from it.
        least = tensor.fill.least if regime != WHOLE_RANGE else floor(tensor.fill.least)
        moved: Array = np.abs(sized) + dtype.type(least)
        return moved.astype(dtype).reshape(shape)
    return _in_regime(case, tensor, run, words, regime, dtype).reshape(shape)


def _drawn(words: NDArray[np.uint64], most: int) -> NDArray[np.int64]:
    """Integers from 0 to ``most - 1``."""
    return ((words >> np.uint64(32)) % np.uint64(most)).astype(np.int64)


def _boxes(words: NDArray[np.uint64], places: int, reach: int) -> NDArray[np.float64]:
    """Rows of a place, of ``places``, and two corners."""
    rows = words.reshape(-1, 5)
    first = _drawn(rows[:, 1:3], 4 * (reach + 2)) / 4 - 2
    last = first + (1 + _drawn(rows[:, 3:], 4 * reach)) / 4
    return np.concatenate([_drawn(rows[:, :1], places), first, last], axis=1)


def _in_regime(
    case: Feeding,
    tensor: Filled,
    run: int,
    words: NDArray[np.uint64],
    regime: str,
    dtype: np.dtype[Any],
) -> Array:
    """A flat array of ``dtype``, an element for each of ``words``."""
    if regime == WHOLE_RANGE and dtype.kind not in "iub":
        return spanning(words, dtype)
    ordinary = _regime(words, regime, dtype)
    if regime == "special":
        kind, rarity = _digest(case, tensor, run)[16:18]
        return _with_specials(ordinary, words, kind, rarity)
    if powers := exponents(dtype.name, regime):
        return _spread(ordinary, words, powers)
    return ordinary


def _digest(case: Feeding, tensor: Filled, run: int) -> bytes:
    """32 random bytes of one input: 16 key its words, the others decide about all its elements."""
    return hashlib.sha256(f"{case.seed}/{tensor.name}/{run}".encode()).digest()


def _words(case: Feeding, tensor: Filled, run: int, count: int) -> NDArray[np.uint64]:
    key = _digest(case, tensor, run)[:16]
    _PHILOX.state = {
        "bit_generator": "Philox",
        "state": {
            "counter": np.zeros(4, np.uint64),
            "key": np.frombuffer(key, dtype="<u8").astype(np.uint64),
        },
        "buffer": np.zeros(4, np.uint64),
        "buffer_pos": 4,
        "has_uint32": 0,
        "uinteger": 0,
    }
    return np.asarray(_PHILOX.random_raw(max(count, 1)), np.uint64)[:count]


# normal: multiples of 2**-11 in [-2, 2). exact: small integers, so that sums of products are
# exactly representable and any difference at all is a bug. special: normal with signed zeros,
# subnormal numbers, the largest finite ones, infinities and NaN in between; integers with their
# limits, which wrap around. moderate and boundary: normal at three magnitudes. In moderate, exp(x)
# overflows, and so do long sums of products in float16; in boundary these stay finite. range: all
# finite numbers of a dtype (fills.whole_range); integers as in normal.
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


# Every second tensor has its own kind of special value, so that sums do not all end in NaN.
_KINDS = ("none", "none", "tiny", "tiny", "huge", "infinite", "nan", "all")

_ONE_IN = (16, 64, 256)
"""One element in so many is special, four times as many where all are tiny; and always one."""


def _with_specials(ordinary: Array, words: NDArray[np.uint64], kind: int, rarity: int) -> Array:
    """``ordinary`` (flat) with special values at some places, all chosen by the random words."""
    chosen = _KINDS[kind % len(_KINDS)]
    if chosen == "none" or not words.size or ordinary.dtype.kind == "b":
        return ordinary
    table = _specials(ordinary.dtype, chosen)
    one_in = np.uint64(_ONE_IN[rarity % len(_ONE_IN)] // (4 if chosen == "tiny" else 1))
    place = (words >> np.uint64(8)) % one_in == 0
    place[int(words[0] % np.uint64(words.size))] = True
    which = ((words >> np.uint64(20)) % np.uint64(len(table))).astype(np.int64)
    mixed: Array = np.where(place, table[which], ordinary)
    return mixed


def _of_all_classes(words: NDArray[np.uint64], dtype: np.dtype[Any]) -> Array:
    ordinary = _regime(words, "normal", dtype)
    if dtype.kind == "b":
        return ordinary
    table = _specials(dtype, "all")
    which = ((words >> np.uint64(16)) % np.uint64(len(table))).astype(np.int64)
    mixed: Array = np.where((words >> np.uint64(8)) % np.uint64(2) == 0, table[which], ordinary)
    return mixed


_NARROW = ("int4", "uint4", "int2", "uint2")
"""The integers that NumPy lacks."""


def _specials(dtype: np.dtype[Any], kind: str) -> Array:
    """The special values of ``dtype``; integers have one kind only."""
    if dtype.kind in "iu" or dtype.name in _NARROW:
        info = ml_dtypes.iinfo(dtype)
        # The oracles hold integers in int64.
        most = min(info.max, np.iinfo(np.int64).max)
        return np.array([info.min, most, 0, -1 if info.min else most], dtype)
    known = ml_dtypes.finfo(dtype)
    normal, smallest = float(known.smallest_normal), float(known.smallest_subnormal)
    largest = float(known.max)
    magnitudes = {
        "tiny": (0.0, smallest, normal - smallest, normal),
        "huge": (largest, largest / 4),
        "infinite": (np.inf,),
        "nan": (np.nan,),
    }
    parts = magnitudes.values() if kind == "all" else (magnitudes[kind],)
    values = [sign * value for part in parts for value in part for sign in (1, -1)]
    return np.array(values, np.float64).astype(dtype)


# Powers of two. Of "boundary": sums of thousands of products of two such elements stay finite.
_EXPONENTS = {
    "moderate": {
        "float16": (-9, 0, 3),
        "bfloat16": (-20, 0, 6),
        "float32": (-20, 0, 6),
        "float64": (-50, 0, 9),
    },
    "boundary": {
        "float16": (-11, 0, 1),
        "bfloat16": (-60, 0, 55),
        "float32": (-60, 0, 55),
        "float64": (-500, 0, 500),
    },
}


def exponents(dtype: str, regime: str) -> tuple[int, ...]:
    """The powers of two of the magnitudes of ``dtype`` in ``regime``; none where there is one."""
    return _EXPONENTS.get(regime, {}).get(dtype, ())


def _spread(ordinary: Array, words: NDArray[np.uint64], powers: tuple[int, ...]) -> Array:
    """``ordinary`` (flat), each element times two to one of ``powers``."""
    which = ((words >> np.uint64(8)) % np.uint64(len(powers))).astype(np.int64)
    spread: Array = np.ldexp(ordinary.astype(np.float64), np.array(powers)[which])
    return spread.astype(ordinary.dtype)


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
