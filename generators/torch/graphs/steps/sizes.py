"""Steps whose nodes take sizes of values as arguments."""

from collections.abc import Mapping
from random import Random

from relaxcheck.generators.core.dims import Dim
from relaxcheck.generators.core.polynomials import plus, times
from relaxcheck.generators.torch.graphs.drafting import Drafting, dtype
from relaxcheck.generators.torch.graphs.steps.step import METHOD, Step
from relaxcheck.generators.torch.graphs.wire import HIGHEST_RANK, Wire
from relaxcheck.generators.torch.program import Span


def _flat(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    """``x.reshape(x.size(0), -1)``, or with the size computed."""
    if wire.rank < 2 or any(dim == 0 for dim in wire.shape):
        return None
    rest = times(*wire.shape[1:])
    shape: tuple[Dim, ...]
    if random.random() < 0.5:
        sizes: list[object] = [wire.size(0), -1]
        shape = (wire.shape[0], rest)
    else:
        first = draft.number("operator.mul", wire.size(0), wire.size(1))
        sizes = [first, *(wire.size(at) for at in range(2, wire.rank))]
        shape = (times(wire.shape[0], wire.shape[1]), *wire.shape[2:])
    return draft.call(
        f"{METHOD}.reshape", wire, sizes, shape=shape, gives=wire.dtype, exact=wire.exact
    )


def _range(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    """Add the positions along a dimension."""
    if not wire.is_float or not wire.rank:
        return None
    axis = random.randrange(wire.rank)
    stated = {"dtype": dtype(wire.dtype)} if random.random() < 0.5 else {}
    counts = draft.call(
        "torch.arange",
        wire.size(axis),
        shape=(wire.shape[axis],),
        gives=wire.dtype if stated else "int64",
        exact=True,
        **stated,
    )
    shape = (wire.shape[axis], *(1,) * (wire.rank - 1 - axis))
    column = draft.call(
        f"{METHOD}.view",
        counts,
        [-1, *(1,) * (wire.rank - 1 - axis)],
        shape=shape,
        gives=counts.dtype,
        exact=True,
    )
    return draft.call("torch.add", wire, column, shape=wire.shape, gives=wire.dtype)


def _made(target: str, *values: object) -> Step:
    """A tensor of the value's sizes, joined with it."""

    def step(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
        if not wire.is_float or not wire.rank:
            return None
        axis = random.randrange(wire.rank)
        shape = (*wire.shape[:axis], 2, *wire.shape[axis + 1 :])
        sizes = [2 if at == axis else wire.size(at) for at in range(wire.rank)]
        stated = {"dtype": dtype(wire.dtype)}
        other = draft.call(
            target, sizes, *values, shape=shape, gives=wire.dtype, exact=True, **stated
        )
        from_both = [wire, other] if random.random() < 0.5 else [other, wire]
        longer = wire.replaced(axis, plus(wire.shape[axis], 2))
        return draft.call(
            "torch.cat", from_both, axis, shape=longer, gives=wire.dtype, exact=wire.exact
        )

    return step


def _like(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    if not wire.is_float:
        return None
    target, values = random.choice(
        (("torch.ones_like", ()), ("torch.zeros_like", ()), ("torch.full_like", (2.0,)))
    )
    other = draft.call(target, wire, *values, shape=wire.shape, gives=wire.dtype, exact=True)
    return draft.call("torch.add", wire, other, shape=wire.shape, gives=wire.dtype)


def _scaled(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    """A product with a size, or a quotient by one: a mean written out."""
    if not wire.is_float or not wire.rank:
        return None
    axis = random.randrange(wire.rank)
    if wire.shape[axis] == 0:
        return None
    target = random.choice(("torch.mul", "torch.div", "torch.add"))
    return draft.call(target, wire, wire.size(axis), shape=wire.shape, gives=wire.dtype)


def _expand_to(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    """A weight row expanded to the value's sizes."""
    last = wire.shape[-1] if wire.rank else 0
    if not wire.is_float or not isinstance(last, int) or wire.rank > HIGHEST_RANK:
        return None
    row = draft.weight((last,), wire.dtype)
    sizes = [*(wire.size(at) for at in range(wire.rank - 1)), -1]
    wide = draft.call(
        f"{METHOD}.expand", row, sizes, shape=wire.shape, gives=wire.dtype, exact=True
    )
    return draft.call("torch.sub", wire, wide, shape=wire.shape, gives=wire.dtype)


def _up_to(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    """The first rows of a table of positions, as many as the value has."""
    if wire.rank < 2 or not wire.is_float or not isinstance(wire.shape[-1], int):
        return None
    table = draft.weight((16, wire.shape[-1]), wire.dtype)
    rows = wire.shape[-2]
    if isinstance(rows, int) and rows > 16:
        return None
    if not isinstance(rows, int) and rows not in ("B", "S"):
        return None
    cut = draft.cut(table, Span(None, wire.size(wire.rank - 2)), shape=(rows, wire.shape[-1]))
    return draft.call("torch.add", wire, cut, shape=wire.shape, gives=wire.dtype)


STEPS: Mapping[str, Step] = {
    "flat-by-size": _flat,
    "arange": _range,
    "zeros": _made("torch.zeros"),
    "full": _made("torch.full", 2.0),
    "like": _like,
    "size-as-number": _scaled,
    "expand-to": _expand_to,
    "up-to-size": _up_to,
}
