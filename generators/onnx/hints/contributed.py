"""Operators of ONNX Runtime's own domain that importers know."""

from collections.abc import Mapping

from relaxcheck.generators.core.axes import Axis, Point
from relaxcheck.generators.core.case import Value
from relaxcheck.generators.core.dims import Dim
from relaxcheck.generators.core.fills.kinds import Below, Literal, Steps
from relaxcheck.generators.core.points import Given, toggle
from relaxcheck.generators.onnx.choices import decimal, numbers, whole
from relaxcheck.generators.onnx.contributed import MICROSOFT
from relaxcheck.generators.onnx.hint import Hint, attribute, optional, with_
from relaxcheck.generators.onnx.hints.elementwise import unary
from relaxcheck.generators.onnx.sketch import NONE, ONE, SIZE, USUAL, Sketch

_FAST, _BIASED, _GELU = (f"{MICROSOFT}.{name}" for name in ("FastGelu", "BiasGelu", "Gelu"))
_INTEGERS = f"{MICROSOFT}.MatMulInteger16"
_SKIP = f"{MICROSOFT}.SkipLayerNormalization"
_EMBED = f"{MICROSOFT}.EmbedLayerNormalization"
_ATTENTION = f"{MICROSOFT}.Attention"

_RANKS = (3, 2, 4, 1)
_OUTPUTS = "outputs"


def _biased(sketch: Sketch) -> None:
    shape = sketch.shape(fixed=(sketch.rank - 1,))
    there = sketch.schema.operator == "BiasGelu" or sketch.has(with_("bias"))
    bias = sketch.parameter("bias", shape[-1:]) if there else ""
    sketch.node(sketch.data("x", shape), bias)


def _integers(sketch: Sketch) -> None:
    rows, inner, columns = sketch.symbol(0, 2), 3, sketch.symbol(2, 4)
    if sketch.point[SIZE] == ONE:
        inner = 1
    left: tuple[Dim, ...] = (rows, inner)
    if sketch.point["form"] == "batch":
        left = (2, *left)
    sketch.node(
        sketch.data("a", left, sketch.dtype("T1")),
        sketch.parameter("b", (inner, columns), sketch.dtype("T2")),
    )


# Normalization

_HIDDEN = 4


def _rows(sketch: Sketch) -> tuple[Dim, Dim]:
    """The sizes of the batch and of its sequences."""
    size = {ONE: 1, NONE: 0}.get(str(sketch.point[SIZE]), 2)
    return sketch.symbol(0, size), sketch.symbol(1, 3)


def _skip(sketch: Sketch) -> None:
    rows, length = _rows(sketch)
    names = [
        sketch.data("x", (rows, length, _HIDDEN)),
        sketch.data("skip", (rows, length, _HIDDEN)),
        sketch.parameter("gamma", (_HIDDEN,)),
    ]
    for name in ("beta", "bias"):
        there = sketch.has(with_(name))
        names.append(sketch.parameter(name, (_HIDDEN,)) if there else "")
    outputs: Mapping[Value, tuple[str, ...]] = {
        "alone": ("y",),
        "all": ("y", "mean", "inverse", "sum"),
        "sum": ("y", "", "", "sum"),
    }
    sketch.node(*names, named=outputs[sketch.point[_OUTPUTS]], epsilon=decimal(sketch, "epsilon"))


_WORDS, _PLACES, _SEGMENTS = 7, 8, 2


def _embed(sketch: Sketch) -> None:
    rows, length = _rows(sketch)
    if isinstance(length, str):
        # So many places are embedded as the longest sequence has.
        sketch.least[length] = 1
    segmented = sketch.has(with_("segment_ids"))
    ids = (rows, length)
    tables = {"words": _WORDS, "places": _PLACES}
    names = [
        sketch.data("ids", ids, "int32", Below(_WORDS)),
        sketch.data("segment_ids", ids, "int32", Below(_SEGMENTS)) if segmented else "",
        *(sketch.parameter(name, (size, _HIDDEN)) for name, size in tables.items()),
        sketch.parameter("segments", (_SEGMENTS, _HIDDEN)) if segmented else "",
        sketch.parameter("gamma", (_HIDDEN,)),
        sketch.parameter("beta", (_HIDDEN,)),
        sketch.data("mask", ids, "int32", Below(2)) if sketch.has(with_("mask")) else "",
        "",
    ]
    if sketch.has(with_("position_ids")):
        names[8] = sketch.data("position_ids", ids, "int32", Below(_PLACES))
    outputs: Mapping[Value, tuple[str, ...]] = {
        # Without an index ONNX Runtime refuses it.
        "usual": ("y", "index"),
        "all": ("y", "index", "sum"),
    }
    sketch.node(
        *names,
        named=outputs[sketch.point[_OUTPUTS]],
        epsilon=decimal(sketch, "epsilon"),
        mask_index_type=whole(sketch, "mask_index_type"),
    )


