"""Attention, its linear form, and rotary embeddings."""

from collections.abc import Mapping
from dataclasses import replace

from relaxcheck.generators.core.axes import Axis, Point
from relaxcheck.generators.core.case import Value
from relaxcheck.generators.core.dims import Dim
from relaxcheck.generators.core.fills.kinds import Below, Fill, Literal, Steps
from relaxcheck.generators.core.points import Given, toggle
from relaxcheck.generators.onnx.choices import by_version, decimal, whole, word
from relaxcheck.generators.onnx.hint import Hint, attribute, optional, with_
from relaxcheck.generators.onnx.proto import code_of
from relaxcheck.generators.onnx.schemas import Schema
from relaxcheck.generators.onnx.sketch import NONE, ONE, SIZE, Sketch

_FORM, _HEADS, _LENGTHS, _MASK, _PAST = "form", "heads", "lengths", "mask", "past"
_PACKED, _APART = "packed", "apart"
_NONPAD, _OUTPUTS, _PRECISION = "nonpad_kv_seqlen", "outputs", "softmax_precision"
_SIZED = with_(_NONPAD)

_HEAD_COUNTS: Mapping[Value, tuple[int, int]] = {
    "same": (2, 2),
    "grouped": (4, 2),
    "multi-query": (2, 1),
    "single": (1, 1),
}
_HEAD, _VALUE = 4, 3
"""The sizes of a head of queries and keys, and of one of values where it differs."""
_HELD = 2
"""The length of the past."""


def _lengths(sketch: Sketch) -> tuple[Dim, Dim]:
    """The lengths of queries and keys."""
    queries: Dim = sketch.symbol(1, 3)
    match sketch.point[_LENGTHS]:
        case "cross":
            return queries, sketch.symbol(2, 5)
        case "step":
            return 1, sketch.symbol(2, 5)
    return queries, queries


def _packed(
    sketch: Sketch, name: str, sizes: tuple[Dim, int, Dim, int], dtype: str, fill: Fill | None
) -> str:
    """A tensor of (batch, heads, length, size), in that order or with heads side by side."""
    rows, heads, length, size = sizes
    packed = sketch.point[_FORM] == _PACKED
    shape = (rows, length, heads * size) if packed else sizes
    return sketch.data(name, shape, dtype, fill)


def _attention(sketch: Sketch) -> None:
    queries, keys = _HEAD_COUNTS[sketch.point[_HEADS]]
    sized = sketch.has(_SIZED)
    rows: Dim = 2 if sized else sketch.symbol(0, _rows(sketch))
    long, wide = _lengths(sketch)
    if sized:
        # Each batch has so many keys, which do not change with the binding.
        wide = sketch.size(wide)
        long = wide if sketch.point[_LENGTHS] == "self" else long
    value = _VALUE if sketch.point["value size"] == "other" else _HEAD
    first = sketch.dtype("T1")
    small = Steps(4, 6)
    names = [
        _packed(sketch, "q", (rows, queries, long, _HEAD), first, small),
        _packed(sketch, "k", (rows, keys, wide, _HEAD), first, small),
        _packed(sketch, "v", (rows, keys, wide, value), first, None),
        _mask(sketch, rows, queries, long, wide),
        "",
        "",
        "",
    ]
    if sketch.has(_PAST):
        names[4] = sketch.data("past_k", (rows, keys, _HELD, _HEAD), first, small)
        names[5] = sketch.data("past_v", (rows, keys, _HELD, value), first)
    if sized:
        size = sketch.size(wide)
        names[6] = sketch.parameter("valid", (2,), "int64", Literal((size, max(size - 2, 1))))
    outputs: Mapping[Value, tuple[str, ...]] = {
        "alone": ("y",),
        "present": ("y", "present_k", "present_v"),
        "scores": ("y", "", "", "scores"),
        "all": ("y", "present_k", "present_v", "scores"),
    }
    packed = sketch.point[_FORM] == _PACKED
    precision = code_of(sketch.text(_PRECISION)) if sketch.has(_PRECISION) else None
    sketch.node(
        *names[: len(sketch.schema.inputs)],
        named=outputs[sketch.point[_OUTPUTS]],
        q_num_heads=queries if packed else None,
        kv_num_heads=keys if packed else None,
        softmax_precision=precision,
        scale=decimal(sketch, "scale"),
        softcap=decimal(sketch, "softcap"),
        settings={name: whole(sketch, name) for name in _NUMBERS},
    )


