"""Steps that move elements: reshape, turn, join, cut, repeat and pad."""

from collections.abc import Mapping
from random import Random

from relaxcheck.generators.core.dims import Dim
from relaxcheck.generators.core.polynomials import plus, times
from relaxcheck.generators.torch.graphs.drafting import EVERYTHING, Drafting
from relaxcheck.generators.torch.graphs.steps.step import FUNCTIONAL, METHOD, Step, counted
from relaxcheck.generators.torch.graphs.wire import HIGHEST_RANK, Wire
from relaxcheck.generators.torch.program import Dots, Span


def _moved(
    draft: Drafting, target: str, wire: Wire, *args: object, shape: tuple[Dim, ...], **kw: object
) -> Wire:
    return draft.call(target, wire, *args, shape=shape, gives=wire.dtype, exact=wire.exact, **kw)


def _permute(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    if wire.rank < 2:
        return None
    order = list(range(wire.rank))
    random.shuffle(order)
    numbers = [counted(axis, wire.rank, random) for axis in order]
    shape = tuple(wire.shape[at] for at in order)
    return _moved(draft, "torch.permute", wire, numbers, shape=shape)


def _transpose(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    if wire.rank < 2:
        return None
    one, other = random.sample(range(wire.rank), 2)
    shape = list(wire.shape)
    shape[one], shape[other] = shape[other], shape[one]
    numbers = (counted(one, wire.rank, random), counted(other, wire.rank, random))
    target = random.choice(("torch.transpose", f"{METHOD}.swapaxes"))
    return _moved(draft, target, wire, *numbers, shape=tuple(shape))


def _movedim(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    if wire.rank < 2:
        return None
    source, to = random.randrange(wire.rank), random.randrange(wire.rank)
    order = [at for at in range(wire.rank) if at != source]
    order.insert(to, source)
    shape = tuple(wire.shape[at] for at in order)
    return _moved(draft, "torch.movedim", wire, source, counted(to, wire.rank, random), shape=shape)


def _apart(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    """The last dimension in two, as for heads."""
    last = wire.shape[-1] if wire.rank else 1
    if not 1 <= wire.rank < HIGHEST_RANK or not isinstance(last, int) or last % 2 or not last:
        return None
    shape = (*wire.shape[:-1], 2, last // 2)
    if random.random() < 0.4:
        halves = (2, -1) if random.random() < 0.5 else (2, last // 2)
        return _moved(draft, f"{METHOD}.unflatten", wire, -1, halves, shape=shape)
    sizes = [
        dim if isinstance(dim, int) else wire.size(at) for at, dim in enumerate(wire.shape[:-1])
    ]
    target = random.choice(("torch.reshape", f"{METHOD}.reshape"))
    return _moved(draft, target, wire, [*sizes, 2, last // 2], shape=shape)


def _together(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    """Neighbouring dimensions in one."""
    if wire.rank < 2:
        return None
    first = random.randrange(wire.rank - 1)
    last = random.randrange(first + 1, wire.rank)
    merged = times(*wire.shape[first : last + 1])
    shape = (*wire.shape[:first], merged, *wire.shape[last + 1 :])
    return _moved(
        draft, "torch.flatten", wire, first, counted(last, wire.rank, random), shape=shape
    )


def _in_rows(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    """All dimensions but the last in one of -1 elements."""
    if wire.rank < 2 or not isinstance(wire.shape[-1], int) or not wire.shape[-1]:
        return None
    shape = (times(*wire.shape[:-1]), wire.shape[-1])
    return _moved(draft, "torch.reshape", wire, (-1, wire.shape[-1]), shape=shape)


def _unsqueeze(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    if wire.rank >= HIGHEST_RANK:
        return None
    axis = random.randrange(wire.rank + 1)
    shape = (*wire.shape[:axis], 1, *wire.shape[axis:])
    return _moved(draft, "torch.unsqueeze", wire, counted(axis, wire.rank + 1, random), shape=shape)


def _there_and_back(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    axis = random.randrange(wire.rank + 1)
    shape = (*wire.shape[:axis], 1, *wire.shape[axis:])
    wide = _moved(draft, "torch.unsqueeze", wire, axis, shape=shape)
    return _moved(draft, "torch.squeeze", wide, counted(axis, len(shape), random), shape=wire.shape)


def _cat(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    if not wire.rank:
        return None
    axis = random.randrange(wire.rank)
    fixed = all(isinstance(dim, int) for at, dim in enumerate(wire.shape) if at != axis)
    size: Dim = wire.shape[axis]
    other = wire
    if fixed and random.random() < 0.6:
        size = 2
        other = draft.weight([int(dim) for dim in wire.replaced(axis, 2)], wire.dtype)
    shape = wire.replaced(axis, plus(wire.shape[axis], size))
    joined = [wire, other] if random.random() < 0.6 else [other, wire]
    return draft.call(
        "torch.cat",
        joined,
        counted(axis, wire.rank, random),
        shape=shape,
        gives=wire.dtype,
        exact=wire.exact,
    )


def _stack(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    if wire.rank >= HIGHEST_RANK or not wire.is_float:
        return None
    axis = random.randrange(wire.rank + 1)
    other = draft.call("torch.neg", wire, shape=wire.shape, gives=wire.dtype, exact=wire.exact)
    shape = (*wire.shape[:axis], 2, *wire.shape[axis:])
    return draft.call(
        "torch.stack",
        [wire, other],
        counted(axis, wire.rank + 1, random),
        shape=shape,
        gives=wire.dtype,
        exact=wire.exact,
    )


def _split(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    """Parts of equal or stated sizes; one of them goes on."""
    axes = wire.fixed(2)
    if not axes:
        return None
    axis = random.choice(axes)
    size = int(wire.shape[axis])
    number = counted(axis, wire.rank, random)
    first = size // 2 if random.random() < 0.5 else size - 1
    sizes = [first, size - first]
    target, argument = random.choice(
        (
            ("torch.split", (first, size - first)),
            ("torch.split", (size + 1) // 2),
            ("torch.chunk", 2),
            ("torch.tensor_split", (first,)),
        )
    )
    if isinstance(argument, int):
        half = (size + 1) // 2
        sizes = [half, size - half]
    parts = draft.several(
        target,
        wire,
        argument,
        number,
        results=[(wire.replaced(axis, part), wire.dtype) for part in sizes],
        exact=wire.exact,
    )
    return random.choice(parts)


def _unbind(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    axes = [at for at in wire.fixed(1) if int(wire.shape[at]) <= 4]
    if not axes:
        return None
    axis = random.choice(axes)
    parts = draft.several(
        "torch.unbind",
        wire,
        counted(axis, wire.rank, random),
        results=[(wire.replaced(axis), wire.dtype)] * int(wire.shape[axis]),
        exact=wire.exact,
    )
    return random.choice(parts)


def _slice(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    """``x[..., start:stop:step, :]``, with what Python allows of bounds."""
    axes = wire.fixed(2)
    if not axes:
        return None
    axis = random.choice(axes)
    size = int(wire.shape[axis])
    span = random.choice(
        (
            Span(1),
            Span(None, -1),
            Span(-1),
            Span(0, 1),
            Span(None, None, 2),
            Span(1, None, 2),
            Span(-2, 99),
            Span(0, size, 3),
        )
    )
    count = len(range(*slice(span.start, span.stop, span.step).indices(size)))
    shape = wire.replaced(axis, count)
    if random.random() < 0.5:
        return draft.cut(wire, *(EVERYTHING for _ in range(axis)), span, shape=shape)
    behind = [EVERYTHING] * (wire.rank - 1 - axis)
    return draft.cut(wire, Dots(), span, *behind, shape=shape)


def _narrow(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    axes = wire.fixed(2)
    if not axes:
        return None
    axis = random.choice(axes)
    length = int(wire.shape[axis]) - 1
    start = random.choice((0, 1))
    shape = wire.replaced(axis, length)
    return _moved(
        draft, "torch.narrow", wire, counted(axis, wire.rank, random), start, length, shape=shape
    )


def _select(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    axes = wire.fixed(1)
    if not axes:
        return None
    axis = random.choice(axes)
    size = int(wire.shape[axis])
    at = random.choice((0, -1, size - 1, size // 2))
    shape = wire.replaced(axis)
    if random.random() < 0.5:
        return _moved(
            draft, "torch.select", wire, counted(axis, wire.rank, random), at, shape=shape
        )
    return draft.cut(wire, *(EVERYTHING for _ in range(axis)), at, shape=shape)


def _last(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    """``x[:, -1]``, or ``x[-1]``, of a dimension that may be symbolic."""
    if not wire.rank or wire.shape[0] == 0 or wire.shape[wire.rank > 1] == 0:
        return None
    if wire.rank == 1:
        return draft.cut(wire, -1, shape=())
    return draft.cut(wire, EVERYTHING, -1, shape=wire.replaced(1))


def _new_axis(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    """``x[:, None]`` and ``x[..., None]``."""
    if wire.rank >= HIGHEST_RANK or not wire.rank:
        return None
    if random.random() < 0.5:
        return draft.cut(wire, Dots(), None, shape=(*wire.shape, 1))
    shape = (wire.shape[0], 1, *wire.shape[1:])
    return draft.cut(wire, EVERYTHING, None, shape=shape)


def _repeat(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    if not wire.rank:
        return None
    axis = random.randrange(wire.rank)
    shape = wire.replaced(axis, times(2, wire.shape[axis]))
    if random.random() < 0.4:
        return _moved(
            draft,
            "torch.repeat_interleave",
            wire,
            2,
            shape=shape,
            dim=counted(axis, wire.rank, random),
        )
    repeats = [2 if at == axis else 1 for at in range(wire.rank)]
    target = random.choice((f"{METHOD}.repeat", "torch.tile"))
    return _moved(draft, target, wire, repeats, shape=shape)


def _expand(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    """Repeat along a new first dimension, and along those of size 1."""
    if wire.rank >= HIGHEST_RANK:
        return None
    shape = (2, *(3 if dim == 1 else dim for dim in wire.shape))
    sizes = [2, *(3 if dim == 1 else -1 for dim in wire.shape)]
    return _moved(draft, f"{METHOD}.expand", wire, sizes, shape=shape)


def _flip(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    if not wire.rank:
        return None
    axes = random.sample(range(wire.rank), random.choice((1, min(2, wire.rank))))
    numbers = [counted(axis, wire.rank, random) for axis in axes]
    return _moved(draft, "torch.flip", wire, numbers, shape=wire.shape)


def _roll(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    axes = wire.fixed(1)
    if not axes:
        return None
    axis, shift = random.choice(axes), random.choice((1, -2))
    return _moved(
        draft, "torch.roll", wire, shift, counted(axis, wire.rank, random), shape=wire.shape
    )


def _pad(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    """Pad the last dimension, or the last two, by constants; cut where a size is negative."""
    if not wire.rank or wire.dtype == "bool":
        return None
    before, behind = random.choice(((1, 0), (0, 2), (1, 1)))
    if isinstance(wire.shape[-1], int) and wire.shape[-1] > 2 and random.random() < 0.2:
        before, behind = -1, 1
    sizes, shape = [before, behind], list(wire.shape)
    shape[-1] = plus(shape[-1], before + behind)
    if wire.rank > 1 and random.random() < 0.4:
        sizes += [0, 1]
        shape[-2] = plus(shape[-2], 1)
    value = random.choice((0, 2))
    keywords = {"value": value} if value else {}
    return _moved(draft, f"{FUNCTIONAL}.pad", wire, sizes, shape=tuple(shape), **keywords)


def _pad_by_own(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    """Pad the last dimension by elements of its own."""
    last = wire.shape[-1] if wire.rank else 0
    if wire.rank not in (2, 3) or not wire.is_float or not isinstance(last, int) or last < 3:
        return None
    before, behind = random.choice(((1, 2), (2, 0)))
    shape = (*wire.shape[:-1], last + before + behind)
    mode = random.choice(("reflect", "replicate", "circular"))
    return _moved(draft, f"{FUNCTIONAL}.pad", wire, (before, behind), shape=shape, mode=mode)


def _triangle(target: str) -> Step:
    def step(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
        if wire.rank < 2 or not wire.is_float:
            return None
        keywords = random.choice(({}, {"diagonal": 1}, {"diagonal": -1}))
        return _moved(draft, target, wire, shape=wire.shape, **keywords)

    return step


def _diagonal(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    axes = wire.fixed(2)
    if len(axes) < 2:
        return None
    one, other = random.sample(axes, 2)
    offset = random.choice((0, 1, -1))
    rows, columns = int(wire.shape[one]), int(wire.shape[other])
    count = min(rows, columns - offset) if offset >= 0 else min(rows + offset, columns)
    shape = (*(dim for at, dim in enumerate(wire.shape) if at not in (one, other)), count)
    return _moved(draft, "torch.diagonal", wire, shape=shape, offset=offset, dim1=one, dim2=other)


def _windows(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    """Windows along a dimension that overlap."""
    axes = wire.fixed(3)
    if not axes or wire.rank >= HIGHEST_RANK:
        return None
    axis, step = random.choice(axes), random.choice((1, 2))
    count = (int(wire.shape[axis]) - 2) // step + 1
    shape = (*wire.replaced(axis, count), 2)
    return _moved(
        draft, f"{METHOD}.unfold", wire, counted(axis, wire.rank, random), 2, step, shape=shape
    )


STEPS: Mapping[str, Step] = {
    "permute": _permute,
    "transpose": _transpose,
    "movedim": _movedim,
    "apart": _apart,
    "flatten": _together,
    "in-rows": _in_rows,
    "unsqueeze": _unsqueeze,
    "squeeze": _there_and_back,
    "cat": _cat,
    "stack": _stack,
    "split": _split,
    "unbind": _unbind,
    "slice": _slice,
    "narrow": _narrow,
    "select": _select,
    "last": _last,
    "new-axis": _new_axis,
    "repeat": _repeat,
    "expand": _expand,
    "flip": _flip,
    "roll": _roll,
    "pad": _pad,
    "pad-by-own": _pad_by_own,
    "tril": _triangle("torch.tril"),
    "triu": _triangle("torch.triu"),
    "diagonal": _diagonal,
    "windows": _windows,
}
