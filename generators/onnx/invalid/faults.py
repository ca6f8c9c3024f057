"""The faults of each operator: those that its schema rules out, and those of its own text."""

from collections.abc import Callable, Mapping

from relaxcheck.generators.core.fills.kinds import Literal
from relaxcheck.generators.onnx.invalid.fault import (
    Fault,
    with_attribute,
    with_node,
    with_tensor,
)
from relaxcheck.generators.onnx.model import Model, Node
from relaxcheck.generators.onnx.schemas import Schema, schema

_FAR = 9
"""More than any rank that is drawn."""

UNKNOWN_ATTRIBUTE, UNKNOWN_DOMAIN = "no_such_attribute", "com.example"

_EXAMPLES = ("Relu", "Add", "Gemm", "Softmax")
"""Operators that stand for all where the importer, and no converter, has to find the fault."""

_BROADCASTING = (
    *("Add", "Sub", "Mul", "Div", "Pow", "Mod", "And", "Or", "Xor", "Equal", "Less", "Greater"),
    *("LessOrEqual", "GreaterOrEqual", "BitwiseAnd", "BitwiseOr", "BitwiseXor"),
    *("Max", "Min", "Sum", "Mean"),
)

_ALONG = (
    *("ArgMax", "ArgMin", "Concat", "Gather", "GatherElements", "Hardmax", "LogSoftmax"),
    *("LpNormalization", "ScatterElements", "Softmax", "Split", "TopK"),
)
"""Operators with an attribute ``axis`` that has to lie within the rank."""
_STRICT = 11
"""The opset from which on ONNX's inference sees that it does not."""


def faults_of(operator: str) -> tuple[Fault, ...]:
    """The faults of ``operator``; none of an operator of another domain, which has no schema."""
    if "." in operator:
        return ()
    examples = (_ATTRIBUTE, _EXCESS, _OPERATOR, _DOMAIN) if operator in _EXAMPLES else ()
    broadcasting = (_SHAPES, _DTYPES, _WIDTHS) if operator in _BROADCASTING else ()
    along = (_AXIS,) if operator in _ALONG else ()
    return (_MISSING, _INPUT, *examples, *broadcasting, *along, *_OWN.get(operator, ()))


def _required_attribute(version: Schema) -> str:
    return min(version.required, default="")


def _without_attribute(model: Model, node: Node) -> Model:
    version = schema(node.operator, model.opset)
    assert version is not None
    lost = _required_attribute(version)
    kept = {name: value for name, value in node.attributes.items() if name != lost}
    return with_node(model, node, attributes=kept)


def _needed(version: Schema) -> int:
    """The number of inputs that no node may do without; variadic ones do not count."""
    return sum(not (each.optional or each.variadic) for each in version.inputs)


def _without_input(model: Model, node: Node) -> Model:
    version = schema(node.operator, model.opset)
    assert version is not None
    return with_node(model, node, inputs=node.inputs[: _needed(version) - 1])


def _with_excess(model: Model, node: Node) -> Model:
    return with_node(model, node, inputs=(*node.inputs, *[node.inputs[0]] * _FAR))


def _source(model: Model, name: str) -> str:
    """The tensor that ``name`` is, or that another node passes on under this name."""
    return next((n.inputs[0] for n in model.nodes if name in n.outputs), name)


def _unalike(model: Model, node: Node) -> Model:
    """The last dimension of the second operand two larger, and neither one of both sizes."""
    first = model.tensor(_source(model, node.inputs[0]))
    if not first.shape or first.shape[-1] in (0, 1):
        model = with_tensor(model, first.name, shape=(3,))
        first = model.tensor(first.name)
    last = first.shape[-1]
    assert isinstance(last, int)
    second = _source(model, node.inputs[1])
    return with_tensor(model, second, shape=(last + 2,))


def _of_two_dtypes(model: Model, node: Node) -> Model:
    second = model.tensor(_source(model, node.inputs[1]))
    other = "bool" if second.dtype != "bool" else "float32"
    return with_tensor(model, second.name, dtype=other)


_WIDER = {
    **{"float16": "float32", "bfloat16": "float32", "float32": "float64", "float64": "float32"},
    **{"int8": "int64", "int16": "int64", "int32": "int64", "int64": "int32"},
    **{"uint8": "uint64", "uint16": "uint64", "uint32": "uint64", "uint64": "uint32"},
}
"""Another dtype of the same kind: operands of both are what exporters leave behind."""


def _of_two_widths(model: Model, node: Node) -> Model:
    second = model.tensor(_source(model, node.inputs[1]))
    return with_tensor(model, second.name, dtype=_WIDER.get(second.dtype, "int32"))


def _has_widths(version: Schema) -> bool:
    """True if both operands are of one type parameter, which takes a dtype and its wider one."""
    names = {each.type for each in version.inputs[:2]}
    taken = version.types.get(min(names), ()) if len(names) == 1 else ()
    return bool(taken) and all(_WIDER.get(dtype, "int32") in taken for dtype in taken)


