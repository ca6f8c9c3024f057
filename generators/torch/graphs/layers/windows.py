"""Layers that pool and resample."""

from collections.abc import Mapping
from random import Random

from relaxcheck.generators.torch.graphs.drafting import Drafting
from relaxcheck.generators.torch.graphs.layers.weighted import is_spatial
from relaxcheck.generators.torch.graphs.steps.step import Step
from relaxcheck.generators.torch.graphs.wire import Wire


def _pooled(size: int, window: int, stride: int, padding: int, *, ceil: bool) -> int:
    """The number of windows; with ``ceil`` the last may reach over the end, not begin there."""
    room = size + 2 * padding - window
    count = -(-room // stride) + 1 if ceil else room // stride + 1
    return count - 1 if ceil and (count - 1) * stride >= size + padding else count


def _has_kernel(wire: Wire) -> bool:
    """True if PyTorch pools ``wire`` on a CPU."""
    return wire.rank < 5 or wire.dtype != "float16"


def _pool(kind: str) -> Step:
    def step(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
        if not is_spatial(wire, 4) or not _has_kernel(wire):
            return None
        window, stride, padding, ceil = random.choice(
            ((2, 2, 0, False), (3, 2, 1, False), (3, 1, 1, False), (3, 2, 0, True), (2, 3, 1, True))
        )
        keywords: dict[str, object] = {"stride": stride, "padding": padding, "ceil_mode": ceil}
        if kind == "Avg" and random.random() < 0.5:
            keywords["count_include_pad"] = False
        if kind == "Avg" and wire.rank == 4 and random.random() < 0.2:
            keywords["divisor_override"] = 3
        moved = [_pooled(int(dim), window, stride, padding, ceil=ceil) for dim in wire.shape[2:]]
        return draft.layered(
            f"{kind}Pool{wire.rank - 2}d",
            wire,
            window,
            shape=(*wire.shape[:2], *moved),
            **keywords,
        )

    return step


def _dilated(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    if not is_spatial(wire, 4):
        return None
    moved = [int(dim) - 2 for dim in wire.shape[2:]]
    return draft.layered(
        f"MaxPool{wire.rank - 2}d",
        wire,
        2,
        shape=(*wire.shape[:2], *moved),
        stride=1,
        dilation=2,
    )


def _adaptive(kind: str) -> Step:
    def step(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
        if not is_spatial(wire, 2) or not _has_kernel(wire):
            return None
        count = random.choice((1, 2, 3))
        shape = (*wire.shape[:2], *(count,) * (wire.rank - 2))
        return draft.layered(f"Adaptive{kind}Pool{wire.rank - 2}d", wire, count, shape=shape)

    return step


def _norm_pool(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    if not is_spatial(wire, 4) or wire.rank > 4:
        return None
    moved = [(int(dim) - 2) // 2 + 1 for dim in wire.shape[2:]]
    return draft.layered(
        f"LPPool{wire.rank - 2}d", wire, 2.0, 2, shape=(*wire.shape[:2], *moved), stride=2
    )


def _upsample(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    if not is_spatial(wire, 2):
        return None
    smooth = {3: "linear", 4: "bilinear", 5: "trilinear"}[wire.rank]
    modes = ["nearest", smooth, smooth, *(["bicubic"] if wire.rank == 4 else [])]
    keywords: dict[str, object] = {"mode": random.choice(modes)}
    if keywords["mode"] != "nearest" and random.random() < 0.5:
        keywords["align_corners"] = True
    if random.random() < 0.5:
        moved = [2 * int(dim) for dim in wire.shape[2:]]
        keywords["scale_factor"] = 2.0
    else:
        moved = [int(dim) + 1 for dim in wire.shape[2:]]
        keywords["size"] = tuple(moved)
    return draft.layered("Upsample", wire, shape=(*wire.shape[:2], *moved), **keywords)


STEPS: Mapping[str, Step] = {
    "MaxPool": _pool("Max"),
    "AvgPool": _pool("Avg"),
    "MaxPool-dilated": _dilated,
    "AdaptiveAvgPool": _adaptive("Avg"),
    "AdaptiveMaxPool": _adaptive("Max"),
    "LPPool": _norm_pool,
    "Upsample": _upsample,
}
