"""ONNX's sequences and optionals, whose lengths are known while the model is imported."""

from typing import Any

import numpy as np
from tvm import relax

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework.fix import FaultPart, Fix, invalid, refuse
from relaxcheck.fixes.framework.patch import NewFile
from relaxcheck.fixes.frontends.onnx import converting
from relaxcheck.fixes.frontends.onnx.converting import Convert, Node
from relaxcheck.fixes.frontends.onnx.movement import operands
from relaxcheck.fixes.frontends.onnx.movement.slicing import Part, taken
from relaxcheck.fixes.frontends.onnx.probing import fails, node_model
from relaxcheck.fixes.tvm_api import Expr

UPSTREAM = NewFile("relax/frontend/onnx/sequences.py")


_MAY_LACK_INPUT = 18
"""The first opset in which OptionalHasElement may have no input."""


def _elements(node: Node) -> list[Any]:
    """The elements of the sequence that is the first input."""
    sequence = node.input(0)
    if not isinstance(sequence, relax.Tuple):
        raise refuse(node.operator, input_sequence="of unknown length")
    return list(sequence.fields)


def _position(node: Node, index: int, last: int) -> int:
    """The position that the input ``index`` names: of ``last`` and those before, from the front.

    Raises:
        OpNotImplemented: it is known only at run time.
        ValueError: there is no such position.
    """
    values = operands.integers(node, index)
    if values is None or len(values) != 1 or not isinstance(values[0], int):
        raise refuse(node.operator, position="known only at run time")
    length = len(_elements(node))
    if not -length <= values[0] <= last:
        raise invalid(node.operator, f"the sequence has {length} elements", position=values[0])
    return values[0] + length if values[0] < 0 else values[0]


def sequence_at(node: Node) -> Any:
    """The element at a position."""
    elements = _elements(node)
    return elements[_position(node, 1, len(elements) - 1)]


def sequence_erase(node: Node) -> Any:
    """The sequence without the element at a position, by default the last one."""
    elements = _elements(node)
    last = len(elements) - 1
    if node.input(1) is None and not elements:
        raise invalid("SequenceErase", "the sequence is empty", position=-1)
    del elements[last if node.input(1) is None else _position(node, 1, last)]
    return relax.Tuple(elements)


def sequence_insert(node: Node) -> Any:
    """The sequence with an element in front of a position, by default behind the last one."""
    elements = _elements(node)
    count = len(elements)
    elements.insert(count if node.input(2) is None else _position(node, 2, count), node.inputs[1])
    return relax.Tuple(elements)


def split_to_sequence(node: Node) -> Any:
    """The data cut along an axis: into single places, parts of one size, or of stated sizes.

    Raises:
        OpNotImplemented: the number of the parts is known only at run time.
    """
    data = operands.data_of(node)
    own = operands.dims_of(data)
    axis = operands.axis_of(node, int(node.attribute("axis", 0)), len(own))
    keeps = bool(node.attribute("keepdims", 1)) or node.input(1) is not None
    parts, first = [], 0
    for size in _sizes(node, own[axis]):
        ends = [Part(first, size) if at == axis else Part(0, dim) for at, dim in enumerate(own)]
        part = node.emit(taken(node, data, ends))
        parts.append(part if keeps else node.emit(relax.op.squeeze(part, [axis])))
        first = first + size
    return relax.Tuple(parts)


def _sizes(node: Node, size: Any) -> list[Any]:
    """The sizes of the parts of an axis of ``size``."""
    sizes = [1] if node.input(1) is None else operands.integers(node, 1)
    if node.input(1) is not None and _rank(node.inputs[1]) == 1:
        if sizes is None:
            count = operands.length_of(node, 1, "split")
            return operands.symbols_of(node.builder, operands.as_tensor(node, 1), count, "split")
        if isinstance(size, int) and sum(sizes) != size:
            raise invalid("SplitToSequence", f"the axis has {size} places", split=sizes)
        return sizes
    if sizes is None or not isinstance(sizes[0], int) or not isinstance(size, int):
        raise refuse("SplitToSequence", split="into a number of parts known only at run time")
    if sizes[0] < 1:
        raise invalid("SplitToSequence", "it is a positive number", split=sizes[0])
    whole, rest = divmod(size, sizes[0])
    return [sizes[0]] * whole + [rest] * bool(rest)


def _rank(value: Any) -> int:
    # A shape is a vector, and an integer expression is none.
    if tvm_api.is_tensor(value):
        return len(tvm_api.shape_of(value))
    return int(isinstance(value, relax.ShapeExpr))


def optional_has_element(node: Node) -> Expr:
    """True if the optional has a value: False if the input is left out, as it may be of late."""
    if not node.inputs and node.opset >= _MAY_LACK_INPUT:
        return tvm_api.const(np.array(False))
    return node.converted()


CONVERSIONS: dict[str, Convert] = {
    "SequenceAt": sequence_at,
    "SequenceErase": sequence_erase,
    "SequenceInsert": sequence_insert,
    "SplitToSequence": split_to_sequence,
    "OptionalHasElement": optional_has_element,
}


def _lacks_nothing() -> bool:
    model = node_model("OptionalHasElement", {}, 18)
    return fails(model, [], [np.array(False)])


def _lacks_sizes_at_run_time() -> bool:
    from onnx import helper

    data, split = np.arange(5, dtype=np.float32), np.array([2, 3], np.int64)
    model = node_model("SplitToSequence", {"x": data, "split": split}, 11)
    model.graph.node[0].output[0] = "parts"
    model.graph.node.append(helper.make_node("ConcatFromSequence", ["parts"], ["output_0"], axis=0))
    return fails(model, [data, split], [data])


FIX = Fix(
    name="onnx_sequences",
    operators=tuple(CONVERSIONS),
    fault="ONNX's SplitToSequence by sizes at run time, and optionals without input, are refused",
    issue=None,
    parts=(
        FaultPart("SplitToSequence at run time", _lacks_sizes_at_run_time),
        FaultPart("an optional without input", _lacks_nothing),
    ),
    rebindings=converting.rebindings(CONVERSIONS),
    after="onnx_loops",
    patch=converting.patch(CONVERSIONS),
)
