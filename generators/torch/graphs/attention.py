"""Layers of attention: the family ``torch-attention``."""

from random import Random
from typing import Any

from relaxcheck.generators.core.axes import Axis, Point
from relaxcheck.generators.core.dims import Dim
from relaxcheck.generators.core.fills.kinds import Below, Literal
from relaxcheck.generators.core.points import Given
from relaxcheck.generators.torch.graphs.drafting import Drafting, dtype
from relaxcheck.generators.torch.graphs.family import Drafted
from relaxcheck.generators.torch.graphs.layers.weighted import of_dtype
from relaxcheck.generators.torch.graphs.wire import Wire
from relaxcheck.generators.torch.running import PREFIX

NAME = f"{PREFIX}-attention"

FORM, MASK, KEYS = "form", "mask", "keys"
BATCH_FIRST, WEIGHTS, EXTRAS = "batch_first", "weights", "extras"
NORM_FIRST, ACTIVATION = "norm_first", "activation"

MULTIHEAD = "MultiheadAttention"
ENCODER, DECODER = "TransformerEncoderLayer", "TransformerDecoderLayer"
FORMS = (MULTIHEAD, ENCODER, DECODER)

NONE, TRUTHS, ADDED, CAUSAL, PADDING = "none", "bool", "float", "causal", "padding"
MASKS = (NONE, TRUTHS, ADDED, CAUSAL, PADDING)

HEADS, WIDTH = 2, 8
"""The number of heads, and the size of what all see."""
KEY_COUNT = 4
"""The number of keys where there are others than queries."""


def _only(*forms: str) -> Given:
    """The first value everywhere, others in ``forms``."""

    def holds(form: str, value: object) -> bool:
        return form in forms or value in (False, "none", "relu")

    return Given((FORM,), holds)


def _causal_keys(mask: str, value: str) -> bool:
    return value == "same" or mask != CAUSAL


def _extras_fit(form: str, mask: str, value: str) -> bool:
    return value == "none" or (form == MULTIHEAD and (value != "kdim" or mask != CAUSAL))


OWN = (
    Axis(FORM, FORMS, MULTIHEAD),
    Axis(MASK, MASKS, NONE),
    Axis(KEYS, ("same", "other"), "same", Given((MASK,), _causal_keys)),
    Axis(BATCH_FIRST, (False, True), False),
    Axis(WEIGHTS, ("none", "mean", "each"), "none", _only(MULTIHEAD)),
    Axis(
        EXTRAS,
        ("none", "bias_kv", "zero_attn", "no-bias", "kdim"),
        "none",
        Given((FORM, MASK), _extras_fit),
        default_weight=2,
    ),
    Axis(NORM_FIRST, (False, True), False, _only(ENCODER, DECODER)),
    Axis(ACTIVATION, ("relu", "gelu"), "relu", _only(ENCODER, DECODER)),
)


def _make(draft: Drafting, point: Point, random: Random) -> None:
    if point[FORM] == MULTIHEAD:
        _multihead(draft, point)
    else:
        _transformer(draft, point)


def mask(draft: Drafting, kind: str, shape: tuple[Dim, ...], *, hides: bool = True) -> Wire:
    """A mask that hides no row wholly: the first key is always seen.

    True ``hides`` a key, in layers, or says that it is seen, in ``scaled_dot_product_attention``.
    """
    fixed = all(isinstance(dim, int) for dim in shape)
    if kind == ADDED or not fixed:
        return draft.data(shape, name="mask")
    rows, columns = int(shape[-2]), int(shape[-1])
    seen = [
        int((column == 0 or (row + column) % 3 > 0) is not hides)
        for row in range(rows)
        for column in range(columns)
    ]
    return draft.weight([rows, columns], "bool", Literal(tuple(seen)), "mask", "buffer")


def _tokens(draft: Drafting, length: Dim, name: str, *, first: bool, width: int = WIDTH) -> Wire:
    outer = (draft.batch, length) if first else (length, draft.batch)
    return draft.data((*outer, width), name=name)


def _hidden_keys(draft: Drafting, keys: Dim) -> Wire:
    """A mask of the keys of each sequence that are padding: those behind its last, never all."""
    last = draft.data((draft.batch,), "int64", Below(2), "last")
    column = draft.call(
        "torch.unsqueeze", last, 1, shape=(draft.batch, 1), gives="int64", exact=True
    )
    owner = draft.wires[draft.tensors[0].name]
    size = keys if isinstance(keys, int) else owner.size(owner.shape.index(keys))
    places = draft.call("torch.arange", size, shape=(keys,), gives="int64", exact=True)
    return draft.call(
        "torch.gt", places, column, shape=(draft.batch, keys), gives="bool", exact=True
    )


