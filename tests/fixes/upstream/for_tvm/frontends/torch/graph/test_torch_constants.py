"""Tensors that PyTorch programs hold: in any order, of bfloat16, and without elements."""

import numpy as np
import torch
import tvm.testing
from torch import nn
from tvm import relax
from tvm.relax.frontend.torch import dynamo, from_exported_program, from_fx


class Holding(nn.Module):
    """Adds a buffer."""

    def __init__(self, held):
        super().__init__()
        self.register_buffer("held", held)

    def forward(self, x):
        return (x.to(self.held.dtype) + self.held).float()


class Multiplying(nn.Module):
    """Multiplies by a parameter without elements."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(5, 0), requires_grad=False)

    def forward(self, x):
        return self.weight * x


def run(module, data):
    executable = relax.build(module, tvm.target.Target("llvm"))
    result = relax.VirtualMachine(executable, tvm.cpu())["main"](tvm.runtime.tensor(data.numpy()))
    return (result if hasattr(result, "numpy") else result[0]).numpy()


def verify(model, data):
    module = from_exported_program(torch.export.export(model, (data,)))
    np.testing.assert_array_equal(run(module, data), model(data).numpy())


def test_order():
    verify(Holding(torch.arange(6.0).reshape(3, 2).bfloat16().T), torch.ones(2, 3))


def test_graphs():
    model, data = Holding(torch.arange(2.0).bfloat16()), torch.ones(3, 2)
    module = from_fx(torch.fx.symbolic_trace(model), [((3, 2), "float32")])
    np.testing.assert_array_equal(run(module, data), model(data).numpy())


def test_no_elements():
    verify(Multiplying(), torch.zeros(5, 0))


def test_inputs_of_dynamo():
    inputs = torch.zeros(5, 0), torch.zeros(0, 4)
    torch.compiler.reset()
    with torch.no_grad():
        result = torch.compile(lambda x, y: x @ y + 1, backend=dynamo.relax_dynamo())(*inputs)
    assert torch.equal(result, torch.ones(5, 4))


if __name__ == "__main__":
    tvm.testing.main()
