"""Operators that cut, join, pad and rearrange tensors at places that do not depend on values."""

from relaxcheck.generators.core.axes import Axis, Point
from relaxcheck.generators.core.case import Value
from relaxcheck.generators.core.dims import Dim
from relaxcheck.generators.core.fills.kinds import Below, Literal
from relaxcheck.generators.onnx.choices import (
    axes_choice,
    axis_choice,
    by_version,
    decimals,
    held_constant,
    listed,
    numbers,
    place,
    places,
    whole,
)
from relaxcheck.generators.onnx.hint import Hint, attribute, optional, with_
from relaxcheck.generators.onnx.hints.elementwise import FORM, FORMS, broadcast
from relaxcheck.generators.onnx.model import INPUT
from relaxcheck.generators.onnx.schemas import Schema
from relaxcheck.generators.onnx.sketch import Sketch

_RANKS = (2, 1, 3, 4, 5)
_INDEX = {"Tind": ("int64", "int32")}


def _concat(sketch: Sketch) -> None:
    form = sketch.text("operands")
    along = place(sketch)
    full = sketch.shape()
    names = [sketch.data("x0", full)]
    if form == "twice":
        names *= 2
    sizes = {"two": (2,), "three": (1, 3), "four": (2, 1, 4), "empty": (0,)}.get(form, ())
    for at, size in enumerate(sizes, 1):
        shape = (*full[:along], size, *full[along + 1 :])
        names.append(sketch.parameter(f"x{at}", shape))
    sketch.node(*names, axis=whole(sketch, "axis"))


_MOST = {"int32": 2**31 - 1, "int64": 2**63 - 1}

_WINDOWS = ("1:", ":-1", "-2:", "0:100", "-100:2", "2:1", "0:max")
"""Slices as Python writes them."""
_STEPPED = ("0:max:2", "-1:-100:-1", "max:min:-1", "3:0:-2", "0:100:1", "-2:min:-3", "4:100:7")


def _windows(version: Schema, point: Point, value: Value) -> bool:
    return value in _WINDOWS or version.input("steps") is not None


def _slice(sketch: Sketch) -> None:
    dtype = sketch.dtype("Tind")
    most = _MOST[dtype]
    named = {"max": most, "min": -most - 1}
    chosen = places(sketch)
    count = sketch.rank if chosen is None else len(chosen)
    start, end, *step = sketch.text("window").split(":")
    # Of two windows, the second one is whole, so that the first shows.
    begins = [named[start] if start in named else int(start or 0)]
    ends = [named[end] if end in named else int(end or most)]
    steps = [int(each) for each in step]
    for _ in range(count - 1):
        begins.append(0)
        ends.append(2)
        steps.extend([1] * len(step))
    data = sketch.data("x", sketch.shape())
    starts, start_list = listed(sketch, "starts", begins, dtype)
    stops, end_list = listed(sketch, "ends", ends, dtype)
    axes, axis_list = listed(sketch, "axes", stated_axes(sketch), dtype)
    stride = sketch.literal("steps", steps, dtype) if step else ""
    sketch.node(data, starts, stops, axes, stride, starts=start_list, ends=end_list, axes=axis_list)


def stated_axes(sketch: Sketch) -> tuple[int, ...] | None:
    """The numbers at the axis ``axes`` as they stand."""
    value = sketch.point["axes"]
    return None if value is None else numbers(str(value))


_PARTS = "parts"
_EQUAL, _UNEVEN, _ZERO, _SINGLE = "equal", "uneven", "zero", "single"
_NUMBER, _REST = "number", "rest"
_SPLITS = {_UNEVEN: (2, 1, 3), _ZERO: (2, 0), _SINGLE: (3,)}


def _splits(version: Schema, point: Point, value: Value) -> bool:
    counted = "num_outputs" in version.attributes
    if value in (_NUMBER, _REST):
        return counted
    return value != _EQUAL or not counted


def _split(sketch: Sketch) -> None:
    form = sketch.text(_PARTS)
    along = place(sketch)
    sizes = _SPLITS.get(form)
    total = {_EQUAL: 6, _NUMBER: 6, _REST: 7}[form] if sizes is None else sum(sizes)
    full = sketch.shape()
    data = sketch.data("x", (*full[:along], total, *full[along + 1 :]))
    split, attached = listed(sketch, "split", sizes)
    count = 3 if sizes is None else len(sizes)
    sketch.node(
        data,
        split,
        outputs=count,
        axis=whole(sketch, "axis"),
        split=attached,
        num_outputs=count if form in (_NUMBER, _REST) else None,
    )


