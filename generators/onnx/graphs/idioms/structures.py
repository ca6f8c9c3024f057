"""Structures of models: branches, functions, values with several uses, nodes without a use."""

from relaxcheck.generators.core.fills.kinds import Literal, Steps
from relaxcheck.generators.onnx.contributed import MICROSOFT
from relaxcheck.generators.onnx.graphs.drafting import Drafting
from relaxcheck.generators.onnx.graphs.idioms.idiom import Idiom
from relaxcheck.generators.onnx.graphs.idioms.shapes import extent, tokens
from relaxcheck.generators.onnx.model import Function, Graph, Node, TensorValue

_WIDTH = 8
_DOMAIN = "custom"


def _branch(*nodes: Node) -> Graph:
    return Graph((), nodes, nodes[-1].outputs)


def _nested(draft: Drafting, variant: str) -> None:
    """Branch within a branch, on values from outside of both."""
    x = tokens(draft)
    outside = draft.call("Tanh", x)
    match variant:
        case "shape":
            condition = draft.call("Less", extent(draft, x, 1), draft.integer(3))
        case "constant":
            condition = draft.weight((), "bool", Literal((1,)), "condition")
        case _:
            condition = draft.data("condition", (), "bool")
    inner = {
        "then_branch": _branch(Node("Neg", (outside,), ("inner_then",))),
        "else_branch": _branch(
            Node("Constant", (), ("two",), {"value": TensorValue(draft.dtype, (), (2,))}),
            Node("Mul", (outside, "two"), ("inner_else",)),
        ),
    }
    second = draft.data("second", (), "bool")
    result = draft.call(
        "If",
        condition,
        then_branch=_branch(
            Node("Add", (x, outside), ("sum",)),
            Node("If", (second,), ("within",), {**inner}),
            Node("Mul", ("sum", "within"), ("then",)),
        ),
        else_branch=_branch(Node("Sub", (x, outside), ("else",))),
    )
    draft.outputs = [draft.call("Relu", result)]


def _function(draft: Drafting, variant: str) -> None:
    """Call a function of the model, which may have the name of an operator."""
    x = tokens(draft)
    name = "Relu" if variant == "operator-name" else "Halved"
    half = TensorValue(draft.dtype, (), (0.5,))
    nodes = [
        Node("Constant", (), ("half",), {"value": half}),
        Node("Mul", ("v", "half"), ("w",)),
    ]
    outputs: tuple[str, ...] = ("w",)
    if variant == "two-outputs":
        nodes.append(Node("Sub", ("v", "w"), ("rest",)))
        outputs = ("w", "rest")
    draft.functions.append(Function(name, _DOMAIN, ("v",), tuple(nodes), outputs))
    made = draft.several(name, x, outputs=len(outputs), domain=_DOMAIN)
    if variant == "called-twice":
        made = (draft.call(name, draft.call("Neg", made[0]), domain=_DOMAIN),)
    draft.outputs = [draft.call("Abs", made[-1])]


def _uses(draft: Drafting, variant: str) -> None:
    """Use a value twice, or return what no node made."""
    x = tokens(draft)
    weight = draft.weight((_WIDTH,))
    made = draft.call("Add", draft.call("Relu", x), weight)
    match variant:
        case "returned":
            draft.outputs = [made, draft.call("Mul", made, made)]
        case "input-returned":
            draft.outputs = [x, made]
        case "initializer-returned":
            draft.outputs = [weight, made]
        case "nothing-fed":
            first = draft.call("MatMul", draft.weight((3, _WIDTH)), draft.weight((_WIDTH, 2)))
            draft.tensors = [each for each in draft.tensors if each.name not in (x, weight)]
            draft.nodes = draft.nodes[-1:]
            draft.outputs = [first]
        case _:
            draft.outputs = [draft.call("Sub", draft.call("Tanh", made), made)]


def _dead(draft: Drafting, variant: str) -> None:
    """Leave something unused."""
    x = tokens(draft)
    match variant:
        case "node":
            draft.call("Exp", x)
        case "unsupported-node":
            draft.call("Det", draft.weight((2, 2), "float32"))
        case "input":
            draft.data("unused", (draft.batch, 2))
        case "initializer":
            draft.weight((2,), "int8", name="unused")
        case _:
            draft.split(x, 2, 3, 5)
    draft.outputs = [draft.call("Relu", x)]


def _foreign(draft: Drafting, variant: str) -> None:
    """Call an operator of another domain, which importers may lack."""
    x = draft.data("x", (draft.batch, draft.length, _WIDTH), "float32")
    match variant:
        case "quick-gelu":
            result = draft.call("QuickGelu", x, domain=MICROSOFT, alpha=1.5)
        case "fused-matmul":
            weight = draft.weight((4, _WIDTH), "float32", Steps(8, 8))
            result = draft.call("FusedMatMul", x, weight, domain=MICROSOFT, transB=1, alpha=0.5)
        case _:
            flat = draft.call("Reshape", x, draft.integers(-1, _WIDTH))
            offset, scale = (0.5,) * _WIDTH, (2.0,) * _WIDTH
            result = draft.call("Scaler", flat, domain="ai.onnx.ml", offset=offset, scale=scale)
    draft.outputs = [draft.call("Neg", result)]


def _nonzero(draft: Drafting, variant: str) -> None:
    """Take or replace the elements where a mask holds."""
    x = tokens(draft)
    mask = draft.data("mask", (draft.batch, draft.length), "bool")
    places = draft.call("NonZero", mask)
    match variant:
        case "gather":
            result = draft.call("GatherND", x, draft.call("Transpose", places, perm=(1, 0)))
        case "scatter":
            turned = draft.call("Transpose", places, perm=(1, 0))
            count = draft.sliced(draft.call("Shape", turned), 0, 0, 1)
            sizes = draft.call("Concat", count, draft.integers(_WIDTH), axis=0)
            updates = draft.call("Expand", draft.number(0.5), sizes)
            result = draft.call("ScatterND", x, turned, updates)
        case "rows":
            # A vector of places, along the first dimension.
            flat = draft.call("NonZero", draft.call("Reshape", mask, draft.integers(-1)))
            rows = draft.call("Reshape", x, draft.integers(-1, _WIDTH))
            result = draft.call("Gather", rows, draft.squeezed(flat, 0), axis=0)
        case _:
            result = extent(draft, places, 1)
    draft.outputs = [result]


IDIOMS = (
    Idiom("nested-if", _nested, ("input", "constant", "shape"), 11),
    Idiom("function", _function, ("plain", "called-twice", "two-outputs", "operator-name"), 13),
    Idiom(
        "several-uses",
        _uses,
        ("twice", "returned", "input-returned", "initializer-returned", "nothing-fed"),
        9,
    ),
    Idiom("unused", _dead, ("node", "input", "initializer", "outputs", "unsupported-node"), 11),
    Idiom("other-domain", _foreign, ("quick-gelu", "fused-matmul", "scaler"), 11),
    Idiom("nonzero", _nonzero, ("gather", "scatter", "rows", "count"), 11),
)
