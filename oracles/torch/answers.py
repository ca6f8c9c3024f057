"""The answer of PyTorch to a program: its outputs, with a bound for each element."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

from relaxcheck.generators.core.values import Array
from relaxcheck.generators.torch.module import laid_out, tensor_of
from relaxcheck.generators.torch.program import Program
from relaxcheck.oracles.outside import Answer, NoAnswer, held
from relaxcheck.oracles.torch.bounding import Shapes, bounded
from relaxcheck.oracles.torch.evaluating import evaluated
from relaxcheck.oracles.torch.faults import fault
from relaxcheck.oracles.torch.tensors import array_of

EAGER, EXPORTED = "pytorch", "exported"
"""The names of the oracles: eager PyTorch, and its interpreter of the exported program."""


@dataclass(frozen=True, slots=True)
class Question:
    """A program, and what decides its outputs.

    ``arrays`` are the values of all its tensors by name, those that the module holds too, as
    ``generators.core.values.arrays`` gives them. ``seed`` and ``regime`` are the case's: the
    weights of layers follow from them, whatever the regime of ``arrays``. ``exported`` computes the
    outputs of the exported program (``oracles.torch.exported.outputs``), where that is to be asked.
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
    program = question.program
    if evidence := fault(program, question.arrays):
        return NoAnswer(f"{EAGER}: {evidence}")
    try:
        found = evaluated(program, question.arrays, question.seed, question.regime)
    except Exception as error:
        return NoAnswer(_reason(EAGER, error))
    if any(each.dtype.kind == "c" for each in found.own):
        return NoAnswer(f"{EAGER}: an output is complex")
    if found.wide is None and not found.others:
        return NoAnswer(f"{EAGER}: neither float64 nor other roundings bound its result")
    columns = zip(*found.others, strict=True) if found.others else ((),) * len(found.own)
    wide = found.wide or (None,) * len(found.own)
    try:
        outputs = tuple(
            bounded(own, double, others, exact=found.exact)
            for own, double, others in zip(found.own, wide, columns, strict=True)
        )
    except Shapes as error:
        return NoAnswer(_reason(EAGER, error))
    answers = {EAGER: found.own}
    unsupported = {}
    if question.exported is not None:
        try:
            answers[EXPORTED] = tuple(question.exported())
        except Exception as error:
            unsupported[EXPORTED] = _reason(EXPORTED, error)
    return held(program.outputs, outputs, answers, unsupported, ())


def _reason(oracle: str, error: Exception) -> str:
    line = next(iter(str(error).splitlines()), "")
    return f"{oracle}: {type(error).__name__}: {line}"
