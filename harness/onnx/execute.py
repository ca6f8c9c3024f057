"""Executing ONNX models in this process: import, compile, run at each binding, judge."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

from relaxcheck.generators.core.case import CaseError, Invalid
from relaxcheck.generators.core.values import arrays
from relaxcheck.generators.onnx.case import OnnxCase
from relaxcheck.generators.onnx.static import static
from relaxcheck.harness.compiling import building
from relaxcheck.harness.compiling.building import Recipe, SilentBail, StageError
from relaxcheck.harness.compiling.late_linking import READS_PREFIX, name_of, nameless
from relaxcheck.harness.compiling.legalization_log import SYMPTOM, reason, reason_line
from relaxcheck.harness.compiling.pipelines import PIPELINES
from relaxcheck.harness.compiling.running import Run, run_all
from relaxcheck.harness.kind import Progress, Tracing
from relaxcheck.harness.native.link import can_link
from relaxcheck.harness.onnx import importing, refusals
from relaxcheck.harness.onnx.asking import all_expected
from relaxcheck.harness.outcomes.appearance import PLACE, UNKNOWN, place_of
from relaxcheck.harness.outcomes.clock import Clock
from relaxcheck.harness.outcomes.errors import error_text, normalise
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.harness.outcomes.sources import logged_at, raised_at
from relaxcheck.harness.workers.switching import switch_fixes
from relaxcheck.oracles.onnx.answers import Question
from relaxcheck.oracles.outside import NoAnswer


def execute(
    case: OnnxCase,
    progress: Progress = lambda stage: None,
    *,
    plain: bool = False,
    tracing: Tracing | None = None,
) -> Outcome:
    """The outcome of ``case``; as ``harness.programs.execute.execute``.

    Raises:
        CaseError: the case names a pipeline that does not exist.
        Exception: a fault of the harness itself.
    """
    begun = _begin(case, progress, None, tracing)
    if isinstance(begun, Outcome):
        return begun
    (runs,) = _asked([begun])
    return _end(begun, runs, plain=plain)


def execute_together(
    cases: Sequence[OnnxCase], progress: Callable[[int | None, str], None]
) -> Iterator[Outcome]:
    """The outcomes of ``cases``, in order, whose native code is generated and linked all at once.

    Raises:
        Exception: a fault outside TVM, or in a shared stage. Cases without an outcome have to be
            executed alone.
    """
    begun = []
    for number, case in enumerate(cases):
        late = name_of(number) if case.opt_level == 0 and can_link() else None
        begun.append(_begin(case, partial(progress, number), late))
    compiled = [member for member in begun if isinstance(member, _Compiled)]
    progress(None, "link")
    shared = Clock()
    with shared("tvm"):
        alone = building.link([member.program for member in compiled])
    for member in compiled:
        member.clock.add("tvm", shared.seconds["tvm"] / len(compiled))
    failing = {id(compiled[number]) for number in alone}
    runs = iter(_asked([member for member in compiled if id(member) not in failing]))
    for this in begun:
        if isinstance(this, Outcome):
            yield this
        elif id(this) in failing:
            yield execute(this.case, this.progress)
        else:
            yield _end(this, next(runs))


@dataclass(frozen=True, slots=True)
class _Compiled:
    """A case whose model is compiled; ``late`` is its name if its native code is shared."""

    case: OnnxCase
    program: building.Compiled
    parameters: tuple[building.Argument, ...]
    clock: Clock
    late: str | None
    progress: Progress


def _begin(
    case: OnnxCase, progress: Progress, late: str | None, tracing: Tracing | None = None
) -> _Compiled | Outcome:
    """Import and compile ``case``; returns its outcome if it ends there."""
    if case.pipeline not in PIPELINES:
        raise CaseError(f"pipeline {case.pipeline!r} is unknown; known are {', '.join(PIPELINES)}")
    switch_fixes(case.fixes)
    clock = Clock()
    try:
        with clock("tvm"):
            progress(importing.STAGE)
            made = importing.imported(case)
            program = building.build(
                made.module, _recipe(case), progress, late=late, tracing=tracing
            )
    except SilentBail as bail:
        return _left(bail, clock, late)
    except StageError as error:
        if late is not None and error.stage == READS_PREFIX:
            # The name that late linking gives the program may be at fault.
            return _begin(case, progress, None, tracing)
        return _refusal(case, error, clock, late)
    return _Compiled(case, program, made.parameters, clock, late, progress)


def _recipe(case: OnnxCase) -> Recipe:
    pipeline = PIPELINES[case.pipeline]
    return Recipe(
        case.opt_level,
        fused=pipeline.relax_pipeline == "target",
        with_fixes=case.fixes and pipeline.passes_of_fixes,
    )


def _end(compiled: _Compiled, runs: Sequence[Run], *, plain: bool = False) -> Outcome:
    """Load and run a compiled case; judge its outputs."""
    case, clock, progress = compiled.case, compiled.clock, compiled.progress
    try:
        with clock("tvm"):
            progress("load")
            main = building.load(compiled.program, cheaply=case.opt_level == 0 and not plain)
        if isinstance(case.expect, Invalid):
            return _ran_though_invalid(compiled, main)
        # Where others compare its outcome, no zero on the stack may make it right.
        call = building.run_on_filled_stack if plain else building.run
        answered = [run for run in runs if not isinstance(run.expected, NoAnswer)]
        for run in runs:
            if isinstance(run.expected, NoAnswer):
                # Nobody knows the result, but TVM has to give one.
                progress("run")
                call(main, run.arguments)
        if not answered:
            reasons = str(runs[0].expected)
            return Outcome(Verdict.NO_ORACLE, None, None, reasons, seconds=clock.seconds)
        outputs = case.model.outputs
        return run_all(main, answered, outputs, case.regime, progress, clock, call)
    except StageError as error:
        return _refusal(case, error, clock, compiled.late)


def _asked(compiled: Sequence[_Compiled]) -> list[list[Run]]:
    """The runs of each of ``compiled``, none if it is invalid; asks the oracles about all."""
    planned: list[tuple[_Compiled, int, str]] = []
    questions: list[Question] = []
    for member in compiled:
        case = member.case
        if isinstance(case.expect, Invalid):
            continue
        # One object for all runs at a binding: oracles keep what they make of it.
        models = [static(case.model, binding) for binding in case.bindings]
        for index, regime in case.runs:
            member.progress("oracle")
            planned.append((member, index, regime))
            questions.append(Question(models[index], arrays(case, index, regime)))

    @contextmanager
    def on(number: int) -> Iterator[None]:
        member, *_ = planned[number]
        member.progress("oracle")
        with member.clock("oracles"):
            yield

    runs: dict[int, list[Run]] = {id(member): [] for member in compiled}
    answered = zip(planned, questions, all_expected(questions, on), strict=True)
    for (member, index, regime), question, wanted in answered:
        case = member.case
        own = tuple(question.arrays[tensor.name] for tensor in case.model.inputs)
        runs[id(member)].append(
            Run(case.bindings[index], regime, (*own, *member.parameters), wanted)
        )
    return list(runs.values())


def _ran_though_invalid(compiled: _Compiled, main: Callable[..., object]) -> Outcome:
    case = compiled.case
    assert isinstance(case.expect, Invalid)
    compiled.progress("run")
    values = arrays(case, 0)
    own = tuple(values[tensor.name] for tensor in case.model.inputs)
    with compiled.clock("tvm"):
        outputs = building.run(main, (*own, *compiled.parameters))
    shapes = ", ".join(f"{output.dtype}{list(output.shape)}" for output in outputs)
    why = f"compiled and ran, though invalid by its {case.expect.fault[0]}"
    return Outcome(
        Verdict.ACCEPTS_INVALID,
        "run",
        case.expect.operator,
        f"it returned {shapes}\n{why}",
        seconds=compiled.clock.seconds,
    )


def _left(bail: SilentBail, clock: Clock, late: str | None) -> Outcome:
    """The outcome of a high-level call that LegalizeOps left."""
    left = _nameless("left after LegalizeOps: " + "; ".join(bail.calls), late)
    why = _nameless(reason(bail.operators[0], bail.logged), late)
    details: dict[str, Any] = {UNKNOWN: bail.unknown} if bail.unknown else {}
    if bail.symptom is not None:
        details[SYMPTOM] = _nameless(error_text(bail.symptom), late)
    return Outcome(
        Verdict.SILENT_BAIL,
        bail.stage,
        bail.operators[0].removeprefix("relax."),
        f"{left}\n{why}" if why else left,
        seconds=clock.seconds,
        cause=normalise(why),
        details=details | logged_at(reason_line(bail.operators[0], bail.logged)),
    )


def _refusal(case: OnnxCase, error: StageError, clock: Clock, late: str | None) -> Outcome:
    message = _nameless(error_text(error.cause), late)
    place = place_of(error.cause)
    details = ({PLACE: place} if place else {}) | raised_at(error.cause)
    verdict, operator = refusals.classified(case, error.stage, message)
    if isinstance(error.cause, MemoryError) or "MemoryError: " in str(error.cause):
        verdict, details = Verdict.OUT_OF_MEMORY, {}
    return Outcome(verdict, error.stage, operator, message, seconds=clock.seconds, details=details)


def _nameless(message: str, late: str | None) -> str:
    return message if late is None else nameless(message, late)
