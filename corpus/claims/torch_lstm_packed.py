"""A packed bidirectional LSTM through torch.export."""

import numpy as np
import torch
from built import compiled, switched
from harness.claim_check import Result, compared
from harness.outcome import Verdict
from recurrent import LENGTHS, Packed, bound, sequences
from tvm.relax.frontend.torch import from_exported_program

OPERATOR = "lstm"


def check(fixes_on):
    x = sequences()
    given = torch.tensor(x), torch.tensor(LENGTHS)
    with switched(fixes_on):
        try:
            exported = torch.export.export(Packed().eval(), given)
        except Exception as error:
            # It is PyTorch that fails: there is nothing that TVM could be given.
            return Result(Verdict.OPAQUE_CRASH, f"torch.export: {type(error).__name__}: {error}")
        run = compiled(from_exported_program(exported), fixes_on)
    exact = Packed().double()
    wanted = exact(given[0].double(), given[1]).detach().numpy()
    return compared(run(x, np.array(LENGTHS)), wanted, bound(exact.lstm))
