"""PyTorch's LSTM, GRU and RNN, of any batch, length and number of layers.

The loops are those of ONNX's operators, with the gates reordered and the layers stacked.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from tvm import relax

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework.fix import FaultPart, Fix, invalid, refuse
from relaxcheck.fixes.framework.patch import NewFile
from relaxcheck.fixes.frontends.onnx.converting import Node as OnnxNode
from relaxcheck.fixes.frontends.onnx.recurrent.importing import convert
from relaxcheck.fixes.frontends.torch.converting import Convert, Node, patch, rebindings
from relaxcheck.fixes.frontends.torch.probing import differs
from relaxcheck.fixes.tvm_api import BlockBuilder, Expr

UPSTREAM = NewFile("relax/frontend/torch/recurrent.py")

_ONNX_ORDER = {"LSTM": (0, 3, 1, 2), "GRU": (1, 0, 2), "RNN": (0,)}
"""The positions in PyTorch of ONNX's gates, in order; PyTorch has i, f, g, o and r, z, n."""

_ACTIVATIONS = {"rnn_tanh": ["Tanh"], "rnn_relu": ["Relu"]}


@dataclass(frozen=True, slots=True)
class Stack:
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


def convert_layers(node: Node) -> Expr:
    """The output and the final states of the layers of ``aten.lstm.input`` and its like.

    Raises:
        OpNotImplemented: there are projections, or dropout in training.
    """
    kind = node.operator.partition(".")[0]
    training = node.argument("train")
    if training and node.argument("dropout"):
        raise refuse(kind, dropout=node.argument("dropout"), train=training)
    states = node.argument("hx")
    states = list(states) if isinstance(states, list | tuple) else [states]
    weights = list(node.argument("params"))
    # The weights of a hidden state have as many rows as a gate for each gate.
    gates = len(_ONNX_ORDER[kind.partition("_")[0].upper()])
    rows, outputs = map(tvm_api.as_int, tvm_api.shape_of(weights[1]))
    assert rows is not None, "weights are static"
    hidden = rows // gates
    if outputs != hidden:
        raise refuse(kind, proj_size=outputs, run_ep_decomposition=False)
    stack = Stack(
        kind,
        hidden,
        node.argument("num_layers"),
        node.argument("has_biases"),
        node.argument("bidirectional"),
        node.argument("batch_first"),
    )
    return stacked(node.builder, stack, node.argument("input"), None, weights, states)


def stacked(
    builder: BlockBuilder,
    stack: Stack,
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
    stack: Stack,
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
    node = OnnxNode(stack.operator, 14, builder, arguments, attributes, None)
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


NAMES = tuple(f"{kind}.input" for kind in ("lstm", "gru", "rnn_tanh", "rnn_relu"))

CONVERSIONS: dict[str, Convert] = dict.fromkeys(NAMES, convert_layers)

_HIDDEN, _STEPS, _BATCH, _SIZE = 2, 3, 2, 2


def _values(*shape: int) -> Any:
    """Different numbers of ``shape``."""
    return np.sin(np.arange(1, np.prod(shape) + 1, dtype=np.float32)).reshape(shape)


def _loses_states(kind: str) -> bool:
    """True if TVM does not compute the output and the final states of one layer."""
    rows = len(_ONNX_ORDER[kind.partition("_")[0].upper()]) * _HIDDEN
    weights = [_values(rows, _SIZE), _values(rows, _HIDDEN), _values(rows), -_values(rows)]
    state = _values(1, _BATCH, _HIDDEN)
    states = [state, -state] if kind == "lstm" else state
    data = _values(_STEPS, _BATCH, _SIZE)
    return differs(f"{kind}.input", data, states, weights, True, 1, 0.0, False, False, False)


FIX = Fix(
    name="torch_recurrent",
    operators=NAMES,
    fault="the importer gives the output of LSTM and GRU in place of their final states",
    issue=None,
    parts=(
        FaultPart("LSTM", partial(_loses_states, "lstm")),
        FaultPart("GRU", partial(_loses_states, "gru")),
    ),
    rebindings=rebindings(CONVERSIONS),
    after="torch_attention",
    patch=patch(CONVERSIONS),
)
