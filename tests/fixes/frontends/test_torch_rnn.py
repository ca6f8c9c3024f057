"""PyTorch's LSTM, GRU and RNN through torch.export, of any batch and length, agree with PyTorch."""

from typing import Any

import numpy as np
import pytest
import torch
from torch import nn
from torch.export import export
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence
from tvm.relax.frontend.torch import from_exported_program

from relaxcheck import fixes
from tests.fixes.bucketed_programs import refused
from tests.fixes.recurrent_modules import KINDS, TOLERANCE, Model, agree, built, exported, inputs

# PyTorch warns about its own exporter; TVM's importer about PyTorch's deprecations.
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.mark.parametrize(
    ("kind", "packed"),
    [("LSTM", False), ("LSTM", True), ("GRU", True), ("RNN", False), ("ReLU", True)],
)
def test_any_batch_and_length(kind: str, packed: bool) -> None:
    deep = {"bidirectional": True, "num_layers": 2} if kind in ("LSTM", "GRU") else {}
    model = Model(kind, packed=packed, batch_first=packed, **deep).eval()
    module = from_exported_program(exported(model), custom_convert_map=fixes.RECURRENCES)
    run = built(module)
    for length, batch in ((5, 4), (1, 1), (9, 2)):
        agree(model, run, inputs(model, length, batch))


@pytest.mark.parametrize("kind", ["LSTM", "GRU"])
def test_first_states_and_no_biases(kind: str) -> None:
    model = Model(kind, bias=False, bidirectional=True).eval()
    module = from_exported_program(
        exported(model, states=True), custom_convert_map=fixes.RECURRENCES
    )
    run = built(module)
    for length, batch in ((2, 3), (7, 1)):
        agree(model, run, inputs(model, length, batch, states=True))


@pytest.mark.parametrize("kind", KINDS)
def test_programs_that_are_not_decomposed(kind: str) -> None:
    """Their length is a number; TVM itself returns the outputs in place of the final states."""
    model = Model(kind, num_layers=2, batch_first=True).eval()
    arguments = inputs(model, 5, 4)
    with torch.no_grad():
        program = export(model, tuple(arguments))
    module = from_exported_program(
        program, custom_convert_map=fixes.RECURRENCES, run_ep_decomposition=False
    )
    agree(model, built(module), arguments)


def test_the_operator_computes_what_the_module_does() -> None:
    for packed in (False, True):
        model = Model("GRU", packed=packed, bidirectional=True, num_layers=2).eval()
        arguments = inputs(model, 5, 4)
        with torch.no_grad():
            wanted = model(*arguments)
            with fixes.exporting_recurrences():
                result = model(*arguments)
        for actual, expected in zip(result, wanted, strict=True):
            np.testing.assert_allclose(actual.numpy(), expected.numpy(), rtol=0, atol=TOLERANCE)


def test_a_single_sequence() -> None:
    model = Model("LSTM").eval()
    x = torch.randn(5, 2)
    with torch.no_grad():
        wanted = model(x)
        with fixes.exporting_recurrences():
            result = model(x)
    for actual, expected in zip(result, wanted, strict=True):
        assert actual.shape == expected.shape
        np.testing.assert_allclose(actual.numpy(), expected.numpy(), rtol=0, atol=TOLERANCE)


def test_pytorch_is_as_it_was_afterwards() -> None:
    before = (nn.LSTM.forward, pack_padded_sequence, nn.utils.rnn.pad_packed_sequence)
    with fixes.exporting_recurrences():
        assert nn.LSTM.forward is not before[0]
        assert nn.utils.rnn.pad_packed_sequence is not before[2]
    with pytest.raises(RuntimeError, match="shape"), fixes.exporting_recurrences():
        torch.ones(2).view(3)
    after = (nn.LSTM.forward, pack_padded_sequence, nn.utils.rnn.pad_packed_sequence)
    assert after == before


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"dropout": 0.5, "num_layers": 2}, "LSTM: dropout must be 0 in training, got 0.5"),
        ({"proj_size": 1}, "LSTM: proj_size must be 0, got 1"),
    ],
)
def test_refusals(settings: dict[str, Any], message: str) -> None:
    model = Model("LSTM", **settings)
    with fixes.exporting_recurrences(), refused(message):
        model(torch.randn(5, 4, 2))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"padding_value": 1.0}, "pad_packed_sequence: padding_value must be 0, got 1.0"),
        ({"total_length": 6}, "pad_packed_sequence: total_length must be 5, got 6"),
    ],
)
def test_paddings_that_are_refused(settings: dict[str, Any], message: str) -> None:
    with fixes.exporting_recurrences():
        packed = pack_padded_sequence(torch.randn(5, 4, 2), torch.tensor([5, 4, 3, 2]))
        with refused(message):
            pad_packed_sequence(packed, **settings)
        assert pad_packed_sequence(packed, True, total_length=5)[0].shape == (4, 5, 2)