def _multihead(draft: Drafting, point: Point) -> None:
    """``nn.MultiheadAttention``, of itself or of other keys."""
    first = bool(point[BATCH_FIRST])
    same = point[KEYS] == "same" and point[EXTRAS] != "kdim"
    keys = draft.length if same else KEY_COUNT
    query = _tokens(draft, draft.length, "q", first=first)
    made: dict[str, Any] = {}
    called: dict[str, Any] = {}
    match point[EXTRAS]:
        case "bias_kv":
            made["add_bias_kv"] = True
        case "zero_attn":
            made["add_zero_attn"] = True
        case "no-bias":
            made["bias"] = False
        case "kdim":
            made |= {"kdim": 6, "vdim": 5}
    if first:
        made["batch_first"] = True
    key = (
        query
        if same
        else _tokens(draft, keys, "k", first=first, width=6 if "kdim" in made else WIDTH)
    )
    value = key if "kdim" not in made else _tokens(draft, keys, "v", first=first, width=5)
    match point[MASK]:
        case "padding":
            called["key_padding_mask"] = _hidden_keys(draft, keys)
        case "causal":
            called |= {
                "attn_mask": _triangle(draft, query, 0 if not first else 1),
                "is_causal": True,
            }
        case "bool" | "float" as kind:
            called["attn_mask"] = mask(draft, str(kind), (draft.length, keys))
    if point[WEIGHTS] == "none":
        called["need_weights"] = False
    if point[WEIGHTS] == "each":
        called["average_attn_weights"] = False
    name = draft.layer("MultiheadAttention", WIDTH, HEADS, **made, **of_dtype(query))
    more = 1 if point[EXTRAS] in ("bias_kv", "zero_attn") else 0
    seen: Dim = keys + more if isinstance(keys, int) else f"{keys} + {more}" if more else keys
    results: list[tuple[tuple[Dim, ...], str]] = [(query.shape, query.dtype)]
    if point[WEIGHTS] != "none":
        heads: tuple[Dim, ...] = (HEADS,) if point[WEIGHTS] == "each" else ()
        results.append(((draft.batch, *heads, draft.length, seen), query.dtype))
    draft.give(*draft.several(name, query, key, value, results=results, **called))


def _triangle(draft: Drafting, query: Wire, axis: int) -> Wire:
    """The mask of later keys, made of the number of queries."""
    sizes = [query.size(axis), query.size(axis)]
    shape = (draft.length, draft.length)
    ones = draft.call(
        "torch.ones", sizes, shape=shape, gives="bool", exact=True, dtype=dtype("bool")
    )
    return draft.call("torch.triu", ones, 1, shape=shape, gives="bool", exact=True)


def _transformer(draft: Drafting, point: Point) -> None:
    """One layer of an encoder or of a decoder."""
    first = bool(point[BATCH_FIRST])
    kind = str(point[FORM])
    made: dict[str, Any] = {}
    if first:
        made["batch_first"] = True
    if point[NORM_FIRST]:
        made["norm_first"] = True
    if point[ACTIVATION] != "relu":
        made["activation"] = point[ACTIVATION]
    x = _tokens(draft, draft.length, "x", first=first)
    name = draft.layer(kind, WIDTH, HEADS, 16, **made, **of_dtype(x))
    called: dict[str, Any] = {}
    own = "src" if kind == ENCODER else "tgt"
    argument = f"{own}_mask"
    match point[MASK]:
        case "padding":
            called[f"{own}_key_padding_mask"] = _hidden_keys(draft, draft.length)
        case "causal":
            called[argument] = _triangle(draft, x, 0 if not first else 1)
        case "bool" | "float" as which:
            called[argument] = mask(draft, str(which), (draft.length, draft.length))
    operands = [x]
    if kind == DECODER:
        keys = draft.length if point[KEYS] == "same" else KEY_COUNT
        operands.append(_tokens(draft, keys, "memory", first=first))
    draft.give(draft.call(name, *operands, shape=x.shape, gives=x.dtype, **called))


def attention(pipelines: tuple[str, ...]) -> Drafted:
    """The family of layers of attention, compiled by ``pipelines``."""
    return Drafted(NAME, OWN, _make, pipelines)
