"""A bidirectional LSTM of static shape through torch.export, without lengths."""

import torch
from built import compiled, switched
from relaxcheck.harness.matrix.claim_check import compared
from recurrent import Padded, bound, sequences
from tvm.relax.frontend.torch import from_exported_program

OPERATOR = "lstm"


def check(fixes_on):
    x = sequences()
    exported = torch.export.export(Padded().eval(), (torch.tensor(x),))
    with switched(fixes_on):
        run = compiled(from_exported_program(exported), fixes_on, fused=True)
    exact = Padded().double()
    wanted = exact(torch.tensor(x).double()).detach().numpy()
    return compared(run(x), wanted, bound(exact.lstm))
