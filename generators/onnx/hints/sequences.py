"""Sequences and optionals: each between nodes, with a tensor at the end."""

from collections.abc import Sequence

from relaxcheck.generators.core.axes import Axis, Point
from relaxcheck.generators.core.case import Value
from relaxcheck.generators.core.dims import Dim
from relaxcheck.generators.onnx.choices import (
    AXIS,
    axis_choice,
    by_version,
    input_dtype,
    place,
    whole,
)
from relaxcheck.generators.onnx.hint import Hint, attribute
from relaxcheck.generators.onnx.model import Graph, Node, Tensor, TypeValue
from relaxcheck.generators.onnx.proto import code_of
from relaxcheck.generators.onnx.schemas import Schema, versions
from relaxcheck.generators.onnx.sketch import RANK, Sketch

_THEN = "then"
_AT, _LENGTH, _CONCAT = "at", "length", "concat"
_ENDS = Axis(_THEN, (_AT, _LENGTH, _CONCAT), _AT)
"""The way from a sequence to a tensor: an element, their number, or all of them joined."""

_COUNT = "count"
_COUNTS = (2, 1, 3)
_ELEMENTS = "dtype"
_DTYPES = ("float32", "int64", "bool", "float16", "float64", "int32", "uint8", "int8")
"""Dtypes of elements, where no type parameter of tensors has them."""

_INDEX = {"I": ("int64", "int32")}


def _end(sketch: Sketch, sequence: str, last: int = 0, along: int = 0) -> None:
    """Let the model return the tensor that the point makes of ``sequence``.

    It is element number ``last``, the number of elements, or all of them joined ``along`` an axis.
    """
    match sketch.text(_THEN):
        case "length":
            sketch.step("SequenceLength", sequence, output="tensor")
        case "concat":
            sketch.step("ConcatFromSequence", sequence, output="tensor", axis=along)
        case _:
            at = sketch.literal("last", [last], scalar=True)
            sketch.step("SequenceAt", sequence, at, output="tensor")


def _tensors(sketch: Sketch, count: int, dtype: str) -> list[str]:
    """Tensors that differ in their first dimension, if they have one."""
    names = []
    for at in range(count):
        shape = sketch.shape()
        if at and shape:
            shape = (at, *shape[1:])
        names.append(sketch.data(f"x{at}", shape, dtype))
    return names


def _sequence(sketch: Sketch, count: int, dtype: str) -> str:
    """A sequence of so many tensors."""
    names = _tensors(sketch, count, dtype)
    return sketch.step("SequenceConstruct", *names, output="sequence", returned=False)


def _position(sketch: Sketch, dtype: str) -> str:
    """The place in a sequence; "" where it is left out."""
    value = sketch.point["position"]
    if value is None:
        return ""
    return sketch.literal("position", [int(str(value))], dtype, scalar=True)


def _within(beyond: int) -> Axis:
    """The axis of places in a sequence of ``count``, or so many behind it; None leaves them out."""

    def allowed(point: Point, value: Value) -> bool:
        limit = int(str(point.get(_COUNT, 3))) + beyond
        return value is None or -limit + beyond <= int(str(value)) < limit

    return Axis("position", (None, 0, 1, -1, 2, -2), None, allowed)


def _construct(sketch: Sketch) -> None:
    count = sketch.integer(_COUNT)
    sketch.node(*_tensors(sketch, count, sketch.dtype()))
    _end(sketch, "y", count - 1)


def _at(sketch: Sketch) -> None:
    sequence = _sequence(sketch, sketch.integer(_COUNT), sketch.dtype())
    at = sketch.literal("at", [sketch.integer("place")], sketch.dtype("I"), scalar=True)
    sketch.node(sequence, at)


def _places(point: Point, value: Value) -> bool:
    count = int(str(point.get(_COUNT, 3)))
    return -count <= int(str(value)) < count


def _empty(sketch: Sketch) -> None:
    stated = sketch.point[_ELEMENTS]
    dtype = "float32" if stated is None else str(stated)
    sketch.node(dtype=None if stated is None else code_of(dtype))
    if sketch.text("filled") == "filled":
        tensor = sketch.data("x", sketch.shape(), dtype)
        sketch.step("SequenceInsert", "y", tensor, output="filled", returned=False)
        sketch.outputs.clear()
        at = sketch.literal("last", [0], scalar=True)
        sketch.step("SequenceAt", "filled", at, output="tensor")
    else:
        sketch.step("SequenceLength", "y", output="tensor")


def _insert(sketch: Sketch) -> None:
    count, dtype = sketch.integer(_COUNT), sketch.dtype()
    sequence = _sequence(sketch, count, dtype)
    shape = sketch.shape()
    tensor = sketch.data("new", (4, *shape[1:]) if shape else (), dtype)
    sketch.node(sequence, tensor, _position(sketch, sketch.dtype("I")))
    _end(sketch, "y", count)


