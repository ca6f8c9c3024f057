"""A convolution and what follows, of an input of which only the rank is known."""

import numpy as np
import torch
from built import EPS, compiled, of_rank, of_shape, program, switched
from relaxcheck.harness.matrix.claim_check import compared, worst
from tvm import relax

OPERATOR = "nn.conv1d"


def body(builder, x, w):
    return builder.emit(relax.op.nn.relu(builder.emit(relax.op.nn.conv1d(x, w, strides=5))))


def check(fixes_on):
    draw = np.random.default_rng(0)
    kernel = draw.standard_normal((3, 2, 4)).astype("float32")
    with switched(fixes_on):
        run = compiled(program(body, of_rank(3), of_shape(3, 2, 4)), fixes_on)
    results = []
    for size in (4, 11, 23):
        data = draw.standard_normal((2, 2, size)).astype("float32")
        exact, sums = (
            torch.conv1d(x, w, stride=5)
            for x, w in [
                (torch.tensor(data).double(), torch.tensor(kernel).double()),
                (torch.tensor(data).double().abs(), torch.tensor(kernel).double().abs()),
            ]
        )
        # 8 products and their sum in any order: γ(9), and one for what is lost in γ itself.
        results.append(compared(run(data, kernel), exact.relu().numpy(), 10 * EPS * sums.numpy()))
    return worst(results)
