"""Operators with graphs of their own: branches, loops and scans."""

from relaxcheck.generators.core.axes import Axis, Point
from relaxcheck.generators.core.case import Value
from relaxcheck.generators.core.dims import Dim
from relaxcheck.generators.core.fills.kinds import Literal
from relaxcheck.generators.onnx.choices import by_version
from relaxcheck.generators.onnx.hint import Hint
from relaxcheck.generators.onnx.hints.making import written
from relaxcheck.generators.onnx.model import (
    RANKLESS,
    STATED,
    Attribute,
    Graph,
    Node,
    Tensor,
    TensorValue,
)
from relaxcheck.generators.onnx.schemas import Schema, schema
from relaxcheck.generators.onnx.sketch import ONE, OPSET, USUAL, Sketch

_FORM = "form"
_CONDITION = "condition"
_HOLDS = {"true": True, "false": False}

_PASSED, _MADE, _SHAPES, _SEVERAL = "passed", "made", "shapes", "several"
_NESTED, _OUTSIDE = "nested", "outside"


def _takes(operator: str, parameter: str, point: Point, dtype: Value) -> bool:
    """True if ``operator`` takes ``dtype`` in the opset of ``point``."""
    opset = point.get(OPSET)
    if not isinstance(opset, int) or dtype is None:
        return True
    version = schema(operator, opset)
    return version is not None and dtype in version.types[parameter]


def _branches(version: Schema, point: Point, value: Value) -> bool:
    if value == _SHAPES and version.since < 11:
        return False
    return value not in (_MADE, _SHAPES) or _takes("Constant", "T", point, point.get("V"))


def _same(source: str, result: str) -> Node:
    return Node("Identity", (source,), (result,))


def _if(sketch: Sketch) -> None:
    form, dtype = sketch.text(_FORM), sketch.dtype("V")
    shape = () if sketch.text("condition shape") == "scalar" else (1,)
    fill = Literal((int(_HOLDS[sketch.text(_CONDITION)]),))
    condition = sketch.parameter("condition", shape, "bool", fill)
    full = sketch.shape()
    sketch.data("x", full, dtype)
    first, second = Node("Identity", ("x",), ("then",)), None
    names: tuple[str, ...] = ("y",)
    if form in (_MADE, _SHAPES):
        length = 2 if form == _MADE else 4
        # The other branch gives a matrix, or whatever rank the point has.
        sizes = (length,) if form == _SHAPES else tuple(map(sketch.size, full))
        count = 1
        for size in sizes:
            count *= size
        value = TensorValue(dtype, sizes, written(dtype, count))
        second = Node("Constant", (), ("else",), {"value": value})
    else:
        sketch.parameter("w", full, dtype)
        second = _same("w", "else")
    then, other = Graph((), (first,), ("then",)), Graph((), (second,), ("else",))
    if form == _SEVERAL:
        names = ("y0", "y1")
        then = Graph((), (first, _same("w", "then1")), ("then", "then1"))
        other = Graph((), (second, _same("x", "else1")), ("else", "else1"))
    if form == _NESTED:
        inner: dict[str, Attribute] = {
            "then_branch": Graph((), (_same("w", "inner_then"),), ("inner_then",)),
            "else_branch": Graph((), (_same("x", "inner_else"),), ("inner_else",)),
        }
        then = Graph((), (Node("If", (condition,), ("then",), inner),), ("then",))
    if form == _OUTSIDE:
        sketch.step("Identity", "x", output="outside", returned=False)
        then = Graph((), (_same("outside", "then"),), ("then",))
    sketch.node(condition, named=names, then_branch=then, else_branch=other)


_SWAP, _ADD, _COUNT, _STOP, _GROW = "swap", "add", "count", "stop", "grow"
_ABSENT = "absent"


def _loops(version: Schema, point: Point, value: Value) -> bool:
    if value == _ADD:
        return _takes("Add", "T", point, point.get("V"))
    if value == _COUNT:
        # Earlier versions carry a value at least.
        return version.since >= 11 and point.get("V") in (None, "float32")
    if value == _STOP:
        # Comparisons of int64 came with opset 9.
        return _takes("Less", "T", point, "int64")
    return value != _GROW or _takes("Concat", "T", point, point.get("V"))