# Attention

_MASK, _PAST, _BIAS = "mask", "past", "attention bias"
_HEADS, _HELD = 2, 2


def _attention(sketch: Sketch) -> None:
    rows, length = _rows(sketch)
    held = _HELD if sketch.has(_PAST) else 0
    mask = sketch.point[_MASK]
    if mask in ("lengths", "ranges"):
        rows, length = 2, 3
    total: Dim = length + held if isinstance(length, int) else length
    if held and isinstance(length, str):
        total = f"{length} + {held}"
    sizes = (8, 8, 8)
    if sketch.has("qkv_hidden_sizes"):
        own = numbers(sketch.text("qkv_hidden_sizes"))
        sizes = (own[0], own[1], own[2])
    small = Steps(4, 4)
    names = [
        sketch.data("x", (rows, length, _HIDDEN), fill=small),
        sketch.parameter("w", (_HIDDEN, sum(sizes)), fill=small),
        # Without a bias ONNX Runtime's kernel for CPUs reads through a null pointer.
        sketch.parameter("bias", (sum(sizes),), fill=small),
        "",
        "",
        "",
    ]
    kind = Below(2)
    match mask:
        case "matrix":
            names[3] = sketch.data("mask", (rows, total), "int32", kind)
        case "cube":
            names[3] = sketch.data("mask", (rows, length, total), "int32", kind)
        case "lengths":
            names[3] = sketch.data("mask", (2,), "int32", Literal((3 + held, 2)))
        case "ranges":
            names[3] = sketch.data("mask", (4,), "int32", Literal((3 + held, 2, 0, 1)))
    if held:
        head = sizes[0] // _HEADS
        names[4] = sketch.data("past", (2, rows, _HEADS, held, head), fill=small)
    if sketch.has(_BIAS):
        first: Dim = rows if sketch.point[_BIAS] == "full" else 1
        names[5] = sketch.data("scores", (first, _HEADS, length, total))
    sketch.node(
        *names,
        named=("y", "present") if sketch.point[_OUTPUTS] == "all" else ("y",),
        num_heads=_HEADS,
        unidirectional=whole(sketch, "unidirectional"),
        qkv_hidden_sizes=sizes if sketch.has("qkv_hidden_sizes") else None,
        do_rotary=whole(sketch, "do_rotary"),
        mask_filter_value=decimal(sketch, "mask_filter_value"),
        scale=decimal(sketch, "scale"),
    )


def _attention_axes() -> tuple[Axis, ...]:
    def equal(point: Point, value: Value) -> bool:
        # The past holds keys and values in one tensor.
        return value == "8, 8, 8" or point.get(_PAST) is not True

    def biased(past: Value, value: Value) -> bool:
        # ONNX Runtime has no kernel for both.
        return value is None or past is False

    def present(past: Value, value: Value) -> bool:
        return (value == "all") is past

    return (
        toggle(_PAST),
        Axis(_MASK, (None, "matrix", "cube", "lengths", "ranges"), None),
        Axis(_BIAS, (None, "full", "shared"), None, Given((_PAST,), biased), 2),
        attribute(_ATTENTION, "unidirectional", (1, 0)),
        attribute(_ATTENTION, "qkv_hidden_sizes", ("8, 8, 8", "8, 8, 4", "4, 4, 12"), equal),
        attribute(_ATTENTION, "do_rotary", (0,)),
        attribute(_ATTENTION, "mask_filter_value", ("-100", "-10000")),
        attribute(_ATTENTION, "scale", ("0.25",)),
        Axis(_OUTPUTS, ("alone", "all"), "alone", Given((_PAST,), present)),
    )


_EPSILONS = ("0.01", "0.00001")

HINTS = (
    Hint(_GELU, unary, (), _RANKS, held=()),
    Hint(_FAST, _biased, (optional(_FAST, "bias"),), _RANKS),
    Hint(_BIASED, _biased, (), _RANKS),
    Hint(
        _INTEGERS,
        _integers,
        (Axis("form", ("matrices", "batch"), "matrices"),),
        (),
        sizes=(USUAL, ONE),
    ),
    Hint(
        _SKIP,
        _skip,
        (
            optional(_SKIP, "beta"),
            optional(_SKIP, "bias"),
            attribute(_SKIP, "epsilon", _EPSILONS),
            Axis(_OUTPUTS, ("alone", "all", "sum"), "alone"),
        ),
        (),
    ),
    Hint(
        _EMBED,
        _embed,
        (
            optional(_EMBED, "segment_ids"),
            optional(_EMBED, "mask"),
            optional(_EMBED, "position_ids"),
            attribute(_EMBED, "epsilon", _EPSILONS),
            attribute(_EMBED, "mask_index_type", (0, 1)),
            Axis(_OUTPUTS, ("usual", "all"), "usual"),
        ),
        (),
    ),
    Hint(_ATTENTION, _attention, _attention_axes(), ()),
)
