"""PyTorch modules with LSTM, GRU and RNN layers, and their results in TVM."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
import tvm
from torch import nn
from torch.export import Dim, export
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from relaxcheck import fixes
from tests.fixes import compiled

KINDS: dict[str, Any] = {
    "LSTM": (nn.LSTM, {}),
    "GRU": (nn.GRU, {}),
    "RNN": (nn.RNN, {}),
    "ReLU": (nn.RNN, {"nonlinearity": "relu"}),
}
TOLERANCE = 2e-6
"""Outputs are at most 1, or sums of a few units: some tens of roundings of float32."""


class Model(nn.Module):
    """One recurrent module of x, of lengths if ``packed``, and of initial states if any."""

    def __init__(self, kind: str, *, packed: bool = False, **settings: Any) -> None:
        super().__init__()
        make, own = KINDS[kind]
        torch.manual_seed(3)
        self.recurrence = make(2, 3, **own, **settings)
        self.packed = packed

    def forward(self, x: Any, *others: Any) -> Any:
        batch_first = self.recurrence.batch_first
        if self.packed:
            lengths, *others = others
            x = pack_padded_sequence(x, lengths, batch_first, enforce_sorted=False)
        states = tuple(others) if len(others) > 1 else (*others, None)[0]
        y, final = self.recurrence(x, states)
        if self.packed:
            y, _ = pad_packed_sequence(y, batch_first)
        return (y, *final) if isinstance(final, tuple) else (y, final)


def inputs(model: Model, length: int, batch: int, *, states: bool = False) -> list[Any]:
    torch.manual_seed(length + 10 * batch)
    module = model.recurrence
    shape = (batch, length) if module.batch_first else (length, batch)
    arguments = [torch.randn(*shape, 2)]
    if model.packed:
        # The longest sequence has the full length: PyTorch would cut the others.
        arguments.append(torch.tensor([length, *(1 + n % length for n in range(1, batch))]))
    if states:
        count = 2 if isinstance(module, nn.LSTM) else 1
        layers = module.num_layers * (1 + module.bidirectional)
        arguments += [torch.randn(layers, batch, 3) for _ in range(count)]
    return arguments


def _symbolic(model: Model, arguments: Sequence[Any]) -> Any:
    batch, length = Dim("batch", min=1, max=99), Dim("length", min=1, max=99)
    axes = (batch, length) if model.recurrence.batch_first else (length, batch)
    result: list[Any] = [{0: axes[0], 1: axes[1]}]
    if model.packed:
        result.append({0: batch})
    result += [{1: batch} for _ in arguments[len(result) :]]
    return {"x": result[0], **({"others": tuple(result[1:])} if result[1:] else {})}


def built(module: Any) -> Any:
    return compiled.machine(module, relax_pipeline=fixes.pipeline())["main"]


def agree(model: Model, run: Any, arguments: Sequence[Any]) -> None:
    with torch.no_grad():
        wanted = model(*arguments)
    result = list(run(*(tvm.runtime.tensor(each.numpy()) for each in arguments)))
    assert len(result) == len(wanted)
    for actual, expected in zip(result, wanted, strict=True):
        np.testing.assert_allclose(actual.numpy(), expected.numpy(), rtol=0, atol=TOLERANCE)


def exported(model: Model, **changes: Any) -> Any:
    arguments = inputs(model, 5, 4, **changes)
    with torch.no_grad(), fixes.exporting_recurrences():
        return export(model, tuple(arguments), dynamic_shapes=_symbolic(model, arguments))
