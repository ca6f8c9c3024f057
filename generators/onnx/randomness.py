"""Operators of ONNX by which random numbers decide which elements of a result are zero.

ONNX does not say by which generator.
"""

from collections.abc import Mapping
from typing import Any

from relaxcheck.generators.core.values import Array

_CHOOSING = ("Bernoulli", "RandomUniformLike")
"""The second is in the body that ONNX defines the first by."""


def draws(node: Any, arrays: Mapping[str, Array]) -> bool:
    """True if ``node``, a protobuf, draws numbers; ``arrays`` are the model's inputs by name.

    Dropout does where it trains with a ratio, by default 0.5, that is not zero.
    """
    if node.op_type != "Dropout":
        return node.op_type in _CHOOSING
    ratio, training = (*node.input[1:], "", "")[:2]
    return bool(arrays.get(training, False)) and bool(arrays.get(ratio, 0.5))
