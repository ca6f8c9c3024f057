"""Changes in place, in exported PyTorch programs, of tensors that have several names."""

import numpy as np
import torch
import tvm.testing
from tvm import relax
from tvm.relax.frontend.torch import from_exported_program


class Rows(torch.nn.Module):
    def forward(self, x):
        x = x.clone()
        x[0].add_(1)
        return x


class Base(torch.nn.Module):
    def forward(self, x):
        x = x * 2
        row = x[0]
        x.add_(1)
        return row


def verify(model):
    data = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    program = torch.export.export(model, (data,))
    module = from_exported_program(program, run_ep_decomposition=False)
    executable = relax.build(module, tvm.target.Target("llvm"))
    machine = relax.VirtualMachine(executable, tvm.cpu())
    (result,) = machine["main"](tvm.runtime.tensor(data.numpy()))
    np.testing.assert_array_equal(result.numpy(), model(data).numpy())


def test_views():
    verify(Rows())
    verify(Base())


if __name__ == "__main__":
    tvm.testing.main()
