"""Layers that move elements."""

from collections.abc import Mapping
from random import Random

from relaxcheck.generators.core.polynomials import times
from relaxcheck.generators.torch.graphs.drafting import Drafting
from relaxcheck.generators.torch.graphs.layers.weighted import is_spatial
from relaxcheck.generators.torch.graphs.steps.step import Step
from relaxcheck.generators.torch.graphs.wire import HIGHEST_RANK, Wire


def _flatten(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    if wire.rank < 2:
        return None
    first = random.choice((1, 0)) if wire.rank > 2 else 0
    shape = (*wire.shape[:first], times(*wire.shape[first:]))
    keywords = {} if first == 1 else {"start_dim": first}
    return draft.layered("Flatten", wire, shape=shape, **keywords)


def _unflatten(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    places = [at for at in wire.fixed(2) if int(wire.shape[at]) % 2 == 0]
    if not places or wire.rank >= HIGHEST_RANK:
        return None
    axis = random.choice(places)
    half = int(wire.shape[axis]) // 2
    return draft.layered("Unflatten", wire, axis, (2, half), shape=wire.replaced(axis, 2, half))


def _pixel_shuffle(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    if not is_spatial(wire, 2) or wire.rank != 4 or int(wire.shape[1]) % 4:
        return None
    rows, columns = (2 * int(dim) for dim in wire.shape[2:])
    shape = (wire.shape[0], int(wire.shape[1]) // 4, rows, columns)
    return draft.layered("PixelShuffle", wire, 2, shape=shape)


def _pixel_unshuffle(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    if not is_spatial(wire, 2) or wire.rank != 4:
        return None
    if any(int(dim) % 2 for dim in wire.shape[2:]):
        return None
    rows, columns = (int(dim) // 2 for dim in wire.shape[2:])
    shape = (wire.shape[0], 4 * int(wire.shape[1]), rows, columns)
    return draft.layered("PixelUnshuffle", wire, 2, shape=shape)


def _channel_shuffle(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    if not is_spatial(wire, 1) or wire.rank != 4 or int(wire.shape[1]) % 2:
        return None
    return draft.layered("ChannelShuffle", wire, 2, shape=wire.shape)


def _pad(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    if not is_spatial(wire, 3):
        return None
    spatial = wire.rank - 2
    kinds = ["ConstantPad", "ZeroPad", "ReflectionPad", "ReplicationPad", "CircularPad"]
    kind = random.choice(kinds)
    sizes = tuple(random.choice((1, 2, 0)) for _ in range(2 * spatial))
    last_first = [int(dim) for dim in wire.shape[:1:-1]]
    moved = [dim + sizes[2 * at] + sizes[2 * at + 1] for at, dim in enumerate(last_first)]
    more = (1.5,) if kind == "ConstantPad" else ()
    shape = (*wire.shape[:2], *moved[::-1])
    return draft.layered(f"{kind}{spatial}d", wire, sizes, *more, shape=shape)


def _unfold(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    """Patches of images as columns."""
    if not is_spatial(wire, 3) or wire.rank != 4:
        return None
    count = 1
    for dim in wire.shape[2:]:
        count *= (int(dim) - 2) // 2 + 1
    shape = (wire.shape[0], 4 * int(wire.shape[1]), count)
    return draft.layered("Unfold", wire, 2, shape=shape, stride=2)


STEPS: Mapping[str, Step] = {
    "Flatten": _flatten,
    "Unflatten": _unflatten,
    "PixelShuffle": _pixel_shuffle,
    "PixelUnshuffle": _pixel_unshuffle,
    "ChannelShuffle": _channel_shuffle,
    "Pad": _pad,
    "Unfold": _unfold,
}
