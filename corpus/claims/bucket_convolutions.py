"""Two convolutions at the next larger static size: zeros appended, and what is over cut off.

Without the fixes that is done as the report does it, with them by ``fixes.bucketed``.
"""

from relaxcheck import fixes
import numpy as np
import torch
from built import TARGET, compiled, of_shape, program, switched
from relaxcheck.fixes import tvm_api
from relaxcheck.harness.matrix.claim_check import compared, worst
from tvm import relax

OPERATOR = "nn.conv1d"
SIZE = 8


def body(builder, x, w, bias):
    op = relax.op
    once = builder.emit(op.add(builder.emit(op.nn.conv1d(x, w, padding=1)), bias))
    return builder.emit(op.add(builder.emit(op.nn.conv1d(once, w, padding=1)), bias))


def appended(weights, on):
    run = compiled(program(body, of_shape(1, 2, SIZE), *map(lambda w: of_shape(*w.shape), weights)), on)

    def call(x):
        short = x.shape[2]
        return run(np.pad(x, ((0, 0), (0, 0), (0, SIZE - short))), *weights)[:, :, :short]

    return call


def bucketed(weights):
    m = tvm_api.shape_var("m")
    module = program(body, of_shape(1, 2, m), *(of_shape(*w.shape) for w in weights))
    run = fixes.bucketed(module, "m", [SIZE], TARGET)
    return lambda x: run(x, *weights).numpy()


def check(fixes_on):
    # Small integers, so that every sum is exact.
    draw = np.random.default_rng(0)
    kernel, bias = (draw.integers(1, 4, shape).astype("float32") for shape in ((2, 2, 3), (2, 1)))
    with switched(fixes_on):
        run = bucketed((kernel, bias)) if fixes_on else appended((kernel, bias), fixes_on)
    results = []
    for size in range(1, SIZE + 1):
        data = draw.integers(1, 4, (1, 2, size)).astype("float32")
        wanted = torch.tensor(data)
        for _ in range(2):
            wanted = torch.conv1d(wanted, torch.tensor(kernel), padding=1) + torch.tensor(bias)
        results.append(compared(run(data), wanted.numpy(), 0))
    return worst(results)
