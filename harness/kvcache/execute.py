"""Execute a case about a KV cache in this process, and judge the cache after each operation."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from types import MappingProxyType
from typing import Any, TypeVar

import numpy as np

from relaxcheck.generators.core.case import CaseError
from relaxcheck.generators.kvcache.case import KvCase
from relaxcheck.generators.kvcache.model import Attended, Cache, Refused, Unclear
from relaxcheck.generators.kvcache.operations import Forward, Operation, Remove, text_of
from relaxcheck.generators.kvcache.values import Drawn, drawn
from relaxcheck.harness.kind import Progress
from relaxcheck.harness.kvcache.naming import (
    AT,
    ATTENTION,
    CONTENT,
    LEAK,
    LENGTH,
    POSITIONS,
    kind_of,
    stage_of,
)
from relaxcheck.harness.kvcache.under import Array, Make, Under
from relaxcheck.harness.outcomes.appearance import NAN, PLACE, place_of
from relaxcheck.harness.outcomes.clock import Clock
from relaxcheck.harness.outcomes.errors import error_text, headline, mentions
from relaxcheck.harness.outcomes.outcome import Check, Outcome, Verdict
from relaxcheck.harness.outcomes.sources import raised_at
from relaxcheck.oracles.kvcache.attention import (
    Answer,
    Rows,
    attention,
    cached_keys,
    scale_of,
)

T = TypeVar("T")

COMPILE, RUN = "codegen", "run"

ORACLE = "dense"
"""The name of the oracle: dense attention over the model of the cache."""


class _Wrong(Exception):
    """A difference between the cache and its model: what is wrong, of which sequences."""

    def __init__(self, what: str, message: str, *, nan: bool = False):
        super().__init__(message)
        self.what, self.nan = what, nan


class _Raised(Exception):
    """An error of the cache's, ``cause``: any other is a fault of ours."""

    def __init__(self, cause: Exception):
        super().__init__(str(cause))
        self.cause = cause


@dataclass(slots=True)
class _Run:
    """The state of a run: the cache, its model, and all rows that were appended."""

    case: KvCase
    cache: Under
    model: Cache
    clock: Clock
    keys: list[Array] = field(default_factory=list)
    values: list[Array] = field(default_factory=list)
    checks: list[Check] = field(default_factory=list)

    def ask(self, question: Callable[[Under], T]) -> T:
        """The answer of the cache.

        Raises:
            _Raised: the cache raised an error.
        """
        try:
            with self.clock("tvm"):
                return question(self.cache)
        except Exception as error:
            raise _Raised(error) from error


def execute(
    case: KvCase, progress: Progress = lambda stage: None, *, make: Make | None = None
) -> Outcome:
    """The outcome of ``case``; ``make`` makes the cache, by default TVM's with the fixes or not.

    Raises:
        Exception: a fault of the harness itself.
    """
    clock = Clock()
    make = make or _of_tvm(case.fixes, progress)
    progress(COMPILE)
    try:
        with clock("tvm"):
            cache = make(case.model, case.limits, case.fixes)
    except Exception as error:
        return _raised(case, error, COMPILE, -1, clock, ())
    run = _Run(case, cache, Cache(case.model, case.limits), clock)
    number = -1
    progress(RUN)
    for number, operation in enumerate(case.operations):
        outcome = _applied(run, number, operation)
        if outcome is not None:
            return outcome
    outcome = _emptied(run, number)
    if outcome is not None:
        return outcome
    return Outcome(
        Verdict.PASS,
        checks=tuple(run.checks),
        oracles=(ORACLE,),
        seconds=clock.seconds,
        checked=len(case.operations),
    )


def _of_tvm(fixes: bool, progress: Progress) -> Make:
    """TVM's caches, in this process, which has the fixes on or off from now on."""
    from relaxcheck.harness.kvcache.running import TvmCache
    from relaxcheck.harness.workers.switching import switch_fixes

    switch_fixes(fixes, progress)
    return TvmCache


