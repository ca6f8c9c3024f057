"""Layers that multiply by weights, or look rows of them up."""

from collections.abc import Mapping
from random import Random

from relaxcheck.generators.core.fills.kinds import Below
from relaxcheck.generators.torch.graphs.drafting import Drafting, dtype
from relaxcheck.generators.torch.graphs.steps.step import Step
from relaxcheck.generators.torch.graphs.wire import Wire

_CHANNELS = (4, 8, 6)


def of_dtype(wire: Wire) -> dict[str, object]:
    """The keyword that gives a layer weights of the dtype of ``wire``."""
    return {} if wire.dtype == "float32" else {"dtype": dtype(wire.dtype)}


def _linear(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    last = wire.shape[-1] if wire.rank else 0
    if not wire.is_float or not isinstance(last, int) or not last:
        return None
    count = random.choice((8, 4, 6))
    bias = {} if random.random() < 0.7 else {"bias": False}
    shape = (*wire.shape[:-1], count)
    return draft.layered("Linear", wire, last, count, shape=shape, **bias, **of_dtype(wire))


def _mlp(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    """Two linear layers around an activation, and the value added: a residual block."""
    last = wire.shape[-1] if wire.rank else 0
    if not wire.is_float or not isinstance(last, int) or not last:
        return None
    shape = (*wire.shape[:-1], 8)
    wide = draft.layered("Linear", wire, last, 8, shape=shape, **of_dtype(wire))
    active = draft.layered("GELU", wide, shape=shape)
    narrow = draft.layered("Linear", active, 8, last, shape=wire.shape, **of_dtype(wire))
    return draft.call("torch.add", wire, narrow, shape=wire.shape, gives=wire.dtype)


def is_spatial(wire: Wire, least: int) -> bool:
    """True if ``wire`` has channels and 1 to 3 spatial dimensions of ``least`` or more."""
    known = set(wire.fixed(least))
    channels = wire.rank > 2 and isinstance(wire.shape[1], int) and wire.shape[1] > 0
    return wire.is_float and 3 <= wire.rank <= 5 and channels and set(range(2, wire.rank)) <= known


def _conv(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    if not is_spatial(wire, 4):
        return None
    channels, spatial = int(wire.shape[1]), wire.rank - 2
    size, stride, padding, dilation = random.choice(
        ((3, 1, 1, 1), (3, 2, 0, 1), (2, 2, 1, 1), (1, 1, 0, 1), (2, 1, 0, 2), (3, 2, 1, 1))
    )
    groups = channels if channels <= 4 and random.random() < 0.3 else 1
    count = groups if groups > 1 else random.choice(_CHANNELS)
    keywords: dict[str, object] = {
        "stride": stride,
        "padding": padding,
        "dilation": dilation,
        "groups": groups,
    }
    if random.random() < 0.3:
        keywords["bias"] = False
    if padding and random.random() < 0.3:
        keywords["padding_mode"] = random.choice(("circular", "reflect", "replicate"))
        if keywords["padding_mode"] == "reflect" and spatial == 3 and wire.dtype == "float16":
            del keywords["padding_mode"]
    moved = [
        (int(dim) + 2 * padding - dilation * (size - 1) - 1) // stride + 1 for dim in wire.shape[2:]
    ]
    if stride == 1 and random.random() < 0.2:
        keywords["padding"] = "same"
        keywords.pop("padding_mode", None)
        moved = [int(dim) for dim in wire.shape[2:]]
    return draft.layered(
        f"Conv{spatial}d",
        wire,
        channels,
        count,
        size,
        shape=(wire.shape[0], count, *moved),
        **keywords,
        **of_dtype(wire),
    )


def _unequal_conv(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    """A convolution whose settings differ by dimension."""
    if not is_spatial(wire, 4) or wire.rank != 4:
        return None
    channels = int(wire.shape[1])
    rows, columns = (int(dim) for dim in wire.shape[2:])
    shape = (wire.shape[0], 4, (rows + 2 - 3) // 2 + 1, columns - 2 + 1)
    return draft.layered(
        "Conv2d",
        wire,
        channels,
        4,
        (3, 2),
        shape=shape,
        stride=(2, 1),
        padding=(1, 0),
        **of_dtype(wire),
    )


def _conv_transpose(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    if not is_spatial(wire, 2):
        return None
    channels, spatial = int(wire.shape[1]), wire.rank - 2
    size, stride, padding, extra, dilation = random.choice(
        ((2, 2, 0, 0, 1), (3, 2, 1, 1, 1), (3, 1, 1, 0, 1), (2, 1, 0, 0, 2), (3, 3, 0, 2, 1))
    )
    groups = 2 if channels % 2 == 0 and random.random() < 0.3 else 1
    moved = [
        (int(dim) - 1) * stride - 2 * padding + dilation * (size - 1) + extra + 1
        for dim in wire.shape[2:]
    ]
    keywords: dict[str, object] = {
        "stride": stride,
        "padding": padding,
        "output_padding": extra,
        "groups": groups,
        "dilation": dilation,
    }
    if random.random() < 0.3:
        keywords["bias"] = False
    return draft.layered(
        f"ConvTranspose{spatial}d",
        wire,
        channels,
        4,
        size,
        shape=(wire.shape[0], 4, *moved),
        **keywords,
        **of_dtype(wire),
    )


def _embedding(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    """Rows of a table, by indices of their own; the value is added where it has their shape."""
    shape = (draft.batch, draft.length)
    places = draft.data(shape, "int64" if random.random() < 0.7 else "int32", Below(6), "i")
    keywords = random.choice(({}, {"padding_idx": 0}, {"padding_idx": -1}))
    name = draft.layer("Embedding", 6, 8, **keywords, **of_dtype(wire))
    gives = wire.dtype if wire.is_float else draft.dtype
    if not wire.is_float:
        return None
    rows = draft.call(name, places, shape=(*shape, 8), gives=gives)
    if rows.shape == wire.shape:
        return draft.call("torch.add", rows, wire, shape=wire.shape, gives=wire.dtype)
    return rows


def _bilinear(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    last = wire.shape[-1] if wire.rank else 0
    if not wire.is_float or wire.dtype == "float16" or not isinstance(last, int) or not last:
        return None
    name = draft.layer("Bilinear", last, last, 3, **of_dtype(wire))
    return draft.call(name, wire, wire, shape=(*wire.shape[:-1], 3), gives=wire.dtype)


STEPS: Mapping[str, Step] = {
    "Linear": _linear,
    "residual-block": _mlp,
    "Conv": _conv,
    "Conv-unequal": _unequal_conv,
    "ConvTranspose": _conv_transpose,
    "Embedding": _embedding,
    "Bilinear": _bilinear,
}
