"""Attention in exported PyTorch programs that are not decomposed."""

import numpy as np
import torch
import tvm.testing
from tvm import relax
from tvm.relax.frontend.torch import from_exported_program

QUERY = torch.sin(torch.arange(96.0)).reshape(1, 4, 3, 8)
KEY = torch.cos(torch.arange(160.0)).reshape(1, 4, 5, 8)
MASK = torch.tensor([[1, 1, 0, 1, 1], [0, 0, 0, 0, 0], [0, 1, 0, 0, 1]]) > 0


def verify(key, *mask, **keywords):
    class Attention(torch.nn.Module):
        def forward(self, query, key, *mask):
            function = torch.nn.functional.scaled_dot_product_attention
            return function(query, key, key, *mask, **keywords)

    model, inputs = Attention(), (QUERY, key, *mask)
    program = torch.export.export(model, inputs)
    module = from_exported_program(program, run_ep_decomposition=False)
    machine = relax.VirtualMachine(relax.build(module, tvm.target.Target("llvm")), tvm.cpu())
    (result,) = machine["main"](*(tvm.runtime.tensor(data.numpy()) for data in inputs))
    np.testing.assert_allclose(result.numpy(), model(*inputs), 1e-5, 1e-5)


def test_scale():
    verify(KEY, scale=0.125)
    verify(KEY, scale=2.0, is_causal=True)


def test_groups():
    verify(KEY[:, :2].contiguous(), enable_gqa=True)


def test_masks():
    verify(KEY, MASK)
    verify(KEY, torch.where(MASK, 1.0, -torch.inf), scale=0.5)


if __name__ == "__main__":
    tvm.testing.main()
