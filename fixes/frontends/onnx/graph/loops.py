"""ONNX's Loop, Scan and SequenceMap, as many copies of their bodies as they have iterations.

The number of iterations has to be known while the model is imported.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from tvm import relax

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework.fix import FaultPart, Fix, invalid, refuse
from relaxcheck.fixes.framework.patch import NewFile
from relaxcheck.fixes.frontends.onnx.converting import Convert, Node, patch, rebindings
from relaxcheck.fixes.frontends.onnx.graph import known
from relaxcheck.fixes.frontends.onnx.probing import fails, node_model
from relaxcheck.fixes.tvm_api import Expr

UPSTREAM = NewFile("relax/frontend/onnx/loops.py")

MOST = 1024
"""More copies of a body would make a module that takes too long to compile."""

_FIRST_SCAN = 9
"""Before, Scan runs over a batch of sequences."""


def results(node: Node, body: Any, values: Mapping[str, Any]) -> list[Any]:
    """The outputs of the graph ``body`` for ``values`` of its inputs, within that of ``node``."""
    from tvm.relax.frontend.onnx import onnx_frontend

    outer, parameters = node.parameters
    inner = onnx_frontend.ONNXGraphImporter(None, None)
    inner.bb, inner.opset, inner._params = node.builder, node.opset, parameters
    inner._nodes = {**outer, **values}
    for initializer in body.initializer:
        inner._nodes[initializer.name] = relax.const(inner._parse_array(initializer))
    inner._construct_nodes(body)
    return [inner._nodes[output.name] for output in body.output]


def _tensors(node: Node, values: Sequence[Any]) -> list[Any]:
    """``values``, bound to variables where they are calls."""
    return [
        node.builder.emit(value) if isinstance(value, relax.Call) else value for value in values
    ]


def loop(node: Node) -> Any:
    """The states after the last iteration, and each scan output as a tensor of all iterations.

    Raises:
        OpNotImplemented: the number of iterations depends on values at run time, or it is 0 and
            there are scan outputs.
    """
    body = node.attributes["body"]
    limit = known.known(node.input(0), node.parameters[1])
    start = known.known(node.input(1), node.parameters[1])
    if node.input(0) is None or limit is None or limit.symbolic:
        raise refuse("Loop", M="known only at run time" if node.input(0) is not None else None)
    if node.input(1) is not None and start is None:
        raise refuse("Loop", cond="known only at run time")
    trips = int(limit.values.reshape(())[()])
    if start is not None and not all(start.values.flat):
        trips = 0
    names = [value.name for value in body.input]
    states = [*node.inputs[2:], *[None] * (len(names) - len(node.inputs))]
    count, rows = len(names) - 2, []

    def iterated(number: int) -> tuple[bool, list[Any]]:
        values = [_scalar(number), _scalar(True), *states]
        condition, *outputs = results(node, body, dict(zip(names, values, strict=True)))
        going_on = known.known(condition, {})
        if going_on is None or going_on.symbolic:
            raise refuse("Loop", cond="known only at run time")
        return all(going_on.values.flat), _tensors(node, outputs)

    for number in range(_limited("Loop", trips)):
        goes_on, outputs = iterated(number)
        states, made = outputs[:count], outputs[count:]
        rows.append(made)
        if not goes_on:
            break
    if not rows and len(body.output) > 1 + count:
        # ONNX does not say of which shape they are.
        raise refuse("Loop", M=trips, scan_outputs=len(body.output) - 1 - count)
    columns = list(zip(*rows, strict=True))
    return relax.Tuple([*states, *(_stacked(node, column, 0) for column in columns)])


def _scalar(value: int) -> Expr:
    return tvm_api.const(np.array(value))


def _limited(operator: str, trips: int) -> int:
    if trips > MOST:
        raise refuse(operator, iterations=trips)
    return max(trips, 0)


def scan(node: Node) -> Any:
    """The states after the last element of the scan inputs, and the scan outputs.

    Raises:
        OpNotImplemented: the length or the number of the scan inputs is symbolic, or their lengths
            differ.
    """
    return _scanned_batches(node) if node.opset < _FIRST_SCAN else _scanned(node)


def _scanned_batches(node: Node) -> Any:
    """The results of each sequence of a batch, below one another."""
    if node.input(0) is not None:
        raise refuse("Scan", sequence_lens="lengths of their own")
    inputs = [_tensor(node, value) for value in node.inputs[1:]]
    sizes = {tvm_api.as_int(tvm_api.shape_of(each)[0]) for each in inputs}
    if len(sizes) != 1 or not all(sizes):
        shapes = [tvm_api.show(tvm_api.shape_of(each)) for each in inputs]
        raise refuse("Scan", initial_state_and_scan_inputs=shapes)
    directions = _settings(node, "directions", int(node.attributes["num_scan_inputs"]))
    batches = []
    for place in range(_limited("Scan", sizes.pop() or 0)):
        rows = [node.builder.emit(_element(each, place, 0)) for each in inputs]
        alone = node.with_inputs(*rows).with_attributes(scan_input_directions=directions)
        batches.append(_scanned(alone).fields)
    return relax.Tuple([_stacked(node, column, 0) for column in zip(*batches, strict=True)])


def _scanned(node: Node) -> Any:
    body, count = node.attributes["body"], int(node.attributes["num_scan_inputs"])
    names = [value.name for value in body.input]
    states = list(node.inputs[:-count])
    data = [_tensor(node, value) for value in node.inputs[-count:]]
    axes = [
        _axis(axis, len(tvm_api.shape_of(each)))
        for axis, each in zip(_settings(node, "scan_input_axes", count), data, strict=True)
    ]
    sizes = {
        tvm_api.as_int(tvm_api.shape_of(each)[axis]) for each, axis in zip(data, axes, strict=True)
    }
    if len(sizes) != 1 or None in sizes:
        shapes = [tvm_api.show(tvm_api.shape_of(each)) for each in data]
        raise refuse("Scan", scan_inputs=shapes, scan_input_axes=axes)
    length = _limited("Scan", next(size for size in sizes if size is not None))
    backwards = _settings(node, "scan_input_directions", count)
    rows = []
    for step in range(length):
        elements = [
            node.builder.emit(_element(each, length - 1 - step if reverse else step, axis))
            for each, axis, reverse in zip(data, axes, backwards, strict=True)
        ]
        outputs = results(node, body, dict(zip(names, [*states, *elements], strict=True)))
        outputs = _tensors(node, outputs)
        states, made = outputs[: len(states)], outputs[len(states) :]
        rows.append(made)
    several = len(body.output) - len(states)
    if not rows and several:
        # ONNX does not say of which shape they are.
        raise refuse("Scan", scan_inputs="without elements", scan_outputs=several)
    ends = _settings(node, "scan_output_directions", several)
    places = _settings(node, "scan_output_axes", several)
    stacked = [
        _stacked(node, column[::-1] if reverse else column, place)
        for column, reverse, place in zip(zip(*rows, strict=True), ends, places, strict=True)
    ]
    return relax.Tuple([*states, *stacked])


def _settings(node: Node, name: str, count: int) -> list[int]:
    """An attribute that has a number for each of ``count`` inputs or outputs, 0 by default."""
    return [int(each) for each in node.attributes.get(name) or [0] * count]


def _axis(axis: int, rank: int) -> int:
    if not -rank <= axis < rank:
        raise invalid("Scan", f"the rank is {rank}", scan_input_axes=axis)
    return axis % rank


def _tensor(node: Node, value: Any) -> Expr:
    return known.tensor(node.builder, value) if known.is_shape(value) else value


def _element(data: Expr, place: int, axis: int) -> Expr:
    return relax.op.take(data, relax.const(place, "int64"), axis=axis)


def _stacked(node: Node, rows: Sequence[Any], axis: int) -> Expr:
    """``rows`` as a tensor with a further axis."""
    rank = len(tvm_api.shape_of(_tensor(node, rows[0]))) + 1
    place = axis % rank
    wider = [relax.op.expand_dims(_tensor(node, row), place) for row in rows]
    return node.builder.emit(relax.op.concat([node.builder.emit(each) for each in wider], place))


def sequence_map(node: Node) -> Any:
    """The body's outputs for each element of the sequences, as sequences."""
    body, inputs = node.attributes["body"], list(node.inputs)
    names = [value.name for value in body.input]
    lengths = {len(each.fields) for each in inputs if isinstance(each, relax.Tuple)}
    if len(lengths) != 1:
        raise invalid("SequenceMap", "their lengths differ", input_sequence=sorted(lengths))
    columns: list[list[Any]] = []
    for at in range(_limited("SequenceMap", lengths.pop())):
        values = [each.fields[at] if isinstance(each, relax.Tuple) else each for each in inputs]
        outputs = results(node, body, dict(zip(names, values, strict=True)))
        columns.append([_tensor(node, value) for value in _tensors(node, outputs)])
    sequences = [relax.Tuple([row[each] for row in columns]) for each in range(len(body.output))]
    return sequences[0] if len(sequences) == 1 else relax.Tuple(sequences)


