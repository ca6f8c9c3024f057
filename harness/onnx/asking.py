"""Asking the oracles about a model."""

from collections.abc import Mapping

from relaxcheck.generators.core.values import Array
from relaxcheck.generators.onnx.model import Model
from relaxcheck.harness.compiling.judgement import Expected
from relaxcheck.oracles.onnx.answers import NoAnswer, Question, answer


def expected(model: Model, arrays: Mapping[str, Array]) -> Expected | Exception:
    """The expected outputs of ``model`` for ``arrays``, the values of all its tensors by name.

    An exception if no oracle can answer.
    """
    try:
        found = answer(Question(model, arrays))
    except NoAnswer as reasons:
        return reasons
    return Expected(found.outputs, found.agreeing, found.splits, found.unsupported)
