"""Steps that take or replace elements at places that are data."""

from collections.abc import Mapping
from random import Random
from typing import Any

from relaxcheck.generators.core.fills.kinds import Below, Distinct, Within
from relaxcheck.generators.torch.graphs.drafting import EVERYTHING, Drafting, dtype
from relaxcheck.generators.torch.graphs.steps.step import FUNCTIONAL, METHOD, Step, counted
from relaxcheck.generators.torch.graphs.wire import HIGHEST_RANK, Wire


def _places(
    draft: Drafting, shape: tuple[int, ...], size: int, random: Random, *, negative: bool
) -> Wire:
    """Places on an axis of ``size``: an input, or what the module holds."""
    fill = Within(size) if negative else Below(size)
    if random.random() < 0.5:
        return draft.data(shape, "int64", fill, "i")
    return draft.weight(shape, "int64", fill, "i")


def _index(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    """``x[:, i]``: places along one dimension, from its end where they are negative."""
    axes = wire.fixed(1)
    if not axes:
        return None
    axis = random.choice(axes)
    shape = random.choice(((2,), (3,), (1, 2)))
    if wire.rank + len(shape) - 1 > HIGHEST_RANK:
        shape = (2,)
    places = _places(draft, shape, int(wire.shape[axis]), random, negative=True)
    before = [EVERYTHING] * axis
    return draft.cut(wire, *before, places, shape=wire.replaced(axis, *shape))


def _indices(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    """``x[i, :, j]``: places along two dimensions, together; apart, they come first."""
    axes = wire.fixed(1)
    if len(axes) < 2:
        return None
    one, other = sorted(random.sample(axes, 2))
    first = _places(draft, (2,), int(wire.shape[one]), random, negative=True)
    second = _places(draft, (2,), int(wire.shape[other]), random, negative=True)
    index: list[object] = [EVERYTHING] * (other + 1)
    index[one], index[other] = first, second
    rest = [dim for at, dim in enumerate(wire.shape) if at not in (one, other)]
    rest.insert(one if other == one + 1 else 0, 2)
    return draft.cut(wire, *index, shape=rest)


def _index_select(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    axes = wire.fixed(1)
    if not axes:
        return None
    axis = random.choice(axes)
    places = _places(draft, (3,), int(wire.shape[axis]), random, negative=False)
    return draft.call(
        "torch.index_select",
        wire,
        counted(axis, wire.rank, random),
        places,
        shape=wire.replaced(axis, 3),
        gives=wire.dtype,
        exact=wire.exact,
    )


def _all_fixed(wire: Wire) -> tuple[int, ...] | None:
    """The shape, if none of its sizes is symbolic or 0."""
    return tuple(map(int, wire.shape)) if len(wire.fixed(1)) == wire.rank and wire.rank else None


def _gather(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    shape = _all_fixed(wire)
    if shape is None:
        return None
    axis = random.randrange(wire.rank)
    wanted = (*shape[:axis], 2, *shape[axis + 1 :])
    places = _places(draft, wanted, shape[axis], random, negative=False)
    target = random.choice(("torch.gather", "torch.take_along_dim"))
    args = (counted(axis, wire.rank, random), places)
    return draft.call(
        target,
        wire,
        *(args if target == "torch.gather" else args[::-1]),
        shape=wanted,
        gives=wire.dtype,
        exact=wire.exact,
    )


def _take(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    shape = _all_fixed(wire)
    if shape is None:
        return None
    count = 1
    for size in shape:
        count *= size
    places = _places(draft, (2, 2), count, random, negative=True)
    return draft.call("torch.take", wire, places, shape=(2, 2), gives=wire.dtype, exact=wire.exact)


def _scatter(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    """Replace elements at distinct places, by others or by a number."""
    shape = _all_fixed(wire)
    axis = random.randrange(wire.rank) if wire.rank else 0
    if shape is None or shape[axis] < 2 or not wire.is_float:
        return None
    wanted = (*shape[:axis], 2, *shape[axis + 1 :])
    places = draft.weight(wanted, "int64", Distinct(shape[axis], axis), "i")
    # A negative place is out of range here.
    places = draft.call(
        "torch.remainder", places, shape[axis], shape=wanted, gives="int64", exact=True
    )
    source: Wire | float = draft.weight(wanted, wire.dtype) if random.random() < 0.6 else 2.0
    return draft.call(
        "torch.scatter",
        wire,
        counted(axis, wire.rank, random),
        places,
        source,
        shape=shape,
        gives=wire.dtype,
        exact=wire.exact,
    )


def _scatter_add(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    shape = _all_fixed(wire)
    if shape is None or not wire.is_float:
        return None
    axis = random.randrange(wire.rank)
    wanted = (*shape[:axis], 3, *shape[axis + 1 :])
    places = _places(draft, wanted, shape[axis], random, negative=False)
    source = draft.weight(wanted, wire.dtype)
    args: tuple[object, ...] = (axis, places, source)
    if random.random() < 0.5:
        how = random.choice(("sum", "amax"))
        return draft.call("torch.scatter_reduce", wire, *args, how, shape=shape, gives=wire.dtype)
    return draft.call("torch.scatter_add", wire, *args, shape=shape, gives=wire.dtype)


def _index_add(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    shape = _all_fixed(wire)
    if shape is None or not wire.is_float:
        return None
    axis = random.randrange(wire.rank)
    places = _places(draft, (3,), shape[axis], random, negative=False)
    source = draft.weight((*shape[:axis], 3, *shape[axis + 1 :]), wire.dtype)
    keywords: dict[str, Any] = {"alpha": 2} if random.random() < 0.5 else {}
    return draft.call(
        "torch.index_add", wire, axis, places, source, shape=shape, gives=wire.dtype, **keywords
    )


def _index_put(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    """Put rows at places along the first dimension, or add them there."""
    shape = _all_fixed(wire)
    if shape is None or not wire.is_float:
        return None
    adds = random.random() < 0.5
    if adds:
        places = _places(draft, (3,), shape[0], random, negative=True)
        rows = draft.weight((3, *shape[1:]), wire.dtype)
    else:
        # Which of two values stays at one place is open.
        places = draft.weight((shape[0],), "int64", Distinct(shape[0], 0), "i")
        rows = draft.weight(shape, wire.dtype)
    keywords: dict[str, Any] = {"accumulate": True} if adds else {}
    return draft.call(
        f"{METHOD}.index_put",
        wire,
        [places],
        rows,
        shape=shape,
        gives=wire.dtype,
        **keywords,
    )


def _mask_chosen(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    """Take the larger one by a mask that is computed: a comparison feeds ``where``."""
    if not wire.exact or not wire.is_float:
        return None
    mask = draft.call("torch.gt", wire, 0, shape=wire.shape, gives="bool", exact=True)
    other = draft.call("torch.mul", wire, -0.5, shape=wire.shape, gives=wire.dtype)
    return draft.call("torch.where", mask, wire, other, shape=wire.shape, gives=wire.dtype)


def _one_hot(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    if wire.rank >= HIGHEST_RANK or not wire.rank:
        return None
    last = wire.shape[-1]
    if not isinstance(last, int) or last < 1:
        return None
    places = _places(draft, (last,), 5, random, negative=False)
    wide = draft.call(
        f"{FUNCTIONAL}.one_hot", places, 5, shape=(last, 5), gives="int64", exact=True
    )
    if not wire.is_float:
        return wide
    cast = draft.call(
        f"{METHOD}.to", wide, dtype(wire.dtype), shape=(last, 5), gives=wire.dtype, exact=True
    )
    return draft.call("torch.matmul", wire, cast, shape=(*wire.shape[:-1], 5), gives=wire.dtype)


def _embedding(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    """Rows of a table at places that are an input, or at those that the value holds."""
    if wire.dtype == "int64" and wire.exact and 0 < wire.rank < HIGHEST_RANK:
        places = draft.call("torch.remainder", wire, 6, shape=wire.shape, gives="int64", exact=True)
        shape = wire.shape
    else:
        shape = (draft.batch, draft.length)
        places = draft.data(shape, "int64", Below(6), "i")
    table = draft.weight((6, 4))
    keywords: dict[str, Any] = {"padding_idx": 0} if random.random() < 0.3 else {}
    return draft.call(
        f"{FUNCTIONAL}.embedding", places, table, shape=(*shape, 4), exact=True, **keywords
    )


STEPS: Mapping[str, Step] = {
    "index": _index,
    "indices": _indices,
    "index_select": _index_select,
    "gather": _gather,
    "take": _take,
    "scatter": _scatter,
    "scatter-add": _scatter_add,
    "index_add": _index_add,
    "index_put": _index_put,
    "masked": _mask_chosen,
    "one_hot": _one_hot,
    "embedding": _embedding,
}
