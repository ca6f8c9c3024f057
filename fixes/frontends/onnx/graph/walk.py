"""The walk over the nodes of a graph, in which values of shapes go to every operator.

A node whose inputs are known is evaluated. Any other takes shapes among its inputs as tensors,
unless its operator has a use for the expressions.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from tvm import relax

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework.fix import invalid
from relaxcheck.fixes.framework.patch import NewFile
from relaxcheck.fixes.frontends.onnx.graph import branches, known
from relaxcheck.fixes.frontends.onnx.graph.checking import check
from relaxcheck.fixes.frontends.onnx.graph.evaluating import evaluated
from relaxcheck.fixes.frontends.onnx.graph.naming import naming
from relaxcheck.fixes.tvm_api import Expr, functions, shapes

UPSTREAM = NewFile("relax/frontend/onnx/walk.py")

_TAKES_SHAPES = {
    "AffineGrid": (1,),
    "Col2Im": (1, 2),
    "ConstantOfShape": (0,),
    "DFT": (1,),
    "Expand": (1,),
    "MaxUnpool": (2,),
    "OneHot": (1,),
    "Pad": (1,),
    "Range": (0, 1, 2),
    "Reshape": (1,),
    "Resize": (3,),
    "Slice": (1, 2),
    "Split": (1,),
    "Tile": (1,),
    "TopK": (1,),
}
"""The inputs, by operator, whose expressions say more than a tensor."""

_HOLD_ONE_VALUE = (
    "Identity",
    "Optional",
    "OptionalGetElement",
    "SequenceConstruct",
    "SequenceEmpty",
    "SequenceErase",
    "SequenceInsert",
    "SequenceMap",
    "SplitToSequence",
)
"""Operators whose only output may be a sequence: a tuple of Relax."""


def construct_nodes(importer: Any, graph: Any) -> None:
    """Convert the nodes of ``graph``, in order, to values of ``importer``."""
    used = set(_used(graph))
    for node in graph.node:
        _convert(importer, node)
        for name in node.output:
            if name in used and isinstance(importer._nodes.get(name), relax.Call):
                # Otherwise each use would compute it again.
                importer._nodes[name] = importer.bb.emit(importer._nodes[name])
    for output in graph.output:
        value = importer._nodes.get(output.name)
        if known.is_shape(value):
            importer._nodes[output.name] = known.tensor(importer.bb, value)
        elif _is_empty(importer, value):
            # TVM cannot save a constant of no elements.
            dims, dtype = tvm_api.shape_of(value), tvm_api.dtype_of(value)
            importer._nodes[output.name] = importer.bb.emit(relax.op.zeros(dims, dtype))


def _is_empty(importer: Any, value: Any) -> bool:
    """True for a constant of no elements, and for a variable that is bound to it."""
    if isinstance(value, relax.Var):
        value = importer.bb.lookup_binding(value)
    return (
        isinstance(value, relax.Expr)
        and functions.is_constant(value)
        and 0 in tvm_api.tensor_of(value).shape
    )


def _used(graph: Any) -> Iterator[str]:
    """The names that the nodes and outputs of ``graph`` use, those of subgraphs included."""
    for output in graph.output:
        yield output.name
    for node in graph.node:
        yield from node.input
        for attribute in node.attribute:
            for subgraph in (attribute.g, *attribute.graphs):
                yield from _used(subgraph)


def _convert(importer: Any, node: Any) -> None:
    inputs = [_input(importer, node, name) for name in node.input]
    check(node, inputs, importer.opset)
    attributes = importer._parse_attr(node.attribute)
    if len(node.output) == 1 and node.output[0]:
        value = evaluated(node.op_type, inputs, attributes, importer._params)
        if value is not None:
            importer._nodes[node.output[0]] = value
            return
    takes = _TAKES_SHAPES.get(node.op_type, ())
    tensors = _Inputs(
        value if at in takes or not known.is_shape(value) else known.tensor(importer.bb, value)
        for at, value in enumerate(inputs)
    )
    if node.op_type == "If":
        outputs = branches.outputs(importer, node, tensors[0], attributes)
    else:
        attributes["tvm_custom"] = {"name": node.name, "num_outputs": len(node.output)}
        with naming(node):
            result = importer._convert_operator(node.op_type, tensors, attributes, importer.opset)
        outputs = _outputs(importer, node, result)
    for name, output in zip(node.output, outputs, strict=False):
        if name:
            importer._nodes[name] = output


def _input(importer: Any, node: Any, name: str) -> Any:
    if not name:
        return None
    if name not in importer._nodes:
        raise invalid(node.op_type, "nothing before the node has this name", input=name)
    return importer._nodes[name]


class _Inputs(list[Any]):
    """A list that has None behind its end, as the converters expect."""

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, int) and index >= len(self):
            return None
        return super().__getitem__(index)


def _outputs(importer: Any, node: Any, result: Any) -> list[Any]:
    """The values of the outputs of ``node``, whose conversion is ``result``."""
    if len(node.output) == 1 and node.op_type in _HOLD_ONE_VALUE:
        return [_with_fields(importer, result)]
    values = _fields(importer, result)
    if values is None:
        values = [result]
    if len(values) < len(node.output):
        names = [name for name in node.output[len(values) :] if name]
        if names:
            raise invalid(node.op_type, f"it has {len(values)} outputs", outputs=names)
    return list(values)


def _fields(importer: Any, value: Any) -> list[Expr] | None:
    """The fields of a tuple, as values of their own; None for anything else."""
    if isinstance(value, relax.Tuple):
        return list(value.fields)
    if known.is_shape(value) or not isinstance(value, relax.Expr):
        return None
    count = len(_types(value))
    if not count:
        return None
    bound = importer.bb.emit(value)
    return [importer.bb.emit(relax.TupleGetItem(bound, index)) for index in range(count)]


def _types(value: Expr) -> Sequence[Any]:
    return shapes.fields_of(tvm_api.type_of(value))


def _with_fields(importer: Any, value: Any) -> Any:
    """``value``, a sequence as a literal tuple."""
    fields = _fields(importer, value)
    return value if fields is None else relax.Tuple(fields)
