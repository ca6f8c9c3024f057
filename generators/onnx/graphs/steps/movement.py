"""Steps that move elements: reshape, turn, join, cut, repeat and pad."""

from collections.abc import Mapping
from random import Random

from relaxcheck.generators.core.fills.kinds import Below, Within
from relaxcheck.generators.core.polynomials import plus, times
from relaxcheck.generators.onnx.graphs.drafting import Drafting
from relaxcheck.generators.onnx.graphs.steps.wire import HIGHEST_RANK, Step, Wire


def _transpose(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    if not wire.rank:
        return None
    order = list(range(wire.rank))
    random.shuffle(order)
    turned = draft.call("Transpose", wire.name, perm=tuple(order))
    return Wire(turned, tuple(wire.shape[at] for at in order))


def _apart(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    """Reshape: the last dimension in two, as for heads."""
    last = wire.shape[-1] if wire.rank else 1
    if wire.rank not in (1, 2, 3, 4) or not isinstance(last, int) or last % 2 or not last:
        return None
    sizes = [0] * (wire.rank - 1) + [2, last // 2]
    if random.random() < 0.5:
        sizes[-1] = -1
    shaped = draft.call("Reshape", wire.name, draft.integers(*sizes))
    return Wire(shaped, (*wire.shape[:-1], 2, last // 2))


def _together(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    """Reshape: two neighbouring dimensions in one."""
    if wire.rank < 2:
        return None
    at = random.randrange(wire.rank - 1)
    merged = times(wire.shape[at], wire.shape[at + 1])
    shape = (*wire.shape[:at], merged, *wire.shape[at + 2 :])
    symbolic = [index for index, dim in enumerate(shape) if not isinstance(dim, int)]
    sizes = [0 if index < at else -1 if index == at else dim for index, dim in enumerate(shape)]
    if any(index > at for index in symbolic):
        # A zero stands for the dimension of the operand at the same place, which has moved.
        return None
    return Wire(draft.call("Reshape", wire.name, draft.integers(*map(int, sizes))), shape)


def _flatten(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    axis = random.randrange(wire.rank + 1)
    shape = (times(*wire.shape[:axis]), times(*wire.shape[axis:]))
    return Wire(draft.call("Flatten", wire.name, axis=axis), shape)


def _concat(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    if not wire.rank:
        return None
    axis = random.randrange(wire.rank)
    other = draft.call("Neg", wire.name)
    shape = (*wire.shape[:axis], times(2, wire.shape[axis]), *wire.shape[axis + 1 :])
    return Wire(draft.call("Concat", wire.name, other, axis=axis), shape)


def _split(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    places = [at for at in wire.fixed() if int(wire.shape[at]) > 1]
    if not places:
        return None
    axis = random.choice(places)
    size = int(wire.shape[axis])
    first, second = draft.split(wire.name, axis, size // 2, size - size // 2)
    kept, part = (first, size // 2) if random.random() < 0.5 else (second, size - size // 2)
    # A part of its own that nothing takes, or takes twice.
    return Wire(kept, (*wire.shape[:axis], part, *wire.shape[axis + 1 :]))


def _slice(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    places = [at for at in wire.fixed() if int(wire.shape[at]) > 1]
    if not places:
        return None
    axis = random.choice(places)
    size = int(wire.shape[axis])
    start, end, step, count = random.choice(
        (
            (1, 2**31 - 1, 1, size - 1),
            (0, -1, 1, size - 1),
            (-1, 2**31 - 1, 1, 1),
            (0, 1, 1, 1),
            (0, 2**31 - 1, 2, (size + 1) // 2),
            (-1, -(2**31), -1, size),
        )
    )
    if step != 1 and draft.opset < 10:
        start, end, step, count = 1, 2**31 - 1, 1, size - 1
    shape = (*wire.shape[:axis], count, *wire.shape[axis + 1 :])
    return Wire(draft.sliced(wire.name, axis, start, end, step), shape)


def _gather(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    places = [at for at in wire.fixed() if int(wire.shape[at]) > 0]
    if not places:
        return None
    axis = random.choice(places)
    size = int(wire.shape[axis])
    fill = Within(size) if draft.opset >= 11 else Below(size)
    shape = random.choice(((), (2,), (1, 2)))
    if wire.rank + len(shape) - 1 > HIGHEST_RANK:
        shape = ()
    index = draft.weight(shape, "int64", fill, "i")
    result = (*wire.shape[:axis], *shape, *wire.shape[axis + 1 :])
    return Wire(draft.call("Gather", wire.name, index, axis=axis), result)


def _unsqueeze(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    if wire.rank >= HIGHEST_RANK:
        return None
    axis = random.randrange(wire.rank + 1)
    return Wire(draft.unsqueezed(wire.name, axis), (*wire.shape[:axis], 1, *wire.shape[axis:]))


def _there_and_back(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    axis = random.randrange(wire.rank + 1)
    wide = draft.call("Relu", draft.unsqueezed(wire.name, axis))
    return Wire(draft.squeezed(wide, axis), wire.shape)


def _pad(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    if not wire.rank:
        return None
    axis = random.randrange(wire.rank)
    before, behind = random.choice(((1, 0), (0, 2), (1, 1)))
    pads = [0] * (2 * wire.rank)
    pads[axis], pads[axis + wire.rank] = before, behind
    size = plus(wire.shape[axis], before + behind)
    shape = (*wire.shape[:axis], size, *wire.shape[axis + 1 :])
    return Wire(draft.padded(wire.name, *pads), shape)


def _tile(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    if not wire.rank:
        return None
    axis = random.randrange(wire.rank)
    repeats = [2 if at == axis else 1 for at in range(wire.rank)]
    shape = (*wire.shape[:axis], times(2, wire.shape[axis]), *wire.shape[axis + 1 :])
    return Wire(draft.call("Tile", wire.name, draft.integers(*repeats)), shape)


def _expand(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    """Repeat along a new first dimension; ones leave the others as they are."""
    if wire.rank >= HIGHEST_RANK:
        return None
    wide = draft.call("Expand", wire.name, draft.integers(2, *(1,) * wire.rank))
    return Wire(wide, (2, *wire.shape))


def _blocks(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    channels = wire.shape[1] if wire.rank == 4 else 1
    if not isinstance(channels, int) or channels % 4 or not channels:
        return None
    shape = (wire.shape[0], channels // 4, times(2, wire.shape[2]), times(2, wire.shape[3]))
    return Wire(draft.call("DepthToSpace", wire.name, blocksize=2), shape)


MOVEMENTS: Mapping[str, tuple[int, Step]] = {
    "Transpose": (1, _transpose),
    "Reshape": (7, _apart),
    "merge": (7, _together),
    "Flatten": (9, _flatten),
    "Concat": (7, _concat),
    "Split": (7, _split),
    "Slice": (7, _slice),
    "Gather": (7, _gather),
    "Unsqueeze": (7, _unsqueeze),
    "Squeeze": (7, _there_and_back),
    "Pad": (7, _pad),
    "Tile": (7, _tile),
    "Expand": (8, _expand),
    "DepthToSpace": (7, _blocks),
}
"""The steps by the name of their operator or their own, with the first opset that has it."""
