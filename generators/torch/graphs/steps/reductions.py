"""Steps that reduce, scan and order."""

from collections.abc import Mapping
from random import Random
from typing import Any

from relaxcheck.generators.core.dims import Dim
from relaxcheck.generators.torch.graphs.drafting import Drafting, dtype
from relaxcheck.generators.torch.graphs.steps.step import Step, counted
from relaxcheck.generators.torch.graphs.wire import Wire


def _left(wire: Wire, axes: tuple[int, ...], *, keep: bool) -> tuple[Dim, ...]:
    """The shape of ``wire`` after its dimensions ``axes`` are reduced."""
    if keep:
        return tuple(1 if at in axes else dim for at, dim in enumerate(wire.shape))
    return tuple(dim for at, dim in enumerate(wire.shape) if at not in axes)


def _reduce(target: str, *, several: bool = True, exact: bool = False) -> Step:
    """Reduce one dimension, several, or all."""

    def step(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
        if not wire.is_float or not wire.rank:
            return None
        count = 1 if not several or random.random() < 0.6 else random.randint(1, wire.rank)
        axes = tuple(random.sample(range(wire.rank), count))
        keep = random.random() < 0.5
        numbers = tuple(counted(axis, wire.rank, random) for axis in axes)
        kept = {"keepdim": True} if keep else {}
        return draft.call(
            target,
            wire,
            numbers[0] if len(numbers) == 1 else numbers,
            shape=_left(wire, axes, keep=keep),
            gives=wire.dtype,
            exact=exact and wire.exact,
            **kept,
        )

    return step


def _whole(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    """Reduce to one number."""
    if not wire.is_float or not wire.rank:
        return None
    target = random.choice(("torch.sum", "torch.mean"))
    return draft.call(target, wire, shape=(), gives=wire.dtype)


def _sum_of_integers(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    """Sum integers or truth values, which makes int64 of them; or with a dtype stated."""
    if wire.is_float or not wire.rank:
        return None
    axis = random.randrange(wire.rank)
    stated = random.random() < 0.5
    keywords = {"dtype": dtype("float32")} if stated else {}
    return draft.call(
        "torch.sum",
        wire,
        counted(axis, wire.rank, random),
        shape=_left(wire, (axis,), keep=False),
        gives="float32" if stated else "int64",
        exact=not stated and wire.exact,
        **keywords,
    )


def _spread(target: str) -> Step:
    """A variance or standard deviation, by how much its divisor is corrected."""

    def step(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
        axes = wire.fixed(3)
        if not wire.is_float or not axes:
            return None
        axis, keep = random.choice(axes), random.random() < 0.5
        correction = random.choice((0, 1, 2))
        keywords: dict[str, Any] = {"correction": correction, "keepdim": keep}
        return draft.call(
            target,
            wire,
            shape=_left(wire, (axis,), keep=keep),
            gives=wire.dtype,
            dim=counted(axis, wire.rank, random),
            **keywords,
        )

    return step


def _spread_and_mean(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    axes = wire.fixed(3)
    if not wire.is_float or not axes:
        return None
    axis = random.choice(axes)
    shape = _left(wire, (axis,), keep=True)
    spread, mean = draft.several(
        "torch.var_mean",
        wire,
        results=((shape, wire.dtype), (shape, wire.dtype)),
        dim=axis,
        keepdim=True,
        correction=random.choice((0, 1)),
    )
    return draft.call("torch.sub", mean, spread, shape=shape, gives=wire.dtype)


def _norm(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    if not wire.is_float or not wire.rank:
        return None
    axis, keep = random.randrange(wire.rank), random.random() < 0.5
    return draft.call(
        "torch.linalg.vector_norm",
        wire,
        random.choice((2, 1, 3)),
        shape=_left(wire, (axis,), keep=keep),
        gives=wire.dtype,
        dim=axis,
        keepdim=keep,
    )


def _place_of_extreme(target: str) -> Step:
    """The place of the first largest or smallest element."""

    def step(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
        if not wire.exact or wire.dtype == "bool" or not wire.rank:
            return None
        axis, keep = random.randrange(wire.rank), random.random() < 0.5
        return draft.call(
            target,
            wire,
            shape=_left(wire, (axis,), keep=keep),
            gives="int64",
            exact=True,
            dim=counted(axis, wire.rank, random),
            keepdim=keep,
        )

    return step


def _extreme_with_place(target: str) -> Step:
    def step(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
        if not wire.exact or wire.dtype == "bool" or not wire.rank:
            return None
        axis, keep = random.randrange(wire.rank), random.random() < 0.5
        shape = _left(wire, (axis,), keep=keep)
        value, _ = draft.several(
            target,
            wire,
            results=((shape, wire.dtype), (shape, "int64")),
            exact=True,
            dim=counted(axis, wire.rank, random),
            keepdim=keep,
        )
        return value

    return step


def _truth(target: str) -> Step:
    def step(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
        if not wire.exact or not wire.rank:
            return None
        axis, keep = random.randrange(wire.rank), random.random() < 0.5
        return draft.call(
            target,
            wire,
            shape=_left(wire, (axis,), keep=keep),
            gives="bool",
            exact=True,
            dim=counted(axis, wire.rank, random),
            keepdim=keep,
        )

    return step


def _scan(target: str) -> Step:
    def step(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
        if not wire.is_float or not wire.rank:
            return None
        axis = random.randrange(-wire.rank, wire.rank)
        return draft.call(target, wire, axis, shape=wire.shape, gives=wire.dtype)

    return step


def _scan_of_integers(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    if wire.is_float or not wire.rank:
        return None
    axis = random.randrange(-wire.rank, wire.rank)
    return draft.call("torch.cumsum", wire, axis, shape=wire.shape, gives="int64", exact=wire.exact)


def _sort(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    """Sorted values; with their places where equal ones keep their order."""
    if not wire.exact or wire.dtype == "bool" or not wire.rank:
        return None
    axis = random.randrange(-wire.rank, wire.rank)
    descending = random.random() < 0.5
    order = {"dim": axis, "descending": descending, "stable": True}
    if random.random() < 0.4:
        return draft.call(
            "torch.argsort", wire, shape=wire.shape, gives="int64", exact=True, **order
        )
    value, _ = draft.several(
        "torch.sort",
        wire,
        results=((wire.shape, wire.dtype), (wire.shape, "int64")),
        exact=True,
        **order,
    )
    return value


def _topk(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    """The largest or smallest elements, in order; which of equal ones is taken is open."""
    axes = wire.fixed(2)
    if not wire.exact or wire.dtype == "bool" or not axes:
        return None
    axis = random.choice(axes)
    count = random.choice((1, int(wire.shape[axis]) - 1))
    (value,) = draft.several(
        "torch.topk",
        wire,
        count,
        results=((wire.replaced(axis, count), wire.dtype),),
        exact=True,
        dim=counted(axis, wire.rank, random),
        largest=random.random() < 0.5,
    )
    return value


STEPS: Mapping[str, Step] = {
    "sum": _reduce("torch.sum"),
    "mean": _reduce("torch.mean"),
    "amax": _reduce("torch.amax", exact=True),
    "amin": _reduce("torch.amin", exact=True),
    "logsumexp": _reduce("torch.logsumexp"),
    "prod": _reduce("torch.prod", several=False),
    "whole": _whole,
    "sum-of-integers": _sum_of_integers,
    "var": _spread("torch.var"),
    "std": _spread("torch.std"),
    "var_mean": _spread_and_mean,
    "vector_norm": _norm,
    "argmax": _place_of_extreme("torch.argmax"),
    "argmin": _place_of_extreme("torch.argmin"),
    "max": _extreme_with_place("torch.max"),
    "min": _extreme_with_place("torch.min"),
    "any": _truth("torch.any"),
    "all": _truth("torch.all"),
    "cumsum": _scan("torch.cumsum"),
    "cumprod": _scan("torch.cumprod"),
    "cumsum-of-integers": _scan_of_integers,
    "sort": _sort,
    "topk": _topk,
}
