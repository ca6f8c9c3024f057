"""Functions of exported PyTorch programs that PyTorch alone knows how to decompose."""

import numpy as np
import torch
import tvm.testing
from tvm import relax
from tvm.relax.frontend.torch import from_exported_program


def verify(function, *inputs):
    """Compare with PyTorch, without its decompositions."""

    class Model(torch.nn.Module):
        def forward(self, *inputs):
            return function(*inputs)

    program = torch.export.export(Model(), inputs)
    module = from_exported_program(program, run_ep_decomposition=False)
    executable = relax.build(module, tvm.target.Target("llvm"))
    machine = relax.VirtualMachine(executable, tvm.cpu())
    (result,) = machine["main"](*(tvm.runtime.tensor(tensor.numpy()) for tensor in inputs))
    np.testing.assert_allclose(result.numpy(), function(*inputs).numpy(), 1e-6, 1e-6)


DATA = torch.tensor([[1.5, -2.25], [0.5, 3.0]])


def test_missing():
    verify(torch.frac, DATA)


def test_losses():
    targets = torch.tensor([1, 0])
    verify(lambda x, y: torch.nn.functional.cross_entropy(x, y, reduction="sum"), DATA, targets)
    verify(lambda x, y: torch.nn.functional.cross_entropy(x, y, label_smoothing=0.2), DATA, targets)


if __name__ == "__main__":
    tvm.testing.main()
