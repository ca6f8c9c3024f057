"""A tensor times a dimension of its own through torch.export, with FoldConstant in the pipeline."""

import numpy as np
import torch
from built import compiled, switched
from relaxcheck.harness.matrix.claim_check import compared, worst
from torch.export import Dim
from tvm.relax.frontend.torch import from_exported_program

OPERATOR = "mul"


class Scaled(torch.nn.Module):
    def forward(self, x):
        return x * x.shape[1]


def check(fixes_on):
    shapes = {"x": {1: Dim("m", min=2, max=100)}}
    exported = torch.export.export(Scaled(), (torch.ones(2, 5),), dynamic_shapes=shapes)
    with switched(fixes_on):
        run = compiled(from_exported_program(exported), fixes_on, fused=True)
    data = {size: np.full((2, size), 3, "float32") for size in (2, 7)}
    # Small integers: every product is exact.
    return worst([compared(run(one), one * size, 0) for size, one in data.items()])
