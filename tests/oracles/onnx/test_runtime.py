"""ONNX Runtime answers alike however often it is asked."""

import numpy as np
import pytest

from relaxcheck.generators.onnx.model import INITIALIZER, Model, Node, Tensor
from relaxcheck.oracles.onnx import runtime


@pytest.mark.parametrize("optimized", [False, True])
def test_a_run_leaves_constants_as_they_were(*, optimized: bool) -> None:
    """Training of old opsets computes new statistics in place of those of the model."""
    names = ("scale", "bias", "mean", "variance")
    tensors = (
        Tensor("x", (2, 3), "float16"),
        *(Tensor(name, (3,), "float16", held=INITIALIZER) for name in names),
    )
    node = Node("BatchNormalization", ("x", *names), tuple("yabcd"))
    model = Model(9, tensors, (node,), tuple("yabcd"))
    values = {name: np.arange(1, 4, dtype=np.float16) * k for k, name in enumerate(names, 1)}
    values["x"] = np.arange(6, dtype=np.float16).reshape(2, 3)
    first, *others = (runtime.outputs(model, values, optimized=optimized) for _ in range(4))
    for other in others:
        for output, again in zip(first, other, strict=True):
            np.testing.assert_array_equal(output, again)
