"""Asking the oracles about models."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext

from relaxcheck.generators.core.values import Array
from relaxcheck.generators.onnx.model import Model
from relaxcheck.harness.compiling.judgement import Expected
from relaxcheck.oracles.onnx.answers import Question, answers
from relaxcheck.oracles.outside import Answer, NoAnswer


def expected(model: Model, arrays: Mapping[str, Array]) -> Expected | NoAnswer:
    """The expected outputs of ``model`` for ``arrays``, the values of all its tensors by name.

    An exception if no oracle can answer.
    """
    (answered,) = all_expected([Question(model, arrays)])
    return answered


def all_expected(
    questions: Sequence[Question],
    on: Callable[[int], AbstractContextManager[None]] = lambda number: nullcontext(),
) -> list[Expected | NoAnswer]:
    """The expected outputs of each of ``questions``; ``on`` as for ``oracles.onnx.answers``."""
    return list(map(_as_expected, answers(questions, on)))


def _as_expected(found: Answer | NoAnswer) -> Expected | NoAnswer:
    if isinstance(found, NoAnswer):
        return found
    return Expected(found.outputs, found.agreeing, found.splits, found.unsupported, weak=found.weak)