_PADS = {"front": (1, 0), "back": (0, 2), "both": (1, 2), "none": (0, 0), "cut": (-1, 1)}
"""Elements before and behind."""


def _pad(sketch: Sketch) -> None:
    mode = sketch.point["mode"] or "constant"
    before, behind = _PADS[sketch.text("padding")]
    every = range(sketch.rank)
    chosen = places(sketch) or tuple(every)
    constant = mode == "constant"
    # Neighbours must be there; a mirror needs as many of them as it shows, a cut as it takes.
    exact = mode == "reflect" or before < 0
    shape = sketch.shape(fixed=every if exact else (), filled=() if constant else every)
    begins, ends = [], []
    for at in chosen:
        if exact:
            size = sketch.size(shape[at])
            begin = max(before, 1 - size)
            most = size - 1 + min(begin, 0) if mode == "reflect" else 2
            begins.append(min(begin, most))
            ends.append(min(behind, most))
        else:
            # Dimensions differ in their pads.
            begins.append(before * (1 + at % 2))
            ends.append(behind)
    data = sketch.data("x", shape)
    pads, attached = listed(sketch, "pads", [*begins, *ends])
    value = sketch.parameter("constant_value", ()) if sketch.has(with_("constant_value")) else ""
    axes = _pad_axes(sketch)
    stated = sketch.point["value"]
    sketch.node(
        data,
        pads,
        value,
        axes,
        mode=sketch.point["mode"],
        pads=attached,
        value=None if stated is None else decimals(str(stated))[0],
    )


def _pad_axes(sketch: Sketch) -> str:
    """The axes as an input; "" where they are left out."""
    values, dtype = stated_axes(sketch), sketch.dtype("Tind")
    if values is None:
        return ""
    if dtype == "int32" and held_constant(sketch):
        # ONNX's inference takes axes that the model holds for int64, and refuses others.
        return sketch.tensor("axes", (len(values),), dtype, INPUT, Literal(values))
    return sketch.literal("axes", values, dtype)


def _modes(version: Schema, point: Point, value: Value) -> bool:
    return value != "wrap" or version.since >= 19


def _for_constant(point: Point, value: Value) -> bool:
    return point.get("mode") in (None, "constant") or value is None


def _center(sketch: Sketch) -> None:
    chosen = places(sketch)
    count = sketch.rank if chosen is None else len(chosen)
    sizes = {"cut": (1, 2), "pad": (7, 8), "mixed": (6, 1), "nothing": (0, 2)}
    target = [sizes[sketch.text("window")][at % 2] for at in range(count)]
    data = sketch.data("x", sketch.shape())
    shape = sketch.literal("shape", target, sketch.dtype("Tind"))
    sketch.node(data, shape, axes=stated_axes(sketch))


def _blocks(sketch: Sketch) -> None:
    size = sketch.integer("blocksize")
    batch, other, last = (sketch.dim(at, last=3) for at in range(3))
    shape: tuple[Dim, ...] = (batch, 2 * size * size, other, last)
    if sketch.schema.operator == "SpaceToDepth":
        high = sketch.size(sketch.dim(1, last=3)) if isinstance(other, int) else 3
        shape = (batch, sketch.dim(2, last=3), high * size, 2 * size)
    mode = sketch.point["mode"]
    sketch.node(
        sketch.data("x", shape),
        blocksize=size,
        mode=None if mode is None else str(mode),
    )


def _trilu(sketch: Sketch) -> None:
    data = sketch.data("x", sketch.shape())
    value = sketch.point["k"]
    k = "" if value is None else sketch.literal("k", numbers(str(value)), scalar=True)
    sketch.node(data, k, upper=whole(sketch, "upper"))


def _reverse(sketch: Sketch) -> None:
    batch, time = place(sketch, name="batch_axis"), place(sketch, name="time_axis")
    # Lengths that the model holds suit every size of the time.
    fixed = (batch, time) if held_constant(sketch) else ()
    shape = sketch.shape(fixed=fixed, filled=(time,))
    data = sketch.data("x", shape)
    lengths = sketch.parameter("lengths", (shape[batch],), "int64", Below(_one_more(shape[time])))
    sketch.node(
        data,
        lengths,
        batch_axis=whole(sketch, "batch_axis"),
        time_axis=whole(sketch, "time_axis"),
    )


