"""Instance norm over time at the next larger static size: its mean takes in the zeros appended.

Without the fixes that is done as the report does it, with them by ``fixes.bucketed``.
"""

from relaxcheck import fixes
import numpy as np
from built import TARGET, compiled, of_shape, program, switched
from relaxcheck.fixes import tvm_api
from relaxcheck.harness.matrix.claim_check import Result, compared, worst
from relaxcheck.harness.outcomes.errors import names
from relaxcheck.harness.outcomes.outcome import Verdict
from tvm import relax

OPERATOR = "nn.instance_norm"
SIZE = 8
SCALES = np.ones(2, "float32"), np.zeros(2, "float32")


def body(builder, x, gamma, beta):
    return builder.emit(relax.op.nn.instance_norm(x, gamma, beta, 1, [2]))


def appended(on):
    run = compiled(program(body, of_shape(1, 2, SIZE), of_shape(2), of_shape(2)), on)

    def call(x):
        short = x.shape[2]
        return run(np.pad(x, ((0, 0), (0, 0), (0, SIZE - short))), *SCALES)[:, :, :short]

    return call


def check(fixes_on):
    m = tvm_api.shape_var("m")
    with switched(fixes_on):
        if fixes_on:
            module = program(body, of_shape(1, 2, m), of_shape(2), of_shape(2))
            try:
                bucketed = fixes.bucketed(module, "m", [SIZE], TARGET)
            except ValueError as error:
                if not names(str(error), OPERATOR, ["axis 2"]):
                    raise
                return Result(Verdict.UNSUPPORTED, str(error))
            run = lambda x: bucketed(x, *SCALES).numpy()  # noqa: E731
        else:
            run = appended(fixes_on)
    draw = np.random.default_rng(0)
    results = []
    for size in range(2, SIZE + 1):
        data = draw.uniform(1, 2, (1, 2, size)).astype("float32")
        exact = data.astype("float64")
        mean, variance = exact.mean(2, keepdims=True), exact.var(2, keepdims=True)
        # The zeros change it by more than a tenth; float32 is off by far less.
        results.append(compared(run(data), (exact - mean) / np.sqrt(variance + 1e-5), 1e-2))
    return worst(results)
