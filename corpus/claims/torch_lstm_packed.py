"""A packed bidirectional LSTM through torch.export; with the fixes, as they have it exported."""

from contextlib import nullcontext

from relaxcheck import fixes
import numpy as np
import torch
from built import compiled, switched
from relaxcheck.harness.matrix.claim_check import Result, compared
from relaxcheck.harness.outcomes.outcome import Verdict
from recurrent import LENGTHS, Packed, bound, sequences
from tvm.relax.frontend.torch import from_exported_program

OPERATOR = "lstm"


def check(fixes_on):
    x = sequences()
    given = torch.tensor(x), torch.tensor(LENGTHS)
    with switched(fixes_on):
        try:
            with fixes.exporting_recurrences() if fixes_on else nullcontext():
                exported = torch.export.export(Packed().eval(), given)
        except Exception as error:
            # It is PyTorch that fails: there is nothing that TVM could be given.
            return Result(Verdict.OPAQUE_CRASH, f"torch.export: {type(error).__name__}: {error}")
        converters = fixes.RECURRENCES if fixes_on else None
        module = from_exported_program(exported, custom_convert_map=converters)
        run = compiled(module, fixes_on)
    exact = Packed().double()
    wanted = exact(given[0].double(), given[1]).detach().numpy()
    return compared(run(x, np.array(LENGTHS)), wanted, bound(exact.lstm))
