"""Functions that authors and exporters write out."""

import math
from typing import Any

from relaxcheck.generators.core.dims import Dim
from relaxcheck.generators.core.fills.kinds import Literal, Within
from relaxcheck.generators.core.polynomials import plus
from relaxcheck.generators.torch.graphs.drafting import EVERYTHING, Drafting, dtype
from relaxcheck.generators.torch.graphs.idioms.idiom import WIDTH, Idiom, tokens
from relaxcheck.generators.torch.graphs.steps.step import FUNCTIONAL, METHOD
from relaxcheck.generators.torch.graphs.wire import Wire
from relaxcheck.generators.torch.program import Dots, Real, Span


def _same(draft: Drafting, target: str, *args: object, like: Wire, **keywords: Any) -> Wire:
    return draft.call(target, *args, shape=like.shape, gives=like.dtype, **keywords)


def _gelu(draft: Drafting, variant: str) -> None:
    x = tokens(draft)
    if variant == "erf":
        inner = _same(
            draft, "torch.erf", _same(draft, "torch.div", x, math.sqrt(2), like=x), like=x
        )
    else:
        cubed = _same(
            draft, "torch.mul", _same(draft, "torch.pow", x, 3.0, like=x), 0.044715, like=x
        )
        total = _same(draft, "torch.add", x, cubed, like=x)
        scaled = _same(draft, "torch.mul", total, math.sqrt(2 / math.pi), like=x)
        inner = _same(draft, "torch.tanh", scaled, like=x)
    half = _same(draft, "torch.mul", x, 0.5, like=x)
    draft.give(
        _same(draft, "torch.mul", half, _same(draft, "torch.add", inner, 1.0, like=x), like=x)
    )


def _layer_norm(draft: Drafting, variant: str) -> None:
    x = tokens(draft)
    shape = (*x.shape[:-1], 1)
    mean = draft.call("torch.mean", x, -1, shape=shape, keepdim=True)
    centred = _same(draft, "torch.sub", x, mean, like=x)
    if variant == "var":
        spread = draft.call("torch.var", x, shape=shape, dim=-1, unbiased=False, keepdim=True)
    else:
        squared = _same(draft, "torch.pow", centred, 2, like=x)
        spread = draft.call("torch.mean", squared, -1, shape=shape, keepdim=True)
    eps = draft.call("torch.add", spread, 0.5, shape=shape)
    if variant == "rms":
        centred = x
    scaled = _same(draft, "torch.mul", centred, draft.call("torch.rsqrt", eps, shape=shape), like=x)
    draft.give(_same(draft, "torch.mul", scaled, draft.weight((WIDTH,)), like=x))


