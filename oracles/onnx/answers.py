"""The answer of the oracles to a model: its outputs, with a bound for each element.

The reference (``oracles.onnx.reference``) gives value and bound wherever it has a function of every
operator. ONNX Runtime and ONNX's own evaluator are held to it.

Elsewhere a model of float operators is evaluated in float64 (``widening``) by ONNX's own evaluator,
or by ONNX Runtime where the evaluator cannot. The bound of an element is what rounding to the
model's dtype may make of it: oracles in the model's own dtype round as a correct implementation
may, so that their distance from float64 measures how the model magnifies roundings. An element may
be off by ``MARGIN`` times the largest such distance in the tensor, and by ``UNITS`` unit roundoffs
of its own value, and of the largest one, for oracles that happen to round alike. Integers and truth
values have bound 0, and so has everything in a model that no float64 can be asked about but that
both oracles agree on.

A single outside oracle shows what one implementation does, not what ONNX says: its answer is
``weak``. It is none to calls that the reference declines, and none of NaN and infinities. Nor is
there one to a call that the reference declines, and that two outside oracles answer differently.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field

import numpy as np

from relaxcheck.generators.core.values import Array
from relaxcheck.generators.onnx.model import Model
from relaxcheck.oracles.answer import Bounded, Unsupported
from relaxcheck.oracles.onnx import evaluator, runtime
from relaxcheck.oracles.onnx.faults import fault
from relaxcheck.oracles.onnx.reference import evaluate as reference
from relaxcheck.oracles.onnx.widening import widened
from relaxcheck.oracles.outside import Answer, NoAnswer, held
from relaxcheck.oracles.reference.estimate import FORMATS

MARGIN = 8.0
UNITS = 32.0

REFERENCE = "reference"
"""The name of our own oracle."""

_RUNTIME, _EVALUATOR = "onnxruntime", "evaluator"

Outputs = Callable[[Model, Mapping[str, Array]], tuple[Array, ...]]
"""An outside oracle: the outputs of a model for the values of all its tensors, by name."""

OUTSIDE: Mapping[str, Outputs] = {
    _RUNTIME: runtime.outputs,
    _EVALUATOR: evaluator.outputs,
}
"""The outside oracles, by name."""


@dataclass(frozen=True, slots=True)
class Question:
    """A model whose symbols have sizes, and the values of all its tensors by name."""

    model: Model
    arrays: Mapping[str, Array]


def answer(question: Question) -> Answer:
    """The answer to ``question``.

    Raises:
        NoAnswer: no oracle can.
    """
    (answered,) = answers([question])
    if isinstance(answered, NoAnswer):
        raise answered
    return answered


def answers(
    questions: Sequence[Question],
    on: Callable[[int], AbstractContextManager[None]] = lambda number: nullcontext(),
) -> list[Answer | NoAnswer]:
    """The answers to ``questions``; a ``NoAnswer`` where no oracle can.

    Each oracle answers all questions before the next one begins: one drives the other out of the
    processor's caches. The context ``on(number)`` is open while that question is being answered.
    """
    asked = []
    for number, question in enumerate(questions):
        with on(number):
            asked.append(_Asked(question, reference.trace(question.model, question.arrays)))
    for name, outputs in OUTSIDE.items():
        for number, each in enumerate(asked):
            with on(number):
                _ask(name, outputs, each)
    judged = []
    for number, each in enumerate(asked):
        with on(number):
            judged.append(_judged(each))
    return judged


@dataclass(slots=True)
class _Asked:
    """A question, what the reference makes of it, and the outside oracles' answers so far."""

    question: Question
    traced: reference.Trace
    answers: dict[str, tuple[Array, ...]] = field(default_factory=dict)
    unsupported: dict[str, str] = field(default_factory=dict)


def _ask(name: str, outputs: Outputs, asked: _Asked) -> None:
    """Add the answer of the oracle ``name`` to ``asked``, or why it has none."""
    model, arrays = asked.question.model, asked.question.arrays
    try:
        if reason := fault(name, model, asked.traced.values):
            raise Unsupported(f"{name}: {reason}")
        if name == _EVALUATOR and asked.answers and evaluator.is_slow(model):
            raise Unsupported(f"{name}: it takes seconds, and another one answers")
        asked.answers[name] = outputs(model, arrays)
    except Unsupported as reason:
        asked.unsupported[name] = str(reason)