def _applied(run: _Run, number: int, operation: Operation) -> Outcome | None:
    """Apply one operation to the cache and to its model; the outcome if the case ends there."""
    refusal: Refused | None = None
    parts: tuple[Attended, ...] = ()
    try:
        parts = run.model.apply(operation)
    except Refused as error:
        refusal = error
    except Unclear as error:
        raise CaseError(f"operation {number}, {text_of(operation)}: {error}") from error
    try:
        run.ask(partial(_apply, operation=operation))
        if refusal is None and isinstance(operation, Forward):
            _forward(run, number, parts)
        if refusal is None:
            _compare_state(run)
    except _Wrong as wrong:
        return _differs(run, number, wrong)
    except _Raised as error:
        if refusal is not None:
            return _refused(run, number, error.cause, refusal)
        return _raised(run.case, error.cause, RUN, number, run.clock, run.checks)
    if refusal is not None:
        message = f"{_at(run.case, number)} is accepted, though {refusal}"
        return _outcome(run, Verdict.ACCEPTS_INVALID, number, message, RUN)
    return None


def _emptied(run: _Run, number: int) -> Outcome | None:
    """Remove every sequence: all pages have to be free."""
    try:
        for sequence in sorted(run.model.sequences):
            run.ask(partial(_apply, operation=Remove(sequence)))
        if not run.ask(lambda cache: cache.empty):
            raise _Wrong(LEAK, "the cache is not empty after all sequences are removed")
    except _Wrong as wrong:
        return _differs(run, number, wrong)
    except _Raised as error:
        return _raised(run.case, error.cause, RUN, number, run.clock, run.checks)
    return None


def _forward(run: _Run, number: int, parts: tuple[Attended, ...]) -> None:
    case = run.case
    rows = drawn(case, number)
    expected = np.array([token.position for part in parts for token in part.queries])
    positions = run.ask(lambda cache: cache.positions())
    if positions.shape != expected.shape or (positions != expected).any():
        message = f"query positions are {positions.tolist()}, not {expected.tolist()}"
        raise _Wrong(POSITIONS, message)
    run.keys.append(rows.keys)
    run.values.append(rows.values)
    keys, values = (np.concatenate(each, axis=1) for each in (run.keys, run.values))
    scale = scale_of(case)
    for layer in range(case.model.layers):
        fused = np.concatenate((rows.queries[layer], rows.keys[layer], rows.values[layer]), axis=1)
        actual = run.ask(partial(_attended, layer=layer, fused=fused, scale=scale))
        with run.clock("oracle"):
            _compare_attention(run, layer, rows, parts, keys[layer], values[layer], actual)
    run.ask(lambda cache: cache.end_forward())


def _apply(cache: Under, operation: Operation) -> None:
    cache.apply(operation)


def _attended(cache: Under, layer: int, fused: Array, scale: float) -> Array:
    return cache.attend(layer, fused, scale)


def _compare_attention(
    run: _Run,
    layer: int,
    rows: Drawn,
    parts: tuple[Attended, ...],
    keys: Array,
    values: Array,
    actual: Array,
) -> None:
    start = 0
    for part in parts:
        stop = start + len(part.queries)
        serials = [token.serial for token in part.keys]
        given = Rows(rows.queries[layer, start:stop], keys[serials], values[serials])
        answer = attention(run.case, part, given)
        _compare(run, ATTENTION, f"sequence {part.sequence}", answer, actual[start:stop])
        start = stop


def _compare_state(run: _Run) -> None:
    """Compare the length of the cache, and the content of every sequence."""
    length = run.ask(lambda cache: cache.length)
    if length != run.model.length:
        raise _Wrong(LENGTH, f"the total length is {length}, not {run.model.length}")
    for number, sequence in run.model.sequences.items():
        if not sequence.tokens:
            continue
        serials = [token.serial for token in sequence.tokens]
        try:
            actual = run.ask(partial(_content, sequence=number, length=len(serials)))
        except _Raised as error:
            refused = headline(error_text(error.cause))
            message = f"sequence {number} does not give its {len(serials)} tokens: {refused}"
            raise _Wrong(LENGTH, message) from error.cause
        keys = np.concatenate(run.keys, axis=1)[:, serials]
        values = np.concatenate(run.values, axis=1)[:, serials]
        part = Attended(number, tuple(sequence.tokens), (), None)
        for layer in range(run.case.model.layers):
            where = f"sequence {number}, layer {layer}"
            _compare(
                run, CONTENT, f"keys of {where}", cached_keys(run.case, part, keys[layer]),
                actual[0][layer],
            )  # fmt: skip
            exact = Answer(values[layer].astype(np.float64), np.zeros(values[layer].shape))
            _compare(run, CONTENT, f"values of {where}", exact, actual[1][layer])