_NUMBERS = ("is_causal", "qk_matmul_output_mode", "left_window_size", "right_window_size")


def _rows(sketch: Sketch) -> int:
    return {ONE: 1, NONE: 0}.get(str(sketch.point[SIZE]), 2)


def _mask(sketch: Sketch, rows: Dim, heads: int, long: Dim, wide: Dim) -> str:
    if not sketch.has(_MASK):
        return ""
    total: Dim = wide
    if sketch.has(_PAST):
        total = wide + _HELD if isinstance(wide, int) else f"{wide} + {_HELD}"
    shapes: Mapping[Value, tuple[Dim, ...]] = {
        "matrix": (long, total),
        "heads": (heads, long, total),
        "rows": (rows, 1, long, total),
        "keys": (rows, 1, 1, total),
        "full": (rows, heads, long, total),
        "bool": (long, total),
        "bool-rows": (rows, 1, long, total),
    }
    kind = sketch.text(_MASK)
    dtype = "bool" if kind.startswith("bool") else sketch.dtype("T1")
    return sketch.data("mask", shapes[kind], dtype)


_PRECISIONS = ("float32", "float64", "float16", "bfloat16")


def _attention_axes() -> tuple[Axis, ...]:
    operator = "Attention"

    def outside(past: Value, value: Value) -> bool:
        # Without a cache inside the operator, states do not come out of it either.
        return value is False or past is False

    def states(past: Value, value: Value) -> bool:
        return (value in ("present", "all")) is past

    def moded(point: Point, value: Value) -> bool:
        return point.get(_OUTPUTS) in (None, "scores", "all")

    def windowed(point: Point, value: Value) -> bool:
        return value == -1 or point.get("is_causal") != 1 or value == 0

    def later(version: Schema, point: Point, value: Value) -> bool:
        there = version.input(_NONPAD) is not None
        return value is False or (there and outside(point.get(_PAST, False), value))

    return (
        Axis(_FORM, (_APART, _PACKED), _APART),
        Axis(_HEADS, tuple(_HEAD_COUNTS), "same"),
        Axis(_LENGTHS, ("self", "cross", "step"), "self"),
        Axis("value size", ("same", "other"), "same"),
        Axis(
            _MASK,
            (None, "matrix", "bool", "heads", "rows", "keys", "full", "bool-rows"),
            None,
            default_weight=2,
        ),
        toggle(_PAST),
        by_version(operator, _SIZED, (False, True), later, False),
        attribute(operator, "is_causal", (1, 0)),
        attribute(operator, "scale", ("0.25", "1")),
        attribute(operator, "softcap", ("2", "0")),
        # ONNX Runtime lacks most of them.
        replace(attribute(operator, _PRECISION, _PRECISIONS), default_weight=8),
        Axis(
            _OUTPUTS,
            ("alone", "present", "scores", "all"),
            "alone",
            Given((_PAST,), states),
        ),
        attribute(operator, "qk_matmul_output_mode", (0, 1, 2, 3), moded),
        attribute(operator, "left_window_size", (1, 0, -1)),
        attribute(operator, "right_window_size", (1, 0, -1), windowed),
    )


# Rotary embeddings

_ROTATED, _CACHE = "rotary_embedding_dim", 6
_POSITIONS = with_("position_ids")


