"""Judging TVM's outputs by those of the reference and the oracles."""

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from relaxcheck.generators.core.program import Program
from relaxcheck.generators.core.values import Array, numpy_dtype
from relaxcheck.harness.outcomes.deviation import Deviation
from relaxcheck.harness.outcomes.outcome import Check, Verdict
from relaxcheck.harness.wording import outside_of, plural
from relaxcheck.oracles.answer import Bounded, Unsupported
from relaxcheck.oracles.compare import within
from relaxcheck.oracles.independent import ORACLES
from relaxcheck.oracles.reference.evaluate import Numerics, evaluate

_FEWEST_DIGITS, _MOST_DIGITS = 6, 17
"""Significant digits of a reference value in a message; 17 are all that float64 has."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question to the reference and the oracles: a program's outputs for its input arrays.

    The oracles compute in the program's own dtypes, so they are held to its own bounds; with
    ``mixed_precision`` the outputs have the wider bounds of the pipeline's numerics.
    """

    program: Program
    arrays: Mapping[str, Array]
    mixed_precision: bool


@dataclass(frozen=True, slots=True)
class Expected:
    """The reference's outputs at one binding, and the oracles' judgement of them.

    ``agreeing`` oracles lie within the reference's bounds; ``splits`` maps the others to how they
    differ; ``unsupported`` maps those that could not run to their reason.
    """

    outputs: tuple[Bounded, ...]
    agreeing: tuple[str, ...]
    splits: Mapping[str, str]
    unsupported: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Judgement:
    """The verdict at one binding, with its checks and a description of the difference.

    ``nan``: a wrong element of some output is NaN where the reference is finite. ``worst`` is the
    worst element of the output that the message is about, if that is of floats.
    """

    verdict: Verdict
    checks: tuple[Check, ...]
    message: str = ""
    nan: bool = False
    worst: Deviation | None = None


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
    outputs = evaluate(program, arrays, Numerics.MIXED_FLOAT16) if question.mixed_precision else own
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


def judge(
    program: Program,
    binding: Mapping[str, int],
    actual: tuple[Array, ...],
    wanted: Expected,
    regime: str = "normal",
) -> Judgement:
    """The verdict on TVM's outputs ``actual`` at ``binding``, for inputs drawn in ``regime``."""
    if len(actual) != len(wanted.outputs):
        return Judgement(
            Verdict.WRONG_SHAPE,
            (),
            f"{plural(len(actual), 'output')} where the program has {len(wanted.outputs)}",
        )
    checks: list[Check] = []
    worst = (Verdict.PASS, "")
    deviation = None
    for name, array, reference in zip(program.outputs, actual, wanted.outputs, strict=True):
        held = _hold(array, reference)
        checks.append(
            Check(
                *(dict(binding), name, held.ratio, wanted.agreeing),
                *(array.size, held.unconstrained, regime),
            )
        )
        if held.verdict is not Verdict.PASS and worst[0] is Verdict.PASS:
            where = f"{name} at {dict(binding)}" if binding else name
            worst = (held.verdict, f"output {where}: {held.message}")
            deviation = held.worst
    if not wanted.agreeing and not wanted.splits:
        reasons = "; ".join(wanted.unsupported.values())
        return Judgement(Verdict.NO_ORACLE, tuple(checks), f"no oracle ran: {reasons}")
    if wanted.splits:
        # Oracles that differ from the reference say nothing certain about TVM, right or wrong.
        splits = "; ".join(f"{name}: {how}" for name, how in wanted.splits.items())
        return Judgement(Verdict.ORACLE_SPLIT, tuple(checks), splits)
    nan = worst[0] is Verdict.WRONG_VALUE and any(map(_has_nan, actual, wanted.outputs))
    return Judgement(worst[0], tuple(checks), worst[1], nan, deviation)


def _to_the_bound(value: Any, bound: float) -> str:
    """``value`` as text, with the digits that ``bound`` leaves certain: at least 6, at most 17."""
    magnitude = abs(float(value))
    certain = 0 < bound < magnitude < math.inf
    digits = math.ceil(math.log10(magnitude / bound)) + 1 if certain else _FEWEST_DIGITS
    return f"{value:.{min(max(digits, _FEWEST_DIGITS), _MOST_DIGITS)}g}"


@dataclass(frozen=True, slots=True)
class _Held:
    """An output held to its reference.

    ``ratio`` is the largest error by bound (None: infinite), ``worst`` that element if it is wrong
    and a float, ``unconstrained`` the number of elements that were not compared.
    """

    verdict: Verdict
    message: str
    ratio: float | None = None
    unconstrained: int = 0
    worst: Deviation | None = None


def _hold(array: Array, reference: Bounded) -> _Held:
    """``array`` held to ``reference``."""
    if array.shape != reference.value.shape:
        return _Held(Verdict.WRONG_SHAPE, f"shape {array.shape}, not {reference.value.shape}")
    if array.dtype != numpy_dtype(reference.dtype):
        return _Held(Verdict.WRONG_DTYPE, f"dtype {array.dtype}, not {reference.dtype}")
    compared = within(array, reference)
    ratio = float(compared.ratio) if np.isfinite(compared.ratio) else None
    if compared.ok:
        return _Held(Verdict.PASS, "", ratio, compared.unconstrained)
    assert compared.worst is not None
    actual, wanted = array[compared.worst], reference.value[compared.worst]
    bound = float(reference.bound[compared.worst])
    message = (
        f"{outside_of(compared.outside, array.size)}; worst at "
        f"{list(compared.worst)}: {actual} for {_to_the_bound(wanted, bound)} ± {bound:.3g}"
    )
    worst = None
    if array.dtype.kind not in "iub" and np.isfinite(float(wanted)):
        number = float(actual) if np.isfinite(float(actual)) else None
        worst = Deviation(number, float(wanted), bound, reference.dtype)
    return _Held(Verdict.WRONG_VALUE, message, ratio, compared.unconstrained, worst)


def _has_nan(array: Array, reference: Bounded) -> bool:
    """True if an element of ``array`` is NaN where the reference is finite, and so is its bound."""
    if array.dtype.kind in "iub" or array.shape != reference.value.shape:
        return False
    numbers = np.isfinite(reference.value) & np.isfinite(reference.bound)
    return bool((np.isnan(array.astype(np.float64)) & numbers).any())


def _difference(answer: Array, reference: Bounded) -> str | None:
    held = _hold(answer, reference)
    return None if held.verdict is Verdict.PASS else held.message