def _rope(draft: Drafting, variant: str) -> None:
    """Rotary positions: halves turned, or neighbours."""
    x = tokens(draft)
    half = (*x.shape[:-1], WIDTH // 2)
    positions = draft.call(
        "torch.arange", x.size(1), shape=(draft.length,), dtype=dtype(draft.dtype), exact=True
    )
    powers = draft.weight((WIDTH // 2,), name="frequencies", held="buffer")
    angles = draft.call("torch.outer", positions, powers, shape=(draft.length, WIDTH // 2))
    cosine = draft.call("torch.cos", angles, shape=angles.shape)
    sine = draft.call("torch.sin", angles, shape=angles.shape)
    if variant == "halves":
        first, second = draft.several(
            "torch.chunk", x, 2, -1, results=((half, x.dtype), (half, x.dtype))
        )
    else:
        first = draft.cut(x, Dots(), Span(0, None, 2), shape=half)
        second = draft.cut(x, Dots(), Span(1, None, 2), shape=half)
    parts = []
    for one, other, sign in ((first, second, "torch.sub"), (second, first, "torch.add")):
        turned = draft.call("torch.mul", one, cosine, shape=half)
        across = draft.call("torch.mul", other, sine, shape=half)
        parts.append(draft.call(sign, turned, across, shape=half))
    if variant == "halves":
        draft.give(draft.call("torch.cat", parts, -1, shape=x.shape))
        return
    stacked = draft.call("torch.stack", parts, -1, shape=(*half, 2))
    draft.give(draft.call("torch.flatten", stacked, -2, shape=x.shape))


def _attention(draft: Drafting, variant: str) -> None:
    """Scores, a mask, softmax: attention of one head, or of two."""
    x = tokens(draft)
    width = 4
    square = (draft.batch, draft.length, draft.length)
    query, key, value = (
        draft.layered("Linear", x, WIDTH, width, shape=(*x.shape[:2], width), **_typed(draft))
        for _ in range(3)
    )
    turned = draft.call("torch.transpose", key, 1, 2, shape=(draft.batch, width, draft.length))
    scores = draft.call("torch.matmul", query, turned, shape=square)
    scores = draft.call("torch.div", scores, math.sqrt(width), shape=square)
    rows = (draft.length, draft.length)
    hidden: Wire | None = None
    match variant:
        case "triu":
            ones = draft.call("torch.ones", [x.size(1), x.size(1)], shape=rows)
            mask = draft.call("torch.triu", ones, 1, shape=rows)
            hidden = draft.call("torch.eq", mask, 1, shape=rows, gives="bool")
        case "arange":
            places = draft.call("torch.arange", x.size(1), shape=(draft.length,), gives="int64")
            down = draft.cut(places, EVERYTHING, None, shape=(draft.length, 1))
            hidden = draft.call("torch.gt", places, down, shape=rows, gives="bool")
        case "tril-buffer":
            ones = draft.weight((16, 16), "bool", held="buffer", name="seen", fill=_causal(16))
            cut = Span(None, x.size(1))
            seen = draft.cut(ones, cut, cut, shape=rows)
            hidden = draft.call("torch.logical_not", seen, shape=rows, gives="bool")
        case _:
            full = draft.call(
                "torch.full",
                [x.size(1), x.size(1)],
                Real("-inf"),
                shape=rows,
                dtype=dtype(draft.dtype),
            )
            added = draft.call("torch.triu", full, 1, shape=rows)
            scores = draft.call("torch.add", scores, added, shape=square)
    if hidden is not None:
        scores = draft.call(f"{METHOD}.masked_fill", scores, hidden, Real("-inf"), shape=square)
    weights = draft.call(f"{FUNCTIONAL}.softmax", scores, shape=square, dim=-1)
    draft.give(draft.call("torch.matmul", weights, value, shape=(*x.shape[:2], width)))


def _causal(size: int) -> Literal:
    return Literal(tuple(int(row >= column) for row in range(size) for column in range(size)))


def _typed(draft: Drafting) -> dict[str, object]:
    return {} if draft.dtype == "float32" else {"dtype": dtype(draft.dtype)}


def _heads(draft: Drafting, variant: str) -> None:
    """Split into heads and join them, by views of sizes."""
    x = tokens(draft)
    apart = (draft.batch, draft.length, 2, 4)
    sizes: list[object] = [x.size(0), x.size(1), 2, 4]
    if variant == "minus-one":
        sizes[2] = -1
    wide = draft.call(f"{METHOD}.view", x, sizes, shape=apart)
    turned = draft.call(
        "torch.permute", wide, (0, 2, 1, 3), shape=(draft.batch, 2, draft.length, 4)
    )
    scaled = _same(draft, "torch.mul", turned, 2, like=turned)
    back = draft.call("torch.transpose", scaled, 1, 2, shape=apart)
    if variant == "contiguous":
        back = draft.call(f"{METHOD}.contiguous", back, shape=apart)
        draft.give(draft.call(f"{METHOD}.view", back, [x.size(0), x.size(1), WIDTH], shape=x.shape))
        return
    draft.give(draft.call("torch.flatten", back, 2, shape=x.shape))


def _last(draft: Drafting, variant: str) -> None:
    """Take the last token, the first, or that of each sequence's length."""
    x = tokens(draft)
    row = (draft.batch, WIDTH)
    match variant:
        case "minus-one":
            draft.give(draft.cut(x, EVERYTHING, -1, shape=row))
        case "range":
            draft.give(draft.cut(x, EVERYTHING, Span(-1), shape=(draft.batch, 1, WIDTH)))
        case "by-size":
            at = draft.number("operator.sub", x.size(1), 1)
            draft.give(draft.call("torch.select", x, 1, at, shape=row))
        case _:
            places = draft.data((draft.batch,), "int64", Within(2), "last")
            rows = draft.call("torch.arange", x.size(0), shape=(draft.batch,), gives="int64")
            draft.give(draft.cut(x, rows, places, shape=row))


def _expanded(draft: Drafting, variant: str) -> None:
    """Repeat keys for groups of heads, or one row for every member of a batch."""
    x = tokens(draft)
    if variant == "row":
        row = draft.weight((1, 1, WIDTH))
        wide = draft.call(
            f"{METHOD}.expand", row, [x.size(0), -1, -1], shape=(draft.batch, 1, WIDTH)
        )
        longer = (draft.batch, _plus(draft, 1), WIDTH)
        draft.give(draft.call("torch.cat", [wide, x], 1, shape=longer))
        return
    apart = draft.cut(x, EVERYTHING, EVERYTHING, None, shape=(*x.shape[:2], 1, WIDTH))
    wide = draft.call(
        f"{METHOD}.expand", apart, [x.size(0), x.size(1), 2, WIDTH], shape=(*x.shape[:2], 2, WIDTH)
    )
    draft.give(
        draft.call(
            "torch.reshape",
            wide,
            [x.size(0), x.size(1), 2 * WIDTH],
            shape=(*x.shape[:2], 2 * WIDTH),
        )
    )


def _plus(draft: Drafting, count: int) -> Dim:
    return plus(draft.length, count)


def _focus(draft: Drafting, variant: str) -> None:
    """Every second element apart, and joined: as channels of an image, or as halves."""
    even, odd = Span(None, None, 2), Span(1, None, 2)
    if variant == "halves":
        x = tokens(draft)
        half = (*x.shape[:-1], WIDTH // 2)
        parts = [draft.cut(x, Dots(), span, shape=half) for span in (even, odd)]
        draft.give(draft.call("torch.cat", parts, -1, shape=x.shape))
        return
    x = draft.data((draft.batch, 2, 4, 6))
    small = (draft.batch, 2, 2, 3)
    parts = [
        draft.cut(x, Dots(), rows, columns, shape=small)
        for columns in (even, odd)
        for rows in (even, odd)
    ]
    draft.give(draft.call("torch.cat", parts, 1, shape=(draft.batch, 8, 2, 3)))


def _cut_and_joined(draft: Drafting, variant: str) -> None:
    """Slices that are joined in another order."""
    x = tokens(draft)
    if variant == "shifted":
        first = draft.cut(x, EVERYTHING, Span(1), shape=(draft.batch, _plus(draft, -1), WIDTH))
        second = draft.cut(x, EVERYTHING, Span(None, 1), shape=(draft.batch, 1, WIDTH))
        draft.give(draft.call("torch.cat", [first, second], 1, shape=x.shape))
        return
    half = (*x.shape[:2], WIDTH // 2)
    first = draft.cut(x, Dots(), Span(None, WIDTH // 2), shape=half)
    second = draft.cut(x, Dots(), Span(WIDTH // 2), shape=half)
    turned = draft.call("torch.neg", second, shape=half)
    draft.give(draft.call("torch.cat", [turned, first], -1, shape=x.shape))


def _einsum(draft: Drafting, variant: str) -> None:
    x, y = tokens(draft), tokens(draft, "y")
    batch, length = draft.batch, draft.length
    text, shape = {
        "scores": ("bid,bjd->bij", (batch, length, length)),
        "dot": ("bid,bid->bi", (batch, length)),
        "sum": ("bid,bjd->d", (WIDTH,)),
        "turned": ("bid,bjd->jib", (length, length, batch)),
    }[variant]
    draft.give(draft.call("torch.einsum", text, x, y, shape=shape))


def _pooled(draft: Drafting, variant: str) -> None:
    """The mean of the tokens that a mask leaves."""
    x = tokens(draft)
    mask = draft.data((draft.batch, draft.length), "bool", name="mask")
    wide = draft.call("torch.unsqueeze", mask, -1, shape=(*x.shape[:2], 1), gives="bool")
    if variant == "float":
        numbers = draft.call(f"{METHOD}.to", wide, dtype(draft.dtype), shape=wide.shape)
        kept = _same(draft, "torch.mul", x, numbers, like=x)
        total = draft.call("torch.sum", kept, 1, shape=(draft.batch, WIDTH))
        count = draft.call("torch.sum", numbers, 1, shape=(draft.batch, 1))
        least = draft.call("torch.clamp", count, shape=count.shape, min=1)
        draft.give(draft.call("torch.div", total, least, shape=total.shape))
        return
    hidden = draft.call("torch.bitwise_not", wide, shape=wide.shape, gives="bool")
    kept = _same(draft, f"{METHOD}.masked_fill", x, hidden, -4, like=x)
    draft.give(draft.call("torch.amax", kept, 1, shape=(draft.batch, WIDTH)))


IDIOMS = (
    Idiom("gelu", _gelu, ("erf", "tanh")),
    Idiom("layer-norm", _layer_norm, ("pow", "var", "rms")),
    Idiom("rope", _rope, ("halves", "neighbours")),
    Idiom("attention", _attention, ("triu", "arange", "tril-buffer", "added")),
    Idiom("heads", _heads, ("contiguous", "minus-one", "flatten")),
    Idiom("last", _last, ("minus-one", "range", "by-size", "by-data")),
    Idiom("expanded", _expanded, ("row", "groups")),
    Idiom("cut-and-joined", _cut_and_joined, ("shifted", "halves")),
    Idiom("focus", _focus, ("image", "halves")),
    Idiom("einsum", _einsum, ("scores", "dot", "sum", "turned")),
    Idiom("pooled", _pooled, ("float", "max")),
)
