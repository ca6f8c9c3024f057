"""``emit_te`` of a tensor of which only the rank is known."""

import numpy as np
from built import compiled, of_rank, program, switched
from relaxcheck.harness.matrix.claim_check import compared
from tvm import topi

OPERATOR = "emit_te"


def check(fixes_on):
    data = np.array([-1, 2], "float32")
    with switched(fixes_on):
        module = program(lambda builder, x: builder.emit_te(topi.nn.relu, x), of_rank(1))
        return compared(compiled(module, fixes_on)(data), np.maximum(data, 0), 0)
