"""Integers of 2 and 4 bits within ONNX models, held in 8 bits.

Nodes that make them say so: then nobody needs to know the data type of a tensor that is held.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from relaxcheck.fixes.framework.fix import Rebinding, refuse
from relaxcheck.fixes.framework.patch import NewFile
from relaxcheck.fixes.frontends.onnx.casting.formats import (
    NARROW,
    dtype_named,
    held,
    name_of,
    require_held,
)
from relaxcheck.fixes.frontends.onnx.preparing import Graph, Model, preparing
from relaxcheck.fixes.frontends.onnx.probing import fails

UPSTREAM = NewFile("relax/frontend/onnx/narrow_integers.py")

_MOVING = (
    *("Constant", "ConstantOfShape", "Identity", "If", "Loop", "Scan", "Reshape", "Transpose"),
    *("Flatten", "Squeeze", "Unsqueeze", "Pad", "Shape", "Size"),
)
"""Operators that do not compute with elements."""
_CASTING = ("Cast", "CastLike", "QuantizeLinear", "DequantizeLinear")


def with_widths(model: Model) -> Model:
    """``model``, with attributes for the width of what its nodes make, where that is under 8 bits.

    Raises:
        OpNotImplemented: a node computes with such tensors otherwise than by casts.
    """
    if not _has_narrow(model.graph):
        return model
    import onnx

    # An error about an input or an output is to name the operators that the model has.
    require_held(model)
    # Without data propagation and strictness, which are about shapes.
    model = onnx.shape_inference.infer_shapes(model)
    _mark(model.graph, {})
    return model


def _has_narrow(graph: Graph) -> bool:
    return any(dtype_named(number) in NARROW for number in _mentioned(graph))


def _mentioned(graph: Graph) -> Iterator[int]:
    """The numbers of data types of the tensors in ``graph``, and those that its nodes cast to."""
    for tensor in graph.initializer:
        yield tensor.data_type
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.name in ("to", "output_dtype"):
                yield attribute.i
            if attribute.HasField("t"):
                yield attribute.t.data_type
            if attribute.HasField("g"):
                yield from _mentioned(attribute.g)


def _mark(graph: Graph, outer: dict[str, int]) -> None:
    from onnx import helper

    numbers = dict(outer)
    for value in (*graph.input, *graph.value_info, *graph.output):
        numbers[value.name] = value.type.tensor_type.elem_type
    numbers |= {tensor.name: tensor.data_type for tensor in graph.initializer}
    for node in graph.node:
        narrow = [
            number
            for name in (*node.input, *node.output)
            if dtype_named(number := numbers.get(name, 0)) in NARROW
        ]
        if narrow and node.op_type not in (*_MOVING, *_CASTING):
            raise refuse(node.op_type, dtype=name_of(narrow[0]))
        made = numbers.get(node.output[0], 0) if node.output else 0
        if dtype_named(made) in NARROW and node.op_type == "CastLike":
            node.op_type = "Cast"
            del node.input[1:]
            node.attribute.append(helper.make_attribute("to", made))
        if dtype_named(made) in NARROW and node.op_type == "QuantizeLinear":
            kept = [each for each in node.attribute if each.name != "output_dtype"]
            del node.attribute[:]
            node.attribute.extend([*kept, helper.make_attribute("output_dtype", made)])
        for attribute in node.attribute:
            if attribute.HasField("g"):
                _mark(attribute.g, numbers)


def get_numpy(tensor_proto: Any) -> Any:
    """The elements of ``tensor_proto`` as an array; integers of fewer than 8 bits in 8."""
    from onnx import numpy_helper

    array = numpy_helper.to_array(tensor_proto)
    return array.astype(held(array.dtype.name)) if array.dtype.name in NARROW else array


def narrow_rebindings() -> tuple[Rebinding, ...]:
    """What makes ``from_onnx`` hold integers of fewer than 8 bits."""
    from tvm.relax.frontend.onnx import onnx_frontend

    return (
        preparing(with_widths, _has_narrow),
        Rebinding(onnx_frontend.get_numpy, get_numpy),
    )


def lacks_four_bits() -> bool:
    """True if QuantizeLinear to int4 and DequantizeLinear of int4 are not imported."""
    from onnx import TensorProto, helper, numpy_helper

    zero = helper.make_tensor("zero", TensorProto.INT4, [], [1])
    scale = numpy_helper.from_array(np.array(0.5, "float32"), "scale")
    info = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [2]) for name in "xy"]
    nodes = [
        helper.make_node("QuantizeLinear", ["x", "scale", "zero"], ["q"]),
        helper.make_node("DequantizeLinear", ["q", "scale", "zero"], ["y"]),
    ]
    graph = helper.make_graph(nodes, "graph", info[:1], info[1:], [zero, scale])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    x = np.array([100, -1], "float32")
    return fails(model, [x], [np.array([3, -1], "float32")])
