"""``emit_te`` of a tensor whose dimensions are expressions: 2048*m, then (2048*m - 6)//5 + 1."""

import numpy as np
import tvm
from built import compiled, of_shape, program, switched
from relaxcheck.fixes import tvm_api
from relaxcheck.harness.matrix.claim_check import compared, worst
from tvm import relax, te, topi

OPERATOR = "emit_te"


def every_fifth(x):
    """A window of 6 at every fifth place, its first and its last element."""
    places = tvm.tirx.floordiv(x.shape[0] - 6, 5) + 1
    return te.compute((places,), lambda i: x[i * 5] + x[i * 5 + 5])


def body(builder, x):
    longer = builder.emit(relax.op.repeat(x, 2048, 0))
    return builder.emit_te(topi.nn.relu, builder.emit_te(every_fifth, longer))


def check(fixes_on):
    m = tvm_api.shape_var("m")
    with switched(fixes_on):
        run = compiled(program(body, of_shape(m)), fixes_on)
    results = []
    for size in (1, 3):
        data = np.arange(size, dtype="float32") - 1
        longer = data.repeat(2048)
        places = 5 * np.arange((len(longer) - 6) // 5 + 1)
        # Sums of small integers are exact.
        wanted = np.maximum(longer[places] + longer[places + 5], 0)
        results.append(compared(run(data), wanted, 0))
    return worst(results)
