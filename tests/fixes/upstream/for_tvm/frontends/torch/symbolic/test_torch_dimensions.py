"""Dimensions of exported PyTorch programs that are numbers, or expressions of others."""

import numpy as np
import pytest
import torch
import tvm.testing
from tvm import relax
from tvm.relax.frontend.torch import from_exported_program

WEIGHT = torch.arange(5.0)


class Sum(torch.nn.Module):
    def forward(self, data):
        return data + WEIGHT


class Square(torch.nn.Module):
    def forward(self, row, square):
        return torch.outer(row, row) + square.view(row.shape[0], row.shape[0])


def compiled(model, *inputs):
    """The compiled program of ``model``, whose first dimensions may vary."""
    shapes = tuple({0: torch.export.Dim.AUTO} for _ in inputs)
    program = torch.export.export(model, inputs, dynamic_shapes=shapes)
    module = from_exported_program(program)
    machine = relax.VirtualMachine(relax.build(module, tvm.target.Target("llvm")), tvm.cpu())
    return lambda *values: machine["main"](*map(tvm.runtime.tensor, values))[0].numpy()


def test_fixed():
    data = torch.ones(5)
    np.testing.assert_allclose(compiled(Sum(), data)(data.numpy()), Sum()(data))


def test_square():
    run = compiled(Square(), torch.ones(3), torch.ones(9))
    row, square = torch.arange(4.0), torch.arange(16.0)
    np.testing.assert_allclose(run(row.numpy(), square.numpy()), Square()(row, square))
    with pytest.raises(Exception, match="shape"):
        run(row.numpy(), np.ones(15, "float32"))


if __name__ == "__main__":
    tvm.testing.main()