def _ends(point: Point, value: Value) -> bool:
    """Without a number of iterations and without a condition nothing ends a loop."""
    return value != _ABSENT or point.get(_FORM) in (None, _STOP)


def _conditions(point: Point, value: Value) -> bool:
    """Of a loop with one input alone, ONNX's inference counts a negative number of states."""
    return value != _ABSENT or point.get(_FORM) != _COUNT


def _loop(sketch: Sketch) -> None:
    form, dtype = sketch.text(_FORM), sketch.dtype("V")
    trips, condition = sketch.text("trips"), sketch.text(_CONDITION)
    shape = sketch.shape()
    most = "" if trips == _ABSENT else sketch.literal("trips", [int(trips)], scalar=True)
    start = ""
    if condition != _ABSENT:
        start = sketch.parameter("start", (), "bool", Literal((int(_HOLDS[condition]),)))
    states = RANKLESS if form == _GROW else STATED
    counter = Tensor("i", (), "int64")
    holding = Tensor("holding", (), "bool")
    goes_on = _same("holding", "goes_on")
    carried: list[str] = []
    inner: list[Tensor] = []
    nodes: list[Node] = []
    results: list[str] = []
    scanned = "i"
    if form != _COUNT:
        carried.append(sketch.data("a", shape, dtype))
        inner.append(Tensor("a_in", shape, dtype, states=states))
        scanned = "a_in"
    match form:
        case "swap":
            carried.append(sketch.parameter("b", shape, dtype))
            inner.append(Tensor("b_in", shape, dtype))
            nodes += [_same("b_in", "a_out"), _same("a_in", "b_out")]
            results += ["a_out", "b_out"]
        case "add":
            step = sketch.parameter("step", shape, dtype)
            nodes.append(Node("Add", ("a_in", step), ("a_out",)))
            results.append("a_out")
        case "grow":
            step = sketch.parameter("step", shape, dtype)
            nodes.append(Node("Concat", ("a_in", step), ("a_out",), {"axis": 0}))
            results.append("a_out")
        case "stop":
            limit = Node("Constant", (), ("limit",), {"value": TensorValue("int64", (), (1,))})
            goes_on = Node("Less", ("i", "limit"), ("goes_on",))
            nodes += [limit, _same("a_in", "a_out")]
            results.append("a_out")
    nodes.append(goes_on)
    names = [f"y{at}" for at in range(len(results))]
    if form != _GROW:
        # Of a value that grows, the copies do not fit together.
        nodes.append(_same(scanned, "copy"))
        results.append("copy")
        names.append("copies")
    body = Graph((counter, holding, *inner), tuple(nodes), ("goes_on", *results))
    sketch.node(most, start, *carried, named=names, body=body)


_SHIFT, _SUM, _PAIR = "shift", "sum", "pair"


def _scans(version: Schema, point: Point, value: Value) -> bool:
    return value != _SUM or _takes("Add", "T", point, point.get("V"))


def _since(opset: int, version: Schema, value: Value) -> bool:
    return value is None or version.since >= opset


def _scan_axes(version: Schema, point: Point, value: Value) -> bool:
    if value is None:
        return True
    rank, at = int(str(point.get("rank", 3))), int(str(value))
    return _since(11 if at < 0 else 9, version, value) and -rank <= at < rank


def _scan_directions(version: Schema, point: Point, value: Value) -> bool:
    return _since(9, version, value)


def _lengths(version: Schema, point: Point, value: Value) -> bool:
    return value is False or version.since == 8


