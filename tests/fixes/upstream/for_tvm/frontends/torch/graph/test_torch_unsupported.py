"""Functions of exported PyTorch programs that the importer lacks."""

import pytest
import torch
import tvm.testing
from tvm.relax.frontend.torch import from_exported_program


class Model(torch.nn.Module):
    def forward(self, x):
        return torch.lgamma(torch.digamma(torch.lgamma(x)))


def test_each_with_its_nodes():
    program = torch.export.export(Model(), (torch.ones(2),))
    with pytest.raises(Exception, match=r"digamma.default \(digamma\), .*\(lgamma, lgamma_1\)"):
        from_exported_program(program)


if __name__ == "__main__":
    tvm.testing.main()
