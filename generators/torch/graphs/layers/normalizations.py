"""Layers that normalize."""

from collections.abc import Mapping
from random import Random

from relaxcheck.generators.torch.graphs.drafting import Drafting
from relaxcheck.generators.torch.graphs.layers.weighted import is_spatial, of_dtype
from relaxcheck.generators.torch.graphs.steps.step import Step
from relaxcheck.generators.torch.graphs.wire import Wire

_EPS = (1e-5, 1e-5, 0.5)


def _batch_norm(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    """By stored statistics; or, without any, by those of the batch."""
    flat = wire.rank == 2 and isinstance(wire.shape[1], int) and wire.shape[1] > 0
    if not (is_spatial(wire, 1) or (flat and wire.is_float)):
        return None
    kind = f"BatchNorm{max(wire.rank - 2, 1)}d"
    keywords: dict[str, object] = {"eps": random.choice(_EPS)}
    if random.random() < 0.3:
        keywords["affine"] = False
    if random.random() < 0.2 and wire.rank > 2 and len(wire.fixed(2)) > 1:
        keywords["track_running_stats"] = False
    return draft.layered(
        kind, wire, int(wire.shape[1]), shape=wire.shape, **keywords, **of_dtype(wire)
    )


def _group_norm(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    channels = wire.shape[1] if wire.rank > 1 else 0
    if not wire.is_float or not isinstance(channels, int) or channels < 2 or channels % 2:
        return None
    if wire.rank == 2 and channels < 4:
        return None
    groups = random.choice((2, 1, channels if wire.rank > 2 else 2))
    if wire.rank > 2 and any(at not in wire.fixed(2) for at in range(2, wire.rank)):
        return None
    keywords: dict[str, object] = {"eps": random.choice(_EPS)}
    if random.random() < 0.3:
        keywords["affine"] = False
    return draft.layered(
        "GroupNorm", wire, groups, channels, shape=wire.shape, **keywords, **of_dtype(wire)
    )


def _layer_norm(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    last = wire.shape[-1] if wire.rank else 0
    if not wire.is_float or not isinstance(last, int) or last < 2:
        return None
    over: tuple[int, ...] = (last,)
    if wire.rank > 2 and isinstance(wire.shape[-2], int) and random.random() < 0.4:
        over = (int(wire.shape[-2]), last)
    keywords: dict[str, object] = {"eps": random.choice(_EPS)}
    keywords |= random.choice(({}, {"elementwise_affine": False}, {"bias": False}))
    return draft.layered("LayerNorm", wire, over, shape=wire.shape, **keywords, **of_dtype(wire))


def _rms_norm(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    last = wire.shape[-1] if wire.rank else 0
    if not wire.is_float or not isinstance(last, int) or last < 2:
        return None
    keywords = random.choice(({}, {"eps": 0.5}, {"elementwise_affine": False}))
    return draft.layered("RMSNorm", wire, last, shape=wire.shape, **keywords, **of_dtype(wire))


def _instance_norm(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    if not is_spatial(wire, 2):
        return None
    keywords: dict[str, object] = {"eps": random.choice(_EPS)}
    keywords |= random.choice(({}, {"affine": True}, {"affine": True, "track_running_stats": True}))
    return draft.layered(
        f"InstanceNorm{wire.rank - 2}d",
        wire,
        int(wire.shape[1]),
        shape=wire.shape,
        **keywords,
        **of_dtype(wire),
    )


def _response_norm(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    if not is_spatial(wire, 1) or wire.rank != 4 or wire.dtype == "float16":
        # PyTorch has no kernel of what it is made of.
        return None
    keywords = random.choice(({}, {"alpha": 0.5, "beta": 0.5, "k": 2.0}))
    return draft.layered("LocalResponseNorm", wire, 3, shape=wire.shape, **keywords)


STEPS: Mapping[str, Step] = {
    "BatchNorm": _batch_norm,
    "GroupNorm": _group_norm,
    "LayerNorm": _layer_norm,
    "RMSNorm": _rms_norm,
    "InstanceNorm": _instance_norm,
    "LocalResponseNorm": _response_norm,
}
