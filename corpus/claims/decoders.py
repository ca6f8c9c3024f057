"""A decoder in PyTorch: a convolution, 2048 samples a frame, stride 5, and its transpose."""

import numpy as np
import torch
from built import EPS, compiled, switched
from relaxcheck.harness.matrix.claim_check import compared, worst
from torch.export import Dim
from tvm.relax.frontend.torch import from_exported_program

SAMPLES = 2048


class Decoder(torch.nn.Module):
    """``longer`` makes 2048 samples of each frame."""

    def __init__(self, longer):
        super().__init__()
        torch.manual_seed(0)
        self.longer = longer
        self.first = torch.nn.Conv1d(3, 2, 5, padding=2)
        self.down = torch.nn.Conv1d(2, 2, 7, stride=5)
        self.up = torch.nn.ConvTranspose1d(2, 1, 5, stride=5)

    def forward(self, x):
        return torch.tanh(self.up(torch.relu(self.down(self.longer(self.first(x))))))


def bound(model, x):
    """By how much the result may be off in float32, from the same sums of absolute values.

    Of at most 15, 14 and 2 products, each with its bias; nothing that follows makes an error larger.
    """
    with torch.no_grad():
        largest = Decoder(model.longer).double()
        for to, of in zip(largest.parameters(), model.parameters(), strict=True):
            to.copy_(of.abs())
        sums = largest.up(largest.down(largest.longer(largest.first(x.abs()))))
        return ((17 + 16 + 4) * EPS * sums + 16 * EPS).numpy()


def checked(longer, fixes_on):
    """One compiled module at several lengths."""
    exact = Decoder(longer).double()
    given = torch.randn(1, 3, 4)
    shapes = {"x": {2: Dim("m", min=2, max=100)}}
    exported = torch.export.export(Decoder(longer).eval(), (given,), dynamic_shapes=shapes)
    with switched(fixes_on):
        run = compiled(from_exported_program(exported), fixes_on, fused=True)
    results = []
    for size in (2, 5, 64):
        data = np.random.default_rng(size).standard_normal((1, 3, size)).astype("float32")
        x = torch.tensor(data).double()
        results.append(compared(run(data), exact(x).detach().numpy(), bound(exact, x)))
    return worst(results)
