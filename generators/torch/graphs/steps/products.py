"""Steps that multiply matrices, or slide windows."""

from collections.abc import Mapping
from random import Random
from typing import Any

from relaxcheck.generators.core.dims import Dim
from relaxcheck.generators.core.fills.kinds import Steps
from relaxcheck.generators.torch.graphs.drafting import Drafting
from relaxcheck.generators.torch.graphs.steps.step import FUNCTIONAL, Step
from relaxcheck.generators.torch.graphs.wire import Wire

_EIGHTHS = Steps(8, 8)


def _columns(wire: Wire) -> int | None:
    """The last dimension of floats, where it is a number above 0."""
    last = wire.shape[-1] if wire.rank else 0
    return last if wire.is_float and isinstance(last, int) and last else None


def _matmul(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    last = _columns(wire)
    if last is None:
        return None
    columns = random.choice((8, 4, 6))
    target = random.choice(("torch.matmul", "torch.Tensor.__matmul__"))
    if random.random() < 0.2:
        weight = draft.weight((last,), wire.dtype, _EIGHTHS)
        return draft.call(target, wire, weight, shape=wire.shape[:-1], gives=wire.dtype)
    weight = draft.weight((last, columns), wire.dtype, _EIGHTHS)
    return draft.call(target, wire, weight, shape=(*wire.shape[:-1], columns), gives=wire.dtype)


def _linear(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    last = _columns(wire)
    if last is None:
        return None
    weight = draft.weight((6, last), wire.dtype, _EIGHTHS)
    bias = draft.weight((6,), wire.dtype) if random.random() < 0.6 else None
    return draft.call(
        f"{FUNCTIONAL}.linear", wire, weight, bias, shape=(*wire.shape[:-1], 6), gives=wire.dtype
    )


def _scores(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    """``x @ x.mT``, as of attention."""
    if wire.rank < 2 or _columns(wire) is None:
        return None
    turned_shape = (*wire.shape[:-2], wire.shape[-1], wire.shape[-2])
    turned = draft.call("torch.transpose", wire, -2, -1, shape=turned_shape, gives=wire.dtype)
    shape = (*wire.shape[:-1], wire.shape[-2])
    target = "torch.bmm" if wire.rank == 3 and random.random() < 0.5 else "torch.matmul"
    return draft.call(target, wire, turned, shape=shape, gives=wire.dtype)


def _addmm(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    last = _columns(wire)
    if last is None or wire.rank != 2:
        return None
    weight = draft.weight((last, 6), wire.dtype, _EIGHTHS)
    start = draft.weight(random.choice(((6,), (1, 6))), wire.dtype)
    keywords: dict[str, Any] = random.choice(
        ({}, {"beta": 0.5}, {"alpha": 2.0}, {"beta": 2.0, "alpha": 0.5})
    )
    return draft.call(
        "torch.addmm", start, wire, weight, shape=(wire.shape[0], 6), gives=wire.dtype, **keywords
    )


def _einsum(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    last = _columns(wire)
    if last is None or wire.rank not in (2, 3):
        return None
    weight = draft.weight((6, last), wire.dtype, _EIGHTHS)
    shape: tuple[Dim, ...]
    if wire.rank == 2:
        text, shape = random.choice(
            (("ij,kj->ik", (wire.shape[0], 6)), ("ij,kj->ki", (6, wire.shape[0])))
        )
    else:
        batch, rows = wire.shape[:2]
        text, shape = random.choice(
            (
                ("bij,kj->bik", (batch, rows, 6)),
                ("bij,kj->bki", (batch, 6, rows)),
                ("bij,kj->bk", (batch, 6)),
            )
        )
    return draft.call("torch.einsum", text, wire, weight, shape=shape, gives=wire.dtype)


def _outer(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    if wire.rank != 1 or not wire.is_float:
        return None
    weight = draft.weight((3,), wire.dtype)
    return draft.call("torch.outer", wire, weight, shape=(wire.shape[0], 3), gives=wire.dtype)


def _conv(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    """Windows over images, or over sequences."""
    if wire.rank not in (3, 4) or not wire.is_float:
        return None
    spatial = wire.rank - 2
    if len(wire.fixed(3)) < 1 or any(at not in wire.fixed(3) for at in range(2, wire.rank)):
        return None
    channels = wire.shape[1]
    if not isinstance(channels, int) or not channels:
        return None
    groups = 2 if channels % 2 == 0 and random.random() < 0.3 else 1
    stride, padding, dilation = random.choice(((1, 0, 1), (2, 1, 1), (1, 1, 1), (1, 2, 2)))
    size = 2 if dilation == 1 else 1
    weight = draft.weight((4, channels // groups, *(size,) * spatial), wire.dtype, _EIGHTHS)
    bias = draft.weight((4,), wire.dtype) if random.random() < 0.6 else None
    moved = tuple(
        (int(dim) + 2 * padding - dilation * (size - 1) - 1) // stride + 1 for dim in wire.shape[2:]
    )
    return draft.call(
        f"{FUNCTIONAL}.conv{spatial}d",
        wire,
        weight,
        bias,
        shape=(wire.shape[0], 4, *moved),
        gives=wire.dtype,
        stride=stride,
        padding=padding,
        dilation=dilation,
        groups=groups,
    )


def _pool(kind: str) -> Step:
    def step(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
        if wire.rank not in (3, 4) or not wire.is_float:
            return None
        if any(at not in wire.fixed(4) for at in range(2, wire.rank)):
            return None
        stride, padding, ceil = random.choice(
            ((2, 0, False), (2, 1, False), (1, 1, False), (2, 0, True))
        )
        size = 3
        moved = []
        for dim in wire.shape[2:]:
            room = int(dim) + 2 * padding - size
            count = -(-room // stride) + 1 if ceil else room // stride + 1
            if ceil and (count - 1) * stride >= int(dim) + padding:
                count -= 1
            moved.append(count)
        keywords: dict[str, Any] = {"stride": stride, "padding": padding, "ceil_mode": ceil}
        if kind == "avg" and random.random() < 0.5:
            keywords["count_include_pad"] = False
        return draft.call(
            f"{FUNCTIONAL}.{kind}_pool{wire.rank - 2}d",
            wire,
            size,
            shape=(*wire.shape[:2], *moved),
            gives=wire.dtype,
            exact=kind == "max" and wire.exact,
            **keywords,
        )

    return step


def _adaptive(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    if wire.rank not in (3, 4) or not wire.is_float:
        return None
    if any(at not in wire.fixed(2) for at in range(2, wire.rank)):
        return None
    count = random.choice((1, 2))
    shape = (*wire.shape[:2], *(count,) * (wire.rank - 2))
    return draft.call(
        f"{FUNCTIONAL}.adaptive_avg_pool{wire.rank - 2}d",
        wire,
        count,
        shape=shape,
        gives=wire.dtype,
    )


def _interpolate(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    if wire.rank != 4 or not wire.is_float or len(set(wire.fixed(2)) & {2, 3}) < 2:
        return None
    keywords: dict[str, Any] = {"scale_factor": 2.0}
    mode = random.choice(("nearest", "bilinear", "aligned"))
    keywords["mode"] = "nearest" if mode == "nearest" else "bilinear"
    if mode == "aligned":
        keywords["align_corners"] = True
    shape = (*wire.shape[:2], 2 * int(wire.shape[2]), 2 * int(wire.shape[3]))
    return draft.call(f"{FUNCTIONAL}.interpolate", wire, shape=shape, gives=wire.dtype, **keywords)


STEPS: Mapping[str, Step] = {
    "matmul": _matmul,
    "linear": _linear,
    "scores": _scores,
    "addmm": _addmm,
    "einsum": _einsum,
    "outer": _outer,
    "conv": _conv,
    "max_pool": _pool("max"),
    "avg_pool": _pool("avg"),
    "adaptive_avg_pool": _adaptive,
    "interpolate": _interpolate,
}