def _content(cache: Under, sequence: int, length: int) -> tuple[Array, Array]:
    return cache.content(sequence, length)


def _compare(run: _Run, what: str, where: str, answer: Answer, actual: Array) -> None:
    off = np.abs(actual.astype(np.float64) - answer.value)
    outside = ~(off <= answer.bound)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = np.where(off == 0, 0.0, off / answer.bound)
    finite = np.where(np.isfinite(ratios), ratios, np.inf)
    worst = float(finite.max(initial=0.0))
    run.checks.append(
        Check({}, f"{what}: {where}", None if worst == np.inf else worst, (ORACLE,), off.size)
    )
    if not outside.any():
        return
    first = tuple(int(index) for index in np.argwhere(outside)[0])
    tokens = sorted({int(index) for index in np.argwhere(outside)[:, 0]})
    raise _Wrong(
        what,
        f"{what} of {where}: {int(outside.sum())} of {off.size} elements are outside their bounds, "
        f"of tokens {_numbers(tokens)}; at {list(first)} {float(actual[first]):.6g} instead of "
        f"{float(answer.value[first]):.6g} ± {float(answer.bound[first]):.2g}",
        nan=bool(np.isnan(actual.astype(np.float64)[outside]).any()),
    )


def _numbers(numbers: list[int]) -> str:
    shown = ", ".join(map(str, numbers[:8]))
    return f"{shown}, …" if len(numbers) > 8 else shown


def _at(case: KvCase, number: int) -> str:
    return f"operation {number}, {text_of(case.operations[number])}," if number >= 0 else "it"


def _differs(run: _Run, number: int, wrong: _Wrong) -> Outcome:
    message = f"after operation {number}, {text_of(run.case.operations[number])}: {wrong}"
    details = {NAN: True} if wrong.nan else {}
    return _outcome(run, Verdict.WRONG_VALUE, number, message, stage_of(wrong.what), details)


def _outcome(
    run: _Run,
    verdict: Verdict,
    number: int,
    message: str,
    stage: str,
    details: Mapping[str, Any] = MappingProxyType({}),
) -> Outcome:
    return Outcome(
        verdict,
        stage,
        kind_of(number, run.case),
        message,
        checks=tuple(run.checks),
        oracles=(ORACLE,),
        seconds=run.clock.seconds,
        details={AT: number, **details},
    )


def _refused(run: _Run, number: int, error: Exception, refusal: Refused) -> Outcome:
    message = error_text(error)
    clear = mentions(message, refusal.terms)
    verdict = Verdict.REJECTED if clear else Verdict.OPAQUE_CRASH
    return Outcome(
        verdict,
        RUN,
        kind_of(number, run.case),
        message,
        checks=tuple(run.checks),
        seconds=run.clock.seconds,
        details={AT: number},
    )


def _raised(
    case: KvCase,
    error: Exception,
    stage: str,
    number: int,
    clock: Clock,
    checks: "list[Check] | tuple[Check, ...]",
) -> Outcome:
    place = place_of(error)
    return Outcome(
        Verdict.OUT_OF_MEMORY if isinstance(error, MemoryError) else Verdict.OPAQUE_CRASH,
        stage,
        kind_of(number, case),
        error_text(error),
        checks=tuple(checks),
        seconds=clock.seconds,
        details={AT: number, **({PLACE: place} if place else {}), **raised_at(error)},
    )
