"""Arguments and results of normalization in exported PyTorch programs."""

import numpy as np
import torch
import tvm.testing
from tvm import relax
from tvm.relax.frontend.torch import from_exported_program


def verify(function, *inputs):
    """Compare with PyTorch, dtypes too."""

    class Model(torch.nn.Module):
        def forward(self, *inputs):
            return function(*inputs)

    program = torch.export.export(Model(), inputs)
    executable = relax.build(from_exported_program(program), tvm.target.Target("llvm"))
    machine = relax.VirtualMachine(executable, tvm.cpu())
    (result,) = machine["main"](*(tvm.runtime.tensor(tensor.numpy()) for tensor in inputs))
    expected = function(*inputs).numpy()
    assert result.numpy().dtype == expected.dtype
    np.testing.assert_allclose(result.numpy(), expected, 1e-5, 1e-5)


DATA = torch.arange(24, dtype=torch.float32).reshape(2, 3, 4).sin()


def verify_undecomposed(module, data):
    """Compare with PyTorch, without its decompositions."""
    program = torch.export.export(module, (data,))
    imported = from_exported_program(program, run_ep_decomposition=False)
    executable = relax.build(imported, tvm.target.Target("llvm"))
    (result,) = relax.VirtualMachine(executable, tvm.cpu())["main"](
        tvm.runtime.tensor(data.numpy())
    )
    np.testing.assert_allclose(result.numpy(), module(data).detach().numpy(), 1e-5, 1e-5)


def test_batches():
    module = torch.nn.BatchNorm1d(3).eval()
    module.running_var.fill_(0.25)
    verify_undecomposed(module, DATA)
    verify_undecomposed(torch.nn.BatchNorm1d(3, track_running_stats=False).eval(), DATA)


def test_instances():
    verify_undecomposed(torch.nn.InstanceNorm1d(3, eps=0.5), DATA)


def test_training():
    verify(lambda x: torch.native_batch_norm(x, None, None, None, None, True, 0.1, 0.1)[1], DATA)


if __name__ == "__main__":
    tvm.testing.main()
