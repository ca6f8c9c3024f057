"""Asking PyTorch what a program gives."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext

from relaxcheck.harness.compiling.judgement import Expected
from relaxcheck.oracles.outside import Answer, NoAnswer
from relaxcheck.oracles.torch.answers import Question, answers


def all_expected(
    questions: Sequence[Question],
    on: Callable[[int], AbstractContextManager[None]] = lambda number: nullcontext(),
) -> list[Expected | NoAnswer]:
    """The expected outputs of each of ``questions``; ``on`` as for ``oracles.torch.answers``."""
    return list(map(_as_expected, answers(questions, on)))


def _as_expected(found: Answer | NoAnswer) -> Expected | NoAnswer:
    if isinstance(found, NoAnswer):
        return found
    return Expected(found.outputs, found.agreeing, found.splits, found.unsupported, weak=found.weak)