def _one_more(dim: Dim) -> Dim:
    return dim + 1 if isinstance(dim, int) else f"{dim} + 1"


def _other_axis(version: Schema, point: Point, value: Value) -> bool:
    batch = point.get("batch_axis")
    return (1 if batch is None else batch) != (0 if value is None else value)


def _where(sketch: Sketch) -> None:
    left, right = broadcast(sketch)
    order = sketch.text("condition")
    condition = {"left": left, "right": right, "scalar": ()}[order]
    mask = sketch.data("condition", condition, "bool")
    sketch.node(mask, sketch.data("a", left), sketch.parameter("b", right))


def _compress(sketch: Sketch) -> None:
    every = range(sketch.rank)
    short = sketch.text("condition") == "short"
    along = None if sketch.point["axis"] is None else place(sketch)
    if along is None and sketch.rank > 1 and not short:
        shape = sketch.shape(fixed=every)
        length: Dim = 1
        for dim in shape:
            length *= sketch.size(dim)
    else:
        shape = sketch.shape(filled=every)
        length = 1 if short else shape[along or 0]
    data = sketch.data("x", shape)
    condition = sketch.parameter("condition", (length,), "bool")
    sketch.node(data, condition, axis=whole(sketch, "axis"))


_BLOCKS = (2, 1, 3)
_MODES = ("DCR", "CRD")

HINTS = (
    Hint(
        "Concat",
        _concat,
        (
            axis_choice("Concat"),
            Axis("operands", ("two", "single", "three", "four", "empty", "twice"), "two"),
        ),
        _RANKS,
    ),
    Hint(
        "Slice",
        _slice,
        (
            axes_choice("Slice", ("0", "1", "-1", "0, 1", "1, 0", "-1, 0")),
            by_version("Slice", "window", (*_WINDOWS, *_STEPPED), _windows, "1:"),
        ),
        _RANKS,
        _INDEX,
    ),
    Hint(
        "Split",
        _split,
        (
            axis_choice("Split"),
            by_version(
                "Split", _PARTS, (_UNEVEN, _EQUAL, _NUMBER, _REST, _ZERO, _SINGLE), _splits, _UNEVEN
            ),
        ),
        _RANKS,
    ),
    Hint(
        "Pad",
        _pad,
        (
            by_version("Pad", "mode", (None, "constant", "reflect", "edge", "wrap"), _modes),
            Axis("padding", tuple(_PADS), "both"),
            axes_choice("Pad", ("0", "1", "-1", "1, 0", "-1, 0"), since=18),
            attribute("Pad", "value", ("0.5", "-2"), _for_constant),
            optional("Pad", "constant_value", _for_constant),  # type: ignore[arg-type]
        ),
        _RANKS,
        _INDEX,
    ),
    Hint(
        "CenterCropPad",
        _center,
        (
            axes_choice("CenterCropPad"),
            Axis("window", ("cut", "pad", "mixed", "nothing"), "mixed"),
        ),
        _RANKS,
        _INDEX,
    ),
    *(
        Hint(
            name,
            _blocks,
            (
                attribute(name, "blocksize", _BLOCKS, always=True),
                attribute(name, "mode", _MODES),
            ),
            ranks=(),
            held=(),
        )
        for name in ("DepthToSpace", "SpaceToDepth")
    ),
    Hint(
        "Trilu",
        _trilu,
        (
            attribute("Trilu", "upper", (1, 0)),
            Axis("k", (None, "0", "1", "-1", "7", "-9"), None),
        ),
        (2, 3, 4),
    ),
    Hint(
        "ReverseSequence",
        _reverse,
        (
            attribute("ReverseSequence", "batch_axis", (1, 0)),
            by_version("ReverseSequence", "time_axis", (None, 0, 1), _other_axis),
        ),
        (2, 3, 4),
    ),
    Hint(
        "Where",
        _where,
        (Axis(FORM, FORMS, "same"), Axis("condition", ("left", "right", "scalar"), "left")),
    ),
    Hint(
        "Compress",
        _compress,
        (axis_choice("Compress"), Axis("condition", ("same", "short"), "same")),
        _RANKS,
    ),
)