_MISSING = Fault(
    "required attribute missing",
    ("attribute", "required", "missing"),
    _without_attribute,
    lambda version: bool(version.required),
)
_INPUT = Fault(
    "required input missing",
    ("input", "argument", "operand"),
    _without_input,
    lambda version: _needed(version) > 0 and not any(each.variadic for each in version.inputs),
)
_ATTRIBUTE = Fault(
    "attribute that no version has",
    (UNKNOWN_ATTRIBUTE,),
    lambda model, node: with_attribute(model, node, UNKNOWN_ATTRIBUTE, 1),
)
_EXCESS = Fault("more inputs than the schema has", ("input", "argument", "operand"), _with_excess)
_OPERATOR = Fault(
    "operator that ONNX lacks",
    (),
    lambda model, node: with_node(model, node, operator=f"Unknown{node.operator}"),
)
_DOMAIN = Fault(
    "domain that nobody registered",
    ("domain", UNKNOWN_DOMAIN),
    lambda model, node: with_node(model, node, domain=UNKNOWN_DOMAIN),
)
_SHAPES = Fault(
    "shapes that do not broadcast",
    ("broadcast", "shape", "dimension", "dim"),
    _unalike,
    lambda version: len(version.inputs) > 1 or version.inputs[0].variadic,
    {"operands": ("two", 2), "form": ("same",)},
)
_DTYPES = Fault(
    "operands of two dtypes",
    ("dtype", "type", "bool"),
    _of_two_dtypes,
    _SHAPES.applies,
    _SHAPES.pinned,
)
_WIDTHS = Fault(
    "operands of two widths",
    ("dtype", "type", "float64", "int64", "uint64"),
    _of_two_widths,
    lambda version: _SHAPES.applies(version) and _has_widths(version),
    _SHAPES.pinned,
)
_AXIS = Fault(
    "axis out of range",
    ("axis",),
    lambda model, node: with_attribute(model, node, "axis", _FAR),
    lambda version: "axis" in version.attributes and version.since >= _STRICT,
)


# Of single operators


def _shaped(at: int, shape: tuple[int, ...]) -> Callable[[Model, Node], Model]:
    """Give the input number ``at`` of the node another ``shape``."""

    def breaking(model: Model, node: Node) -> Model:
        return with_tensor(model, _source(model, node.inputs[at]), shape=shape)

    return breaking


def _valued(at: int, values: tuple[int, ...]) -> Callable[[Model, Node], Model]:
    """Give the input number ``at`` of the node these ``values``."""

    def breaking(model: Model, node: Node) -> Model:
        name = _source(model, node.inputs[at])
        return with_tensor(model, name, shape=(len(values),), fill=Literal(values))

    return breaking


def _set(name: str, value: int | tuple[int, ...]) -> Callable[[Model, Node], Model]:
    return lambda model, node: with_attribute(model, node, name, value)


def _has_input(name: str) -> Callable[[Schema], bool]:
    return lambda version: version.input(name) is not None


def _has(name: str) -> Callable[[Schema], bool]:
    return lambda version: name in version.attributes


_OWN: Mapping[str, tuple[Fault, ...]] = {
    "MatMul": (
        Fault("contraction of two sizes", ("shape", "dimension", "dim"), _shaped(1, (7, 2))),
    ),
    "Transpose": (
        Fault(
            "perm with an axis twice", ("perm", "axes"), _set("perm", (0, 0)), pinned={"rank": (2,)}
        ),
        Fault(
            "perm of another length", ("perm", "axes"), _set("perm", (0,)), pinned={"rank": (2,)}
        ),
    ),
    "Reshape": (
        Fault(
            "shape of another number of elements",
            ("shape", "size"),
            _valued(1, (7, 11)),
            _has_input("shape"),
            {"rank": (2,)},
        ),
        Fault(
            "shape with two unknown sizes",
            ("shape", "size"),
            _valued(1, (-1, -1)),
            _has_input("shape"),
            {"rank": (2,)},
        ),
    ),
    "TopK": (
        Fault("k larger than the axis", ("k",), _valued(1, (50,)), _has_input("K"), {"rank": (2,)}),
    ),
    "Expand": (
        Fault(
            "shape that does not fit",
            ("shape", "broadcast"),
            _valued(1, (7, 7)),
            pinned={"rank": (2,)},
        ),
    ),
    "Squeeze": (
        Fault(
            "axis of another size than 1",
            ("axis", "axes", "squeeze", "dim", "dimension"),
            _shaped(0, (2, 3)),
            _has("axes"),
            {"rank": (2,), "axes": ("0",)},
        ),
    ),
    "Split": (
        Fault(
            "sizes of another sum",
            ("split", "sum"),
            _valued(1, (50, 50)),
            _has_input("split"),
            {"rank": (2,), "parts": ("uneven",)},
        ),
    ),
    "Conv": (
        Fault(
            "channels that the group does not divide",
            ("group", "channel", "channels"),
            _set("group", 7),
            pinned={"rank": (4,)},
        ),
    ),
    "Gemm": (
        Fault("contraction of two sizes", ("shape", "dimension", "dim"), _shaped(1, (9, 11))),
    ),
}
"""Faults that only the text of the operator rules out."""
