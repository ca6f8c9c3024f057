"""Functions of exported PyTorch programs that the importer lacks."""

import pytest
import torch
import tvm.testing
from tvm.relax.frontend.torch import from_exported_program


class Model(torch.nn.Module):
    def forward(self, x):
        return torch.i0(torch.special.i1(torch.i0(x)))


def test_each_with_its_nodes():
    program = torch.export.export(Model(), (torch.ones(2),))
    with pytest.raises(
        Exception, match=r"i0.default \(i0, i0_1\), special_i1.default \(special_i1\)"
    ):
        from_exported_program(program)


if __name__ == "__main__":
    tvm.testing.main()