CONVERSIONS: dict[str, Convert] = {"Loop": loop, "Scan": scan, "SequenceMap": sequence_map}


def _lacks(make: Callable[[], Any]) -> bool:
    data = np.array([1, 2, 4], np.float32)
    return fails(make(), [data], [np.array(7, np.float32), np.array([1, 3, 7], np.float32)])


def _sums_by_scan() -> Any:
    """A model of a Scan that adds up the elements of a vector."""
    from onnx import helper

    model = _model("Scan", ["zero", "x"], _body(["state", "element"]), num_scan_inputs=1)
    model.graph.initializer.append(helper.make_tensor("zero", 1, [], [0]))
    return model


def _sums_by_loop() -> Any:
    """A model of a Loop that adds up the elements of a vector."""
    from onnx import helper

    body = _body(["number", "before", "state"])
    body.node.insert(0, helper.make_node("Gather", ["x", "number"], ["element"]))
    body.node.append(helper.make_node("Identity", ["before"], ["after"]))
    body.output.insert(0, helper.make_tensor_value_info("after", 9, []))
    model = _model("Loop", ["trips", "", "zero"], body)
    model.graph.initializer.append(helper.make_tensor("zero", 1, [], [0]))
    model.graph.initializer.append(helper.make_tensor("trips", 7, [], [3]))
    return model