def _erase(sketch: Sketch) -> None:
    count = sketch.integer(_COUNT)
    sequence = _sequence(sketch, count, sketch.text(_ELEMENTS))
    sketch.node(sequence, _position(sketch, sketch.dtype("I")))
    _end(sketch, "y", count - 2)


def _length(sketch: Sketch) -> None:
    sketch.node(_sequence(sketch, sketch.integer(_COUNT), sketch.text(_ELEMENTS)))


def _joins(point: Point, value: Value) -> bool:
    return value != _CONCAT or point.get(RANK) != 0


def _concat(sketch: Sketch) -> None:
    dtype, new = sketch.dtype(), sketch.point["new_axis"] == 1
    along = place(sketch, sketch.rank + new)
    shape = sketch.shape()
    names = []
    for at in range(sketch.integer(_COUNT)):
        own: tuple[Dim, ...] = shape
        if at and not new:
            own = (*shape[:along], at, *shape[along + 1 :])
        names.append(sketch.data(f"x{at}", own, dtype))
    sequence = sketch.step("SequenceConstruct", *names, output="sequence", returned=False)
    sketch.node(sequence, axis=whole(sketch, AXIS), new_axis=whole(sketch, "new_axis"))


def _joined(version: Schema, point: Point, value: Value) -> bool:
    rank = int(str(point.get(RANK, 4))) + (point.get("new_axis") == 1)
    return -rank <= int(str(value)) < rank


def _new_axes(point: Point, value: Value) -> bool:
    return value == 1 or point.get(RANK) != 0


_LENGTHS: dict[str, int | tuple[int, ...]] = {
    "three": 3,
    "two": 2,
    "listed": (1, 3, 2),
    "empty part": (0, 6),
}
_PARTS = "split"


def _split(sketch: Sketch) -> None:
    along, form = place(sketch), sketch.point[_PARTS]
    sizes = None if form is None else _LENGTHS[str(form)]
    full = sketch.shape(fixed=(along,))
    total = 6 if form is not None else sketch.size(full[along])
    shape = (*full[:along], total + (form == "two"), *full[along + 1 :])
    data = sketch.data("x", shape)
    split = ""
    if sizes is not None:
        listed: Sequence[int] = (sizes,) if isinstance(sizes, int) else sizes
        split = sketch.literal(
            _PARTS, listed, input_dtype(sketch, _PARTS), scalar=isinstance(sizes, int)
        )
    keepdims = whole(sketch, "keepdims")
    sketch.node(data, split, axis=whole(sketch, AXIS), keepdims=keepdims)
    _end(sketch, "y", along=0 if form is None and keepdims == 0 else along)


def _split_ends(point: Point, value: Value) -> bool:
    """Elements without a dimension are not joined."""
    bare = point.get(_PARTS) is None and point.get("keepdims") == 0
    return value != _CONCAT or not bare or point.get(RANK) != 1


_MAPPED, _WITH_TENSOR, _WITH_SEQUENCE, _TWO = "mapped", "tensor", "sequence", "two"


def _map(sketch: Sketch) -> None:
    form, dtype = sketch.text("body"), sketch.dtype("V")
    count = sketch.integer(_COUNT)
    shape = sketch.shape()
    names = [sketch.data(f"x{at}", shape, dtype) for at in range(count)]
    operands = [sketch.step("SequenceConstruct", *names, output="sequence", returned=False)]
    inputs = [Tensor("x_in", shape, dtype)]
    taken = "x_in"
    if form in (_WITH_TENSOR, _WITH_SEQUENCE):
        several = count if form == _WITH_SEQUENCE else 1
        more = [sketch.parameter(f"z{at}", shape, dtype) for at in range(several)]
        inputs.append(Tensor("z_in", shape, dtype))
        taken = "z_in"
        if form == _WITH_SEQUENCE:
            name = sketch.step("SequenceConstruct", *more, output="others", returned=False)
            operands.append(name)
        else:
            operands += more
    nodes, results = [Node("Identity", (taken,), ("x_out",))], ["x_out"]
    types = [TypeValue(dtype, shape)]
    if form == _TWO:
        nodes.append(Node("Shape", ("x_in",), ("size",)))
        results.append("size")
        types.append(TypeValue("int64", (sketch.rank,)))
    # Operators that stand for this one read the types of the graph's outputs.
    body = Graph(tuple(inputs), tuple(nodes), tuple(results), tuple(types))
    sketch.node(*operands, named=("y", "sizes")[: len(results)], body=body)
    _end(sketch, "y", count - 1)
    if form == _TWO:
        at = sketch.literal("first", [0], scalar=True)
        sketch.step("SequenceAt", "sizes", at, output="size")


_OPTIONAL = "element"
_TENSOR, _NOTHING, _BARE, _ABSENT = "tensor", "nothing", "bare", "absent"


