"""Converters of PyTorch's LSTM, GRU and RNN, of any batch and length, for exported programs.

``CONVERTERS`` go into the importer's ``custom_convert_map``::

    with fixes.exporting_recurrences():
        program = torch.export.export(model, inputs, dynamic_shapes=...)
    module = from_exported_program(program, custom_convert_map=fixes.RECURRENCES)

Without them a recurrence becomes one operator a step, so that its length is a number; an importer
that is told not to decompose returns the outputs in place of the final states. The loops are those
of ONNX's operators (``onnx_rnn``), with the gates reordered and the layers stacked.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tvm import relax

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework.fix import invalid, refuse
from relaxcheck.fixes.frontends.onnx.converting import Node
from relaxcheck.fixes.frontends.onnx.recurrent.importing import convert
from relaxcheck.fixes.frontends.torch_rnn.exporting import OPERATOR
from relaxcheck.fixes.tvm_api import BlockBuilder, Expr

_ONNX_ORDER = {"LSTM": (0, 3, 1, 2), "GRU": (1, 0, 2), "RNN": (0,)}
"""The positions in PyTorch of ONNX's gates, in order; PyTorch has i, f, g, o and r, z, n."""

_ACTIVATIONS = {"rnn_tanh": ["Tanh"], "rnn_relu": ["Relu"]}


@dataclass(frozen=True, slots=True)
class _Stack:
    """Recurrent layers on top of each other; ``kind`` is PyTorch's name of the operator."""

    kind: str
    hidden: int
    layers: int
    biases: bool
    bidirectional: bool
    batch_first: bool

    @property
    def operator(self) -> str:
        """ONNX's name of the operator."""
        return self.kind.partition("_")[0].upper()

    @property
    def directions(self) -> int:
        """The number of directions of each layer."""
        return 2 if self.bidirectional else 1


def _of_aten(node: Any, importer: Any) -> Expr:
    """Converts ``aten.lstm.input`` and its like, with the arguments that ATen declares."""
    kind = str(node.target.__name__).partition(".")[0]
    data, states, weights, biases, layers, dropout, train, bidirectional, batch_first = (
        importer.retrieve_args(node)
    )
    if train and dropout:
        raise refuse(kind, dropout=dropout, train=train)
    states = list(states) if isinstance(states, list | tuple) else [states]
    hidden = tvm_api.as_int(tvm_api.shape_of(weights[1])[-1])
    assert hidden is not None, "weights are static"
    if len(weights) != layers * (2 if bidirectional else 1) * (4 if biases else 2):
        raise refuse(kind, weights=len(weights))
    stack = _Stack(kind, hidden, layers, biases, bidirectional, batch_first)
    return _stacked(importer.block_builder, stack, data, None, weights, states)


def _of_ours(node: Any, importer: Any) -> Expr:
    """Converts the operator that ``exporting_recurrences`` puts in place of a module."""
    data, lengths, weights, states, kind, *rest = importer.retrieve_args(node)
    stack = _Stack(kind, *rest)
    return _stacked(importer.block_builder, stack, data, lengths, weights, states)


CONVERTERS: dict[str, Any] = {
    **dict.fromkeys(("lstm.input", "gru.input", "rnn_tanh.input", "rnn_relu.input"), _of_aten),
    f"{OPERATOR}.default": _of_ours,
}
"""Converters of a node to a Relax expression, by operator name; called with node and importer."""


def _stacked(
    builder: BlockBuilder,
    stack: _Stack,
    data: Expr,
    lengths: Expr | None,
    weights: Sequence[Expr],
    states: Sequence[Expr],
) -> Expr:
    """Output and final states, as in PyTorch; zeros after the end of a sequence.

    Raises:
        ValueError: the number of weights does not match layers and directions.
    """
    each = 4 if stack.biases else 2
    if len(weights) != stack.layers * stack.directions * each:
        raise invalid(stack.kind, "so many are not those of its layers", weights=len(weights))
    if stack.batch_first:
        data = builder.emit(relax.op.permute_dims(data, [1, 0, 2]))
    if lengths is not None:
        lengths = builder.emit(relax.op.astype(lengths, "int32"))
    finals: list[list[Expr]] = []
    for layer in range(stack.layers):
        first = layer * stack.directions
        own = [weights[(first + at) * each :][:each] for at in range(stack.directions)]
        begin = [_layer_of(builder, state, first, stack.directions) for state in states]
        data, *last = _layer(builder, stack, data, lengths, own, begin)
        finals.append(last)
    if stack.batch_first:
        data = builder.emit(relax.op.permute_dims(data, [1, 0, 2]))
    return relax.Tuple(
        [data, *(_joined(builder, list(ends)) for ends in zip(*finals, strict=True))]
    )


def _layer(
    builder: BlockBuilder,
    stack: _Stack,
    data: Expr,
    lengths: Expr | None,
    weights: Sequence[Sequence[Expr]],
    states: Sequence[Expr],
) -> list[Expr]:
    """The output of one layer, (length, batch, directions * hidden), then its final states."""
    order = _ONNX_ORDER[stack.operator]

    def of_directions(number: int) -> Expr:
        reordered = [_reordered(builder, each[number], order) for each in weights]
        return _joined(builder, [builder.emit(relax.op.expand_dims(w, 0)) for w in reordered])

    bias = None
    if stack.biases:
        both = [of_directions(2), of_directions(3)]
        bias = builder.emit(relax.op.concat(both, 1))
    attributes: dict[str, Any] = {
        "hidden_size": stack.hidden,
        "direction": "bidirectional" if stack.bidirectional else "forward",
        "tvm_custom": {"num_outputs": 3},
    }
    if stack.kind in _ACTIVATIONS:
        attributes["activations"] = _ACTIVATIONS[stack.kind] * stack.directions
    if stack.operator == "GRU":
        attributes["linear_before_reset"] = 1
    arguments = [data, of_directions(0), of_directions(1), bias, lengths, *states]
    node = Node(stack.operator, 14, builder, arguments, attributes, None)
    output, *finals = convert(node).fields
    length, _, batch, _ = tvm_api.shape_of(output)
    apart = builder.emit(relax.op.permute_dims(output, [0, 2, 1, 3]))
    shape = relax.ShapeExpr([length, batch, stack.directions * stack.hidden])
    return [builder.emit(relax.op.reshape(apart, shape)), *finals]


def _reordered(builder: BlockBuilder, weight: Expr, order: Sequence[int]) -> Expr:
    """``weight`` with its gates along axis 0 in ``order``."""
    if len(order) == 1:
        return weight
    gates = builder.emit(relax.op.split(weight, len(order), 0))
    return _joined(builder, [builder.emit(relax.TupleGetItem(gates, at)) for at in order])


def _layer_of(builder: BlockBuilder, state: Expr, first: int, count: int) -> Expr:
    """The states of one layer."""
    return builder.emit(relax.op.strided_slice(state, [0], [first], [first + count]))


def _joined(builder: BlockBuilder, parts: list[Expr]) -> Expr:
    return parts[0] if len(parts) == 1 else builder.emit(relax.op.concat(parts, 0))