def _body(inputs: Sequence[str]) -> Any:
    from onnx import helper

    kinds = {"number": 7, "before": 9}
    values = [helper.make_tensor_value_info(name, kinds.get(name, 1), []) for name in inputs]
    nodes = [
        helper.make_node("Add", ["state", "element"], ["sum"]),
        helper.make_node("Identity", ["sum"], ["row"]),
    ]
    ends = [helper.make_tensor_value_info(name, 1, []) for name in ("sum", "row")]
    return helper.make_graph(nodes, "body", values, ends)


def _model(operator: str, inputs: Sequence[str], body: Any, **attributes: Any) -> Any:
    from onnx import helper

    model = node_model("Identity", {"x": np.zeros(3, np.float32)}, 16, outputs=2)
    node = helper.make_node(operator, inputs, ["output_0", "output_1"], body=body, **attributes)
    model.graph.node[0].CopyFrom(node)
    return model


FIX = Fix(
    name="onnx_loops",
    operators=tuple(CONVERSIONS),
    fault="ONNX models with Loop, Scan or SequenceMap are not imported",
    issue=None,
    parts=(
        FaultPart("Loop", lambda: _lacks(_sums_by_loop)),
        FaultPart("Scan", lambda: _lacks(_sums_by_scan)),
    ),
    rebindings=rebindings(CONVERSIONS),
    after="onnx_ordering",
    patch=patch(CONVERSIONS),
)