def _scan(sketch: Sketch) -> None:
    form, dtype = sketch.text(_FORM), sketch.dtype("V")
    batched = sketch.schema.since == 8
    rank = sketch.rank
    chosen = sketch.point["scan_input_axes"]
    along = 1 if batched else int(str(chosen or 0)) % rank
    if batched:
        rank += 1
    full = sketch.shape(rank, filled=(along,))
    inner: tuple[Dim, ...] = full[1:along] if batched else full[:along]
    inner = (*inner, *full[along + 1 :])
    operands: list[str] = []
    if batched:
        operands.append(_sequence_lengths(sketch, full))
    inputs: list[Tensor] = []
    nodes: list[Node] = []
    results: list[str] = []
    scans = 1
    if form != _PAIR:
        state = full[:1] + inner if batched else inner
        operands.append(sketch.parameter("state", state, dtype))
        inputs.append(Tensor("state_in", inner, dtype))
        step = _same("x_in", "state_out")
        if form == _SUM:
            step = Node("Add", ("state_in", "x_in"), ("state_out",))
        nodes += [step, _same("state_in", "copy")]
        results += ["state_out", "copy"]
    operands.append(sketch.data("x", full, dtype))
    inputs.append(Tensor("x_in", inner, dtype))
    if form == _PAIR:
        scans = 2
        operands.append(sketch.parameter("z", full, dtype))
        inputs.append(Tensor("z_in", inner, dtype))
        nodes += [_same("z_in", "first"), _same("x_in", "second")]
        results += ["first", "second"]
    outputs = len(results) - (form != _PAIR)
    ways = ("directions",) if batched else ("scan_input_directions",)
    settings: dict[str, tuple[int, ...]] = {}
    for name, count in (
        ("scan_input_axes", scans),
        ("scan_output_axes", outputs),
        (ways[0], scans),
        ("scan_output_directions", outputs),
    ):
        own = name if name != "directions" else "scan_input_directions"
        value = sketch.point.get(own)
        if value is not None:
            settings[name] = (int(str(value)),) * count
    sketch.node(
        *operands,
        outputs=len(results),
        settings=settings,
        body=Graph(tuple(inputs), tuple(nodes), tuple(results)),
        num_scan_inputs=scans,
    )


def _sequence_lengths(sketch: Sketch, full: tuple[Dim, ...]) -> str:
    """The lengths of sequences, in the version of the operator that has batches of them."""
    if not sketch.has("lengths") or not isinstance(full[0], int):
        return ""
    return sketch.literal("lengths", [1 + at % sketch.size(full[1]) for at in range(full[0])])


_CONDITIONS = Axis(_CONDITION, tuple(_HOLDS), "true")

HINTS = (
    Hint(
        "If",
        _if,
        (
            by_version(
                "If",
                _FORM,
                (_PASSED, _MADE, _SHAPES, _SEVERAL, _NESTED, _OUTSIDE),
                _branches,
                _PASSED,
            ),
            _CONDITIONS,
            Axis("condition shape", ("scalar", "vector"), "scalar"),
        ),
        results=("V",),
    ),
    Hint(
        "Loop",
        _loop,
        (
            by_version("Loop", _FORM, (_SWAP, _ADD, _COUNT, _STOP, _GROW), _loops, _SWAP),
            Axis("trips", ("3", "1", "0", _ABSENT), "3", _ends),
            Axis(_CONDITION, (_ABSENT, *_HOLDS), _ABSENT, _conditions),
        ),
        (2, 1, 3),
    ),
    Hint(
        "Scan",
        _scan,
        (
            by_version("Scan", _FORM, (_SHIFT, _SUM, _PAIR), _scans, _SHIFT),
            by_version("Scan", "scan_input_axes", (None, 0, 1, -1), _scan_axes),
            by_version("Scan", "scan_output_axes", (None, 0, 1, -1), _scan_axes),
            by_version("Scan", "scan_input_directions", (None, 0, 1), lambda *_: True),
            by_version("Scan", "scan_output_directions", (None, 0, 1), _scan_directions),
            by_version("Scan", "lengths", (False, True), _lengths, False),
        ),
        (2, 1, 3),
        # ONNX Runtime divides by the size of a slice, and dies where that is 0.
        sizes=(USUAL, ONE),
    ),
)
