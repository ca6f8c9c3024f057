"""A piece of an ONNX model as a case, to which ``replay``, ``reduce`` and ``export`` apply."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
import onnx
from msgspec.structs import replace
from onnx import AttributeProto, helper

from relaxcheck.generators.core.fills.kinds import Literal
from relaxcheck.generators.core.values import Array
from relaxcheck.generators.onnx.case import OnnxCase
from relaxcheck.generators.onnx.model import INITIALIZER, Graph, Model, Node, Tensor, TensorValue
from relaxcheck.generators.onnx.proto import code_of
from relaxcheck.generators.onnx.reading import model_of
from relaxcheck.harness.models.pieces.captured import Captured, binding_of, consistent

SMALL = 16
"""Elements of a parameter whose values are kept in any case: scales, limits, axes."""

LARGEST = 4096
"""Elements of all tensors whose values a case writes out."""

FAMILY = "onnx-"
"""The beginning of the names of families of models."""


@dataclass(frozen=True, slots=True)
class OnnxPiece:
    """A piece as a case. ``keeps``: the values that were captured are in it, for they matter."""

    case: OnnxCase
    keeps: bool


def onnx_piece(
    model: onnx.ModelProto,
    outputs: Sequence[str],
    borders: Mapping[str, Captured],
    alike: Callable[[OnnxCase], bool],
    *,
    pipeline: str = "build",
    seed: int = 0,
) -> OnnxPiece | None:
    """The nodes of ``model`` between ``borders`` and ``outputs`` as a case that fails ``alike``.

    Symbolic dimensions are kept if it fails with them. Values are drawn if it fails with any, and
    the captured ones otherwise. None: no such case fails alike.

    Raises:
        Unreadable: the nodes say what no case can hold.
    """
    proto = subgraph(model, outputs, borders)
    symbolic = consistent(borders)
    static = {name: each.static for name, each in borders.items()}
    shapes = [symbolic, static] if symbolic != static else [static]
    for chosen, keeps in product(shapes, (False, True)):
        case = _case(proto, chosen, pipeline, seed, keeps=keeps)
        if case is not None and alike(case):
            return OnnxPiece(case, keeps)
    return None


def subgraph(
    model: onnx.ModelProto, outputs: Sequence[str], borders: Mapping[str, Captured]
) -> onnx.ModelProto:
    """The nodes of ``model`` that compute ``outputs`` from ``borders``, as a model."""
    graph = model.graph
    makers = {name: node for node in graph.node for name in node.output if name}
    kept: set[int] = set()
    read: set[str] = set()
    left = list(outputs)
    while left:
        node = makers.get(name := left.pop())
        read.add(name)
        # An output is computed even where its value is captured as well.
        if node is None or id(node) in kept or (name in borders and name not in outputs):
            continue
        kept.add(id(node))
        left += [each for each in _read(node) if each not in outputs]
    nodes = [node for node in graph.node if id(node) in kept]
    made = {name for node in nodes for name in node.output}
    held = [each for each in graph.initializer if each.name in read]
    constants = {each.name for each in held}
    inputs = [name for name in borders if name in read - made - constants]
    inner = helper.make_graph(
        nodes,
        "piece",
        [_described(name, borders[name]) for name in inputs],
        [onnx.ValueInfoProto(name=name) for name in outputs],
        held,
    )
    called = {(node.domain, node.op_type) for node in nodes}
    functions = [each for each in model.functions if (each.domain, each.name) in called]
    domains = {node.domain for node in nodes} | {"", "ai.onnx"}
    imports = [each for each in model.opset_import if functions or each.domain in domains]
    return helper.make_model(
        inner,
        opset_imports=imports,
        ir_version=model.ir_version,
        functions=list(model.functions) if functions else [],
    )


def _read(node: onnx.NodeProto) -> Iterator[str]:
    """The values that ``node`` uses, those of its subgraphs included."""
    yield from filter(None, node.input)
    for attribute in node.attribute:
        if attribute.type == AttributeProto.GRAPH:
            own = {name for each in attribute.g.node for name in each.output}
            own |= {each.name for each in (*attribute.g.input, *attribute.g.initializer)}
            names = {name for each in attribute.g.node for name in _read(each)}
            names |= {each.name for each in attribute.g.output}
            yield from sorted(names - own)


def _described(name: str, value: Captured) -> onnx.ValueInfoProto:
    dtype = "string" if value.array.dtype == object else value.array.dtype.name
    return helper.make_tensor_value_info(name, code_of(dtype), list(value.dims))


def _case(
    proto: onnx.ModelProto,
    borders: Mapping[str, Captured],
    pipeline: str,
    seed: int,
    *,
    keeps: bool,
) -> OnnxCase | None:
    """The case of ``proto``; None if its values are too many, or cannot be written."""
    for each in proto.graph.input:
        each.CopyFrom(_described(each.name, borders[each.name]))
    model, constants = model_of(proto)
    values = constants | {name: each.array for name, each in borders.items()}
    read = {tensor.name: values[tensor.name] for tensor in model.tensors}
    if keeps and sum(array.size for array in read.values()) > LARGEST:
        return None
    tensors: list[Tensor] = []
    written: list[Node] = []
    for tensor in model.tensors:
        array = read[tensor.name]
        if not (keeps or _decides(tensor, array)):
            tensors.append(tensor)
        elif array.size > LARGEST:
            return None
        elif np.isfinite(array.astype(np.float64)).all():
            tensors.append(replace(tensor, fill=Literal(_plain(array))))
        else:
            # A literal holds numbers alone; a node of the model holds infinities.
            written.append(_constant(tensor, array))
    model = replace(model, tensors=tuple(tensors), nodes=(*written, *model.nodes))
    names = {each.name: each for each in tensors}
    inputs = {name: each for name, each in borders.items() if name in names}
    operator = next((node.operator for node in reversed(model.nodes)), "piece")
    bindings = (binding_of(inputs),)
    return OnnxCase(f"{FAMILY}{operator}", _renamed(model), bindings, pipeline=pipeline, seed=seed)


def _decides(tensor: Tensor, array: Array) -> bool:
    """True if other values of ``tensor`` make another model: integers, small constants."""
    whole = array.dtype.kind in "iub"
    return whole or (tensor.held == INITIALIZER and array.size <= SMALL)


def _plain(array: Array) -> tuple[int | float, ...]:
    if array.dtype.kind in "iub":
        return tuple(int(each) for each in array.ravel())
    return tuple(float(each) for each in array.astype(np.float64).ravel())


def _constant(tensor: Tensor, array: Array) -> Node:
    numbers = (each if np.isfinite(each) else str(each) for each in _plain(array))
    value = TensorValue(tensor.dtype, array.shape, tuple(numbers))
    return Node("Constant", (), (tensor.name,), {"value": value})


def _renamed(model: Model) -> Model:
    """``model``, each tensor of which has a short name: people read them."""
    order = [tensor.name for tensor in model.tensors]
    order += [name for node in model.nodes for name in node.outputs if name]
    kinds = {tensor.name: "x" if not tensor.constant else "c" for tensor in model.tensors}
    names: dict[str, str] = {}
    counts: dict[str, int] = {}
    for name in order:
        letter = kinds.get(name, "v")
        names[name] = f"{letter}{counts.setdefault(letter, 0)}"
        counts[letter] += 1
    if any(_nested(node) for node in model.nodes):
        # Subgraphs read names of the graph around them.
        return model
    return replace(
        model,
        tensors=tuple(replace(each, name=names[each.name]) for each in model.tensors),
        nodes=tuple(
            replace(
                node,
                inputs=tuple(names.get(name, name) for name in node.inputs),
                outputs=tuple(names.get(name, name) for name in node.outputs),
            )
            for node in model.nodes
        ),
        outputs=tuple(names[name] for name in model.outputs),
    )


def _nested(node: Node) -> bool:
    return any(isinstance(value, Graph) for value in node.attributes.values())
