"""LSTM, GRU and RNN in programs that are not decomposed agree with PyTorch."""

from collections.abc import Iterator
from typing import Any

import pytest
import torch
from torch import nn
from tvm.relax.frontend.torch import from_exported_program

from relaxcheck.fixes.framework import installation
from relaxcheck.fixes.frontends.torch.layers.recurrent import FIX
from tests.fixes import whole_programs as whole
from tests.fixes.torch_programs import TORCH, check, exported, floats, programs

pytestmark = pytest.mark.filterwarnings("ignore")


def layers(kind: str, **settings: Any) -> nn.Module:
    """Layers of 2 inputs and 3 outputs, with the same weights in each run."""
    if kind.startswith("rnn"):
        settings["nonlinearity"] = kind.removeprefix("rnn_")
    model: nn.Module = getattr(nn, kind.partition("_")[0].upper())(2, 3, **settings)
    for number, weight in enumerate(model.parameters(), 1):
        weight.data = floats(*weight.shape) / number
    return model.eval()


PROGRAMS: whole.Programs = {
    FIX.name: {
        "LSTM": programs(layers("lstm"), floats(4, 5, 2)),
        "GRU": programs(layers("gru"), floats(4, 5, 2)),
    }
}


@pytest.fixture(autouse=True)
def importing(fixes_off: None) -> Iterator[None]:
    with installation.install(TORCH):
        yield


def run(model: Any, *inputs: torch.Tensor, **symbolic: Any) -> None:
    check(model, *inputs, decomposed=(False,), **symbolic)


@pytest.mark.parametrize("kind", ["lstm", "gru", "rnn_relu"])
@pytest.mark.parametrize(
    "settings",
    [
        {"num_layers": 2, "bidirectional": True},
        {"batch_first": True, "num_layers": 3},
        {"bias": False, "bidirectional": True, "batch_first": True},
    ],
)
def test_settings(kind: str, settings: dict[str, Any]) -> None:
    run(layers(kind, **settings), floats(4, 5, 2))


@pytest.mark.parametrize("kind", ["lstm", "gru", "rnn_tanh"])
def test_first_states(kind: str) -> None:
    model = layers(kind, num_layers=2, bidirectional=True)
    count = 2 if kind == "lstm" else 1
    states = [floats(4, 5, 3) * (number + 1) for number in range(count)]

    def function(data: torch.Tensor, *hx: torch.Tensor) -> Any:
        return model(data, hx if count > 1 else hx[0])

    run(function, floats(4, 5, 2), *states)


@pytest.mark.parametrize("kind", ["lstm", "gru"])
def test_a_single_sequence_in_float64(kind: str) -> None:
    run(layers(kind).double(), floats(4, 2, dtype=torch.float64))


def test_a_symbolic_batch() -> None:
    model = layers("lstm", batch_first=True)
    run(model, floats(4, 5, 2), dynamic=[(0,)], again=[[floats(7, 5, 2)]])


def test_the_state_alone_is_used() -> None:
    model = layers("gru", batch_first=True)
    run(lambda x: model(x)[1][-1] * 2, floats(4, 5, 2))


def test_projections_are_refused_by_name() -> None:
    model = nn.LSTM(2, 4, proj_size=3)
    program = exported(model, (floats(4, 5, 2),))
    with pytest.raises(Exception, match="lstm cannot be lowered with proj_size=3"):
        from_exported_program(program, run_ep_decomposition=False)
    check(model, floats(4, 5, 2), decomposed=(True,))