def _rotary(sketch: Sketch) -> None:
    rows, length, heads, size = sketch.symbol(0, _rows(sketch)), sketch.symbol(1, 3), 2, 8
    rotated = whole(sketch, _ROTATED)
    half = (rotated or size) // 2
    packed = sketch.point[_FORM] == _PACKED
    data = _packed(sketch, "x", (rows, heads, length, size), sketch.dtype(), None)
    placed = sketch.has(_POSITIONS)
    cache: tuple[Dim, ...] = (_CACHE, half) if placed else (rows, length, half)
    names = [sketch.parameter(name, cache, fill=Steps(8, 8)) for name in ("cos", "sin")]
    if placed:
        names.append(sketch.data("positions", (rows, length), "int64", Below(_CACHE)))
    counted = packed or sketch.point["num_heads"] is True
    sketch.node(
        data,
        *names,
        num_heads=heads if counted else None,
        rotary_embedding_dim=rotated,
        interleaved=whole(sketch, "interleaved"),
    )


def _rotary_axes() -> tuple[Axis, ...]:
    return (
        Axis(_FORM, (_APART, _PACKED), _APART),
        optional("RotaryEmbedding", "position_ids"),
        attribute("RotaryEmbedding", _ROTATED, (0, 4, 8)),
        attribute("RotaryEmbedding", "interleaved", (1, 0)),
        toggle("num_heads"),
    )


# Linear attention

_RULE, _DECAY = "update_rule", "decay"


def _linear(sketch: Sketch) -> None:
    queries, keys = _HEAD_COUNTS[sketch.point[_HEADS]]
    rows, length = sketch.symbol(0, _rows(sketch)), sketch.symbol(1, 3)
    value = _VALUE if sketch.point["value size"] == "other" else _HEAD
    rule = sketch.point[_RULE] or sketch.schema.attributes[_RULE]
    names = [
        sketch.data("q", (rows, length, queries * _HEAD), fill=Steps(4, 4)),
        sketch.data("k", (rows, length, keys * _HEAD), fill=Steps(8, 4)),
        sketch.data("v", (rows, length, keys * value)),
        "",
        "",
        "",
    ]
    if sketch.has(_PAST):
        names[3] = sketch.data("state", (rows, keys, _HEAD, value), sketch.dtype("S"))
    if "gated" in str(rule):
        wide = keys * _HEAD if sketch.point[_DECAY] == "dimensions" else keys
        names[4] = sketch.data("decay", (rows, length, wide), fill=Steps(4, 4))
    if "delta" in str(rule):
        rates = 1 if sketch.point["beta"] == "shared" else keys
        names[5] = sketch.data("beta", (rows, length, rates), fill=Steps(8, 7))
    sketch.node(
        *names,
        outputs=2,
        q_num_heads=queries,
        kv_num_heads=keys,
        update_rule=word(sketch, _RULE),
        scale=decimal(sketch, "scale"),
        chunk_size=whole(sketch, "chunk_size"),
    )


def _linear_axes() -> tuple[Axis, ...]:
    def gated(rule: Value, value: Value) -> bool:
        return value == "heads" or rule in (None, "gated", "gated_delta")

    def corrected(rule: Value, value: Value) -> bool:
        return value == "heads" or rule in (None, "delta", "gated_delta")

    rules = ("linear", "gated", "delta", "gated_delta")
    return (
        Axis(_HEADS, tuple(_HEAD_COUNTS), "same"),
        Axis("value size", ("same", "other"), "same"),
        attribute("LinearAttention", _RULE, rules),
        Axis(_DECAY, ("heads", "dimensions"), "heads", Given((_RULE,), gated)),
        Axis("beta", ("heads", "shared"), "heads", Given((_RULE,), corrected)),
        toggle(_PAST),
        attribute("LinearAttention", "scale", ("0.5", "0")),
        attribute("LinearAttention", "chunk_size", (1, 64)),
    )


HINTS = (
    # All have the dtype of queries, which ONNX's own definition multiplies with that of values;
    # a mask may be of bool, as its axis says.
    Hint(
        "Attention", _attention, _attention_axes(), (), types={"T2": ("float32",), "U": ("bool",)}
    ),
    Hint("RotaryEmbedding", _rotary, _rotary_axes(), ()),
    Hint("LinearAttention", _linear, _linear_axes(), (), held=()),
)
