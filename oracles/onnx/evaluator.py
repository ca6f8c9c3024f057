"""ONNX's own evaluator, ``onnx.reference``: operators written in NumPy."""

import warnings
from collections.abc import Mapping

import numpy as np
from onnx.reference import ReferenceEvaluator

from relaxcheck.generators.core.values import Array
from relaxcheck.generators.onnx.model import Model
from relaxcheck.generators.onnx.walk import nodes_of
from relaxcheck.oracles.answer import Unsupported
from relaxcheck.oracles.onnx.kept import PROTOS

_SLOW = ("DeformConv",)


def is_slow(model: Model) -> bool:
    """True if ``model`` has an operator that the evaluator computes element by element in Python.

    A small image takes a second: a hundred times what everything else does.
    """
    return any(node.operator in _SLOW for node in nodes_of(model))


def outputs(model: Model, arrays: Mapping[str, Array]) -> tuple[Array, ...]:
    """The outputs of ``model`` for ``arrays``, the values of all its tensors by name.

    Raises:
        Unsupported: the evaluator cannot run the model; the message says why.
    """
    feeds = {tensor.name: arrays[tensor.name] for tensor in model.inputs}
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            results = ReferenceEvaluator(PROTOS(model, arrays)).run(None, feeds)
        except Exception as error:
            # It raises whatever NumPy does on what it does not expect.
            line = " ".join(str(error).split())[:300]
            raise Unsupported(f"evaluator: {type(error).__name__}: {line}") from error
    if not all(isinstance(each, np.ndarray | np.generic) for each in results):
        raise Unsupported("evaluator: an output is no tensor")
    return tuple(np.asarray(each) for each in results)
