"""The answer of PyTorch to a program: its outputs, with a bound for each element."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

import numpy as np
import torch
from torch.utils._pytree import tree_leaves

from relaxcheck.generators.core.values import Array
from relaxcheck.generators.torch.module import laid_out, module_of, tensor_of
from relaxcheck.generators.torch.program import Program
from relaxcheck.oracles.outside import Answer, NoAnswer, held
from relaxcheck.oracles.torch.bounding import bounded
from relaxcheck.oracles.torch.tensors import array_of
from relaxcheck.oracles.torch.widening import Widening, wider

EAGER, EXPORTED = "pytorch", "exported"
"""The names of the oracles: eager PyTorch, and its interpreter of the exported program."""


@dataclass(frozen=True, slots=True)
class Question:
    """A program, and what decides its outputs.

    ``arrays`` are the values of all its tensors by name, those that the module holds too, as
    ``generators.core.values.arrays`` gives them. ``seed`` and ``regime`` are the case's: the weights
    of layers follow from them, whatever the regime of ``arrays``. ``exported`` computes the outputs
    of the exported program (``oracles.torch.exported.outputs``), where that is to be asked, too.
    """

    program: Program
    arrays: Mapping[str, Array]
    seed: int
    regime: str
    exported: Callable[[], Sequence[Array]] | None = None


def answer(question: Question) -> Answer:
    """The answer to ``question``.

    Raises:
        NoAnswer: PyTorch has none.
    """
    (answered,) = answers([question])
    if isinstance(answered, NoAnswer):
        raise answered
    return answered


def answers(
    questions: Sequence[Question],
    on: Callable[[int], AbstractContextManager[None]] = lambda number: nullcontext(),
) -> list[Answer | NoAnswer]:
    """The answers to ``questions``; a ``NoAnswer`` where eager PyTorch has none.

    The context ``on(number)`` is open while that question is being answered.
    """
    answered: list[Answer | NoAnswer] = []
    for number, question in enumerate(questions):
        with on(number):
            answered.append(_answered(question))
    return answered


def passed(program: Program, arrays: Mapping[str, Array]) -> tuple[Array, ...]:
    """The inputs of ``program`` as they are passed, contiguous: its layouts may repeat elements."""
    return tuple(
        array_of(laid_out(tensor_of(arrays[tensor.name]), tensor.layout))
        for tensor in program.inputs
    )


def _answered(question: Question) -> Answer | NoAnswer:
    try:
        own = _outputs(question, wide=False)
    except Exception as error:
        return NoAnswer(f"{EAGER}: {type(error).__name__}: {_line(error)}")
    if any(each.dtype.kind == "c" for each in own):
        return NoAnswer(f"{EAGER}: an output is complex")
    wide: tuple[Array, ...] | None
    try:
        wide = _outputs(question, wide=True)
    except Exception:
        wide = None
    outputs = tuple(bounded(each, wide and wide[at]) for at, each in enumerate(own))
    names = question.program.outputs
    answers = {EAGER: own}
    unsupported = {}
    if question.exported is not None:
        try:
            answers[EXPORTED] = tuple(question.exported())
        except Exception as error:
            unsupported[EXPORTED] = f"{EXPORTED}: {type(error).__name__}: {_line(error)}"
    return held(names, outputs, answers, unsupported, ())


def _line(error: Exception) -> str:
    return next(iter(str(error).splitlines()), "")


def _outputs(question: Question, *, wide: bool) -> tuple[Array, ...]:
    program = question.program
    held = {
        tensor.name: question.arrays[tensor.name] for tensor in program.tensors if tensor.constant
    }
    module = module_of(program, held, question.seed, question.regime)
    inputs = [
        laid_out(tensor_of(question.arrays[tensor.name]), tensor.layout)
        for tensor in program.inputs
    ]
    with torch.no_grad():
        if wide:
            module = module.double()
            inputs = [wider(each) for each in inputs]
        with Widening() if wide else nullcontext():
            leaves = tree_leaves(module(*inputs))
    return tuple(map(array_of, leaves))
