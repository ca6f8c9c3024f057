"""Exports each recurrent module of PyTorch as a single operator.

``torch.export`` traces a recurrence step by step, which turns its length into a number, and does
not support packed sequences. Within ``exporting_recurrences`` a module is one call of an operator,
whose result has a shape and no steps. A packed sequence is a padded one with its lengths.
"""

import contextlib
import functools
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

_NAMESPACE = "tvm_fixes"
OPERATOR = "recurrence"

Tensor = Any


@dataclass(frozen=True, slots=True)
class _Padded:
    """The stand-in for a packed sequence: a padded one, and the lengths."""

    data: Tensor
    lengths: Tensor
    batch_first: bool


@contextlib.contextmanager
def exporting_recurrences() -> Iterator[None]:
    """Within the block, export ``nn.LSTM``, ``nn.GRU`` and ``nn.RNN`` as one operator each.

    Also replaces ``pack_padded_sequence`` and ``pad_packed_sequence`` under every name in a loaded
    module. A padded result keeps its former length, with zeros after the end of each sequence;
    PyTorch cuts it to the longest sequence, unless given ``total_length``.

    Raises (while a model runs in the block):
        ValueError: dropout in training, projections, padding with a value other than 0, or to a
            different length.
    """
    from torch import nn
    from torch.nn.utils import rnn

    replaced: list[tuple[Any, str, Any]] = []
    for kind in (nn.LSTM, nn.GRU, nn.RNN):
        replaced.append((kind, "forward", kind.forward))
        kind.forward = _forward
    for original, other in (
        (rnn.pack_padded_sequence, _pack),
        (rnn.pad_packed_sequence, _pad),
    ):
        for module in list(sys.modules.values()):
            for name, value in list(getattr(module, "__dict__", {}).items()):
                if value is original:
                    replaced.append((module, name, original))
                    setattr(module, name, other)
    try:
        yield
    finally:
        for owner, name, original in reversed(replaced):
            setattr(owner, name, original)


def _pack(
    data: Tensor, lengths: Tensor, batch_first: bool = False, enforce_sorted: bool = True
) -> _Padded:
    """Replaces ``pack_padded_sequence``; the order of the sequences does not matter."""
    import torch

    return _Padded(data, torch.as_tensor(lengths), batch_first)


def _pad(
    sequence: _Padded,
    batch_first: bool = False,
    padding_value: float = 0.0,
    total_length: Any = None,
) -> tuple[Tensor, Tensor]:
    """Replaces ``pad_packed_sequence``."""
    if padding_value != 0.0:
        raise ValueError(f"pad_packed_sequence: padding_value must be 0, got {padding_value}")
    length = sequence.data.shape[1 if sequence.batch_first else 0]
    if total_length is not None and total_length != length:
        raise ValueError(f"pad_packed_sequence: total_length must be {length}, got {total_length}")
    same = sequence.batch_first == batch_first
    return sequence.data if same else sequence.data.transpose(0, 1), sequence.lengths


def _forward(module: Any, input: Any, hx: Any = None) -> Any:
    """Replaces ``forward`` of a recurrent module."""
    if module.training and module.dropout:
        raise ValueError(f"{module.mode}: dropout must be 0 in training, got {module.dropout}")
    if getattr(module, "proj_size", 0):
        raise ValueError(f"{module.mode}: proj_size must be 0, got {module.proj_size}")
    packed = isinstance(input, _Padded)
    data, lengths = (input.data, input.lengths) if packed else (input, None)
    batch_first = input.batch_first if packed else module.batch_first
    states = [] if hx is None else list(hx) if isinstance(hx, list | tuple) else [hx]
    alone = data.dim() == 2
    if alone:
        data = data.unsqueeze(0 if batch_first else 1)
        states = [state.unsqueeze(1) for state in states]
    output, *finals = _operator()(
        data,
        lengths,
        module._flat_weights,
        states,
        module.mode.lower(),
        module.hidden_size,
        module.num_layers,
        module.bias,
        module.bidirectional,
        batch_first,
    )
    if alone:
        output = output.squeeze(0 if batch_first else 1)
        finals = [state.squeeze(1) for state in finals]
    final = tuple(finals) if len(finals) > 1 else finals[0]
    return (_Padded(output, lengths, batch_first) if packed else output), final


@functools.cache
def _operator() -> Any:
    """The operator, registered with PyTorch once."""
    import torch

    made = torch.library.custom_op(
        f"{_NAMESPACE}::{OPERATOR}",
        _computed,
        mutates_args=(),
        schema=(
            "(Tensor data, Tensor? lengths, Tensor[] weights, Tensor[] states, str kind,"
            " int hidden, int layers, bool biases, bool bidirectional, bool batch_first)"
            " -> Tensor[]"
        ),
    )
    made.register_fake(_shaped)
    return made


def _shaped(
    data: Tensor,
    lengths: Tensor | None,
    weights: Sequence[Tensor],
    states: Sequence[Tensor],
    kind: str,
    hidden: int,
    layers: int,
    biases: bool,
    bidirectional: bool,
    batch_first: bool,
) -> list[Tensor]:
    """Results of the right shapes, without values."""
    directions = 2 if bidirectional else 1
    batch = data.shape[0 if batch_first else 1]
    output = data.new_empty((*data.shape[:2], directions * hidden))
    count = 2 if kind == "lstm" else 1
    finals = [data.new_empty((layers * directions, batch, hidden)) for _ in range(count)]
    return [output, *finals]


def _computed(
    data: Tensor,
    lengths: Tensor | None,
    weights: Sequence[Tensor],
    states: Sequence[Tensor],
    kind: str,
    hidden: int,
    layers: int,
    biases: bool,
    bidirectional: bool,
    batch_first: bool,
) -> list[Tensor]:
    """PyTorch's results; with lengths, sequence by sequence."""
    import torch

    function = getattr(torch, kind)
    if not states:
        _, *zeros = _shaped(
            data, lengths, weights, states, kind, hidden, layers, biases, bidirectional, batch_first
        )
        states = [torch.zeros_like(state) for state in zeros]

    def run(sequences: Tensor, begin: Sequence[Tensor]) -> tuple[Tensor, ...]:
        hx = list(begin) if kind == "lstm" else begin[0]
        settings = (biases, layers, 0.0, False, bidirectional, False)
        return tuple(function(sequences, hx, list(weights), *settings))

    steps_first = data.transpose(0, 1) if batch_first else data
    if lengths is None:
        output, *finals = run(steps_first, states)
    else:
        output = data.new_zeros((*steps_first.shape[:2], (1 + bidirectional) * hidden))
        each = []
        for number, length in enumerate(lengths.tolist()):
            sample = slice(number, number + 1)
            result, *last = run(
                steps_first[:length, sample], [state[:, sample] for state in states]
            )
            output[:length, sample] = result
            each.append(last)
        finals = [torch.cat(parts, 1) for parts in zip(*each, strict=True)]
    return [output.transpose(0, 1).contiguous() if batch_first else output, *finals]
