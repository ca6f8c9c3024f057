"""Asking the reference and the oracles about a program."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import partial

from relaxcheck.generators.core.program import Program
from relaxcheck.generators.core.values import Array
from relaxcheck.generators.targets import LLVM
from relaxcheck.harness.compiling.judgement import Expected, hold
from relaxcheck.harness.outcomes.outcome import Verdict
from relaxcheck.oracles.answer import Bounded, Unsupported
from relaxcheck.oracles.independent import ORACLES
from relaxcheck.oracles.reference.accuracy import TARGETS as LESS_ACCURATE
from relaxcheck.oracles.reference.evaluate import Numerics, evaluate


@dataclass(frozen=True, slots=True)
class Question:
    """A question to the reference and the oracles: a program's outputs for its input arrays.

    The oracles compute in the program's own dtypes on the CPU, so they are held to its own bounds;
    with ``mixed_precision`` the outputs have the wider bounds of the pipeline's numerics, and on a
    ``target`` those of its arithmetic.
    """

    program: Program
    arrays: Mapping[str, Array]
    mixed_precision: bool
    target: str = LLVM


def expected(program: Program, arrays: Mapping[str, Array], *, mixed_precision: bool) -> Expected:
    """The expected outputs of ``program`` on ``arrays``, as in a ``Question``.

    Raises:
        Exception: the reference or an oracle cannot answer.
    """
    (answer,) = all_expected([Question(program, arrays, mixed_precision)])
    if isinstance(answer, Exception):
        raise answer
    return answer


def all_expected(
    questions: Sequence[Question],
    on: Callable[[int], AbstractContextManager[None]] = lambda number: nullcontext(),
) -> list[Expected | Exception]:
    """The answers to ``questions`` by the reference and every oracle, or their exceptions.

    Each oracle answers all questions before the next one begins: an oracle is so much code that
    alternating between them drives each out of the processor's caches, which takes half of the
    time. The context ``on(number)`` is open while that question is being answered.
    """

    def each(step: _Step, before: Sequence[_Asked | Exception]) -> list[_Asked | Exception]:
        after: list[_Asked | Exception] = []
        for number, (question, asked) in enumerate(zip(questions, before, strict=True)):
            if isinstance(asked, Exception):
                after.append(asked)
                continue
            with on(number):
                try:
                    after.append(step(question, asked))
                except Exception as error:
                    after.append(error)
        return after

    answers = each(_referred, [_Asked((), Expected((), (), {}, {}))] * len(questions))
    for name in ORACLES:
        answers = each(partial(_answered, name), answers)
    return [answer if isinstance(answer, Exception) else answer.expected for answer in answers]


@dataclass(frozen=True, slots=True)
class _Asked:
    """The answer to a question so far; ``own`` are the outputs in the program's own dtypes."""

    own: tuple[Bounded, ...]
    expected: Expected


_Step = Callable[[Question, _Asked], _Asked]


def _referred(question: Question, asked: _Asked) -> _Asked:
    """``asked`` with the reference's outputs."""
    program, arrays = question.program, question.arrays
    own = evaluate(program, arrays)
    outputs = own
    if question.mixed_precision or question.target in LESS_ACCURATE:
        numerics = Numerics.MIXED_FLOAT16 if question.mixed_precision else Numerics.OWN
        outputs = evaluate(program, arrays, numerics, question.target)
    return _Asked(own, replace(asked.expected, outputs=outputs))


def _answered(name: str, question: Question, asked: _Asked) -> _Asked:
    """``asked`` with the answer of the oracle ``name``."""
    before = asked.expected
    try:
        answers = ORACLES[name](question.program, question.arrays)
    except Unsupported as reason:
        answered = replace(before, unsupported={**before.unsupported, name: str(reason)})
        return replace(asked, expected=answered)
    differences = [
        f"output {output}: {difference}"
        for output, answer, reference in zip(
            question.program.outputs, answers, asked.own, strict=True
        )
        if (difference := _difference(answer, reference)) is not None
    ]
    if differences:
        answered = replace(before, splits={**before.splits, name: "; ".join(differences)})
    else:
        answered = replace(before, agreeing=(*before.agreeing, name))
    return replace(asked, expected=answered)


def _difference(answer: Array, reference: Bounded) -> str | None:
    held = hold(answer, reference)
    return None if held.verdict is Verdict.PASS else held.message