def _optional(sketch: Sketch) -> None:
    form, dtype = sketch.text(_OPTIONAL), sketch.dtype("V")
    if form == _NOTHING:
        sketch.node(type=TypeValue(dtype, (2,)))
        sketch.step("OptionalHasElement", "y", output="tensor")
        return
    shape = sketch.shape()
    if form == _WITH_SEQUENCE:
        sketch.node(_sequence(sketch, 2, dtype))
        sketch.step("OptionalGetElement", "y", output="elements", returned=False)
        at = sketch.literal("at", [1], scalar=True)
        sketch.step("SequenceAt", "elements", at, output="tensor")
        sketch.outputs = ["tensor"]
        return
    sketch.node(sketch.data("x", shape, dtype))
    sketch.step("OptionalGetElement", "y", output="tensor")


def _sequential(point: Point, value: Value) -> bool:
    """Sequences are made of fewer dtypes than optionals."""
    elements = versions("SequenceConstruct")[-1].types["T"]
    return value != _WITH_SEQUENCE or point.get("V", elements[0]) in elements


def _get(sketch: Sketch) -> None:
    name = sketch.data("x", sketch.shape(), sketch.dtype("O"))
    if sketch.text(_OPTIONAL) == _TENSOR:
        name = sketch.step("Optional", name, output="optional", returned=False)
    sketch.node(name)


def _has(sketch: Sketch) -> None:
    form, dtype = sketch.text(_OPTIONAL), sketch.dtype("O")
    match form:
        case "absent":
            sketch.node()
        case "nothing":
            kind = TypeValue(dtype, (2,))
            sketch.node(sketch.step("Optional", output="optional", returned=False, type=kind))
        case "bare":
            sketch.node(sketch.data("x", sketch.shape(), dtype))
        case _:
            name = sketch.data("x", sketch.shape(), dtype)
            sketch.node(sketch.step("Optional", name, output="optional", returned=False))


def _forms(version: Schema, point: Point, value: Value) -> bool:
    """Tensors in place of optionals came with opset 18."""
    return value not in (_BARE, _ABSENT) or version.since >= 18


_HAVING = (_TENSOR, _NOTHING, _BARE, _ABSENT)
_JOINED = Axis(_THEN, (_AT, _LENGTH, _CONCAT), _AT, _joins)
_NUMBER = Axis(_COUNT, _COUNTS, 2)
_NAMED = Axis(_ELEMENTS, _DTYPES, "float32")

HINTS = (
    Hint("SequenceConstruct", _construct, (_NUMBER, _JOINED)),
    Hint(
        "SequenceAt",
        _at,
        (_NUMBER, Axis("place", (0, 1, -1, 2, -2), 0, _places)),
        types=_INDEX,
        results=("T",),
    ),
    Hint(
        "SequenceEmpty",
        _empty,
        (Axis(_ELEMENTS, (None, *_DTYPES), None), Axis("filled", ("filled", "empty"), "filled")),
    ),
    Hint("SequenceInsert", _insert, (_NUMBER, _within(1), _JOINED), types=_INDEX),
    Hint(
        "SequenceErase",
        _erase,
        (Axis(_COUNT, (3, 2), 3), _NAMED, _within(0), _JOINED),
        types=_INDEX,
    ),
    Hint("SequenceLength", _length, (_NUMBER, _NAMED), held=()),
    Hint(
        "ConcatFromSequence",
        _concat,
        (
            _NUMBER,
            Axis("new_axis", (None, 0, 1), None, _new_axes),
            by_version("ConcatFromSequence", AXIS, (0, 1, -1, -2), _joined, 0),
        ),
        results=("T",),
        held=(),
    ),
    Hint(
        "SplitToSequence",
        _split,
        (
            axis_choice("SplitToSequence"),
            Axis(_PARTS, (None, *_LENGTHS), None),
            attribute("SplitToSequence", "keepdims", (1, 0)),
            Axis(_THEN, (_AT, _LENGTH, _CONCAT), _AT, _split_ends),
        ),
        (2, 1, 3, 4),
        # Nothing takes sequences of bfloat16.
        {**_INDEX, "T": versions("SplitToSequence")[0].types["T"]},
    ),
    Hint(
        "SequenceMap",
        _map,
        (
            _NUMBER,
            Axis("body", (_MAPPED, _WITH_TENSOR, _WITH_SEQUENCE, _TWO), _MAPPED),
            _JOINED,
        ),
    ),
    Hint(
        "Optional",
        _optional,
        (Axis(_OPTIONAL, (_TENSOR, _NOTHING, _WITH_SEQUENCE), _TENSOR, _sequential),),
        held=(),
    ),
    Hint(
        "OptionalGetElement",
        _get,
        (by_version("OptionalGetElement", _OPTIONAL, (_TENSOR, _BARE), _forms, _TENSOR),),
        held=(),
    ),
    Hint(
        "OptionalHasElement",
        _has,
        (by_version("OptionalHasElement", _OPTIONAL, _HAVING, _forms, _TENSOR),),
        held=(),
    ),
)