def _judged(asked: _Asked) -> Answer | NoAnswer:
    model, arrays = asked.question.model, asked.question.arrays
    traced, answers, unsupported = asked.traced, asked.answers, asked.unsupported
    if traced.outputs is not None:
        return held(model.outputs, traced.outputs, answers, unsupported, (REFERENCE,))
    unsupported[REFERENCE] = traced.reason
    if not answers:
        return NoAnswer("; ".join(unsupported.values()))
    if len(answers) == 1 and (doubt := _doubt(asked)):
        return NoAnswer("; ".join((*unsupported.values(), f"{next(iter(answers))} alone, {doubt}")))
    wide, widely = _wide(model, arrays)
    columns = list(zip(*answers.values(), strict=True))
    bounded = tuple(
        _bounded(column, None if wide is None else wide[at]) for at, column in enumerate(columns)
    )
    weak = len({*answers, *widely}) == 1
    found = held(model.outputs, bounded, answers, unsupported, (), weak=weak)
    if traced.declined and found.splits:
        # Each may be right.
        return NoAnswer("; ".join((*unsupported.values(), *found.splits.values())))
    return found


def _doubt(asked: _Asked) -> str:
    """The reason for which a single outside oracle has no answer; "" where it has one."""
    if asked.traced.declined:
        return "where ONNX leaves the result open, or roundings decide it"
    # Implementations differ in whether they compute a product by 0, or a maximum, of NaN.
    return "of NaN or infinities" if _wild(asked.question.arrays) else ""


def _wild(arrays: Mapping[str, Array]) -> bool:
    """True if some element is NaN or infinite."""
    floats = (each for each in arrays.values() if each.dtype.name in FORMATS)
    return any(not np.isfinite(each.astype(np.float64)).all() for each in floats)


def _wide(
    model: Model, arrays: Mapping[str, Array]
) -> tuple[tuple[Array, ...] | None, tuple[str, ...]]:
    """The outputs in float64, and the oracle that has them; None and () where there is none."""
    made = widened(model, arrays)
    if made is None:
        return None, ()
    values = reference.trace(*made).values
    names = (_EVALUATOR, _RUNTIME)
    for name in reversed(names) if evaluator.is_slow(made[0]) else names:
        try:
            if not fault(name, made[0], values):
                return OUTSIDE[name](*made), (name,)
        except Unsupported:
            continue
    return None, ()


def _bounded(values: tuple[Array, ...], wide: Array | None) -> Bounded:
    """The output that the oracles' ``values`` and the one in float64 stand for."""
    first = values[0]
    dtype = first.dtype.name
    if first.dtype.kind in "iub" or dtype not in FORMATS:
        value = first if dtype in FORMATS or first.dtype.kind in "iub" else first.astype(np.float64)
        kept = np.int64 if first.dtype.kind in "iub" else np.float64
        return Bounded(value.astype(kept), np.zeros(first.shape), dtype)
    own = [np.asarray(value).astype(np.float64) for value in values]
    fits = wide is not None and wide.shape == first.shape and wide.dtype.kind == "f"
    center = own[0] if wide is None or not fits else wide.astype(np.float64)
    form = FORMATS[dtype]
    with np.errstate(invalid="ignore", over="ignore"):
        off = np.zeros(center.shape)
        for each in own:
            if each.shape == center.shape:
                distance = np.abs(each - center)
                off = np.maximum(off, np.where(np.isfinite(distance), distance, 0.0))
        finite = np.abs(np.where(np.isfinite(center), center, 0.0))
        unit = UNITS * form.unit
        bound = MARGIN * off.max(initial=0.0) + unit * (finite + finite.max(initial=0.0))
        bound = bound + form.floor
        over = np.isfinite(center) & (np.abs(center) + bound >= form.largest)
        special = ~np.isfinite(center)
        if len(own) == 1:
            # The order of sums decides whether, and to what, they overflow.
            over |= special
        for each in own:
            if each.shape == center.shape:
                same = (each == center) | (np.isnan(each) & np.isnan(center))
                # Where oracles differ about NaN and infinities, correct implementations do.
                over |= (special | ~np.isfinite(each)) & ~same
    bound = np.where(over, np.inf, np.where(special, 0.0, bound))
    return Bounded(np.where(over, 0.0, center), bound, dtype)
