"""Final states of recurrent layers in exported PyTorch programs that are not decomposed."""

import numpy as np
import torch
import tvm.testing
from torch import nn
from tvm import relax
from tvm.relax.frontend.torch import from_exported_program


def verify(layers):
    data = torch.sin(torch.arange(40.0)).reshape(4, 5, 2)
    program = torch.export.export(layers.eval(), (data,))
    module = from_exported_program(program, run_ep_decomposition=False)
    machine = relax.VirtualMachine(relax.build(module, tvm.target.Target("llvm")), tvm.cpu())
    results = machine["main"](tvm.runtime.tensor(data.numpy()))
    expected = torch.utils._pytree.tree_leaves(layers(data))
    assert len(results) == len(expected)
    for actual, wanted in zip(results, expected, strict=True):
        np.testing.assert_allclose(actual.numpy(), wanted.detach().numpy(), 1e-5, 1e-5)


def test_lstm():
    verify(nn.LSTM(2, 3))
    verify(nn.LSTM(2, 3, num_layers=2, bidirectional=True, batch_first=True))


def test_gru():
    verify(nn.GRU(2, 3, bias=False))
    verify(nn.GRU(2, 3, num_layers=2, bidirectional=True))


def test_rnn():
    verify(nn.RNN(2, 3, batch_first=True))
    verify(nn.RNN(2, 3, nonlinearity="relu", num_layers=2))


if __name__ == "__main__":
    tvm.testing.main()
