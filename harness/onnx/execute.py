"""Executing ONNX models in this process: import, compile, run at each binding, judge."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from relaxcheck.generators.core.case import Invalid
from relaxcheck.generators.core.values import arrays
from relaxcheck.generators.onnx.case import OnnxCase
from relaxcheck.generators.onnx.static import static
from relaxcheck.harness.compiling import building
from relaxcheck.harness.compiling.ending import built, lacked_memory, left, message_of
from relaxcheck.harness.compiling.judgement import SHAPE
from relaxcheck.harness.compiling.late_linking import READS_PREFIX, name_of
from relaxcheck.harness.compiling.passes.stages import SilentBail, StageError
from relaxcheck.harness.compiling.pipelines import check_pipeline
from relaxcheck.harness.compiling.recipes import can_link_late, recipe
from relaxcheck.harness.compiling.running import Run, run_all
from relaxcheck.harness.compiling.together import (
    Planned,
    all_runs,
    ended_together,
)
from relaxcheck.harness.kind import Progress, Tracing
from relaxcheck.harness.onnx import importing, refusals
from relaxcheck.harness.onnx.asking import all_expected
from relaxcheck.harness.outcomes.appearance import PLACE, place_of
from relaxcheck.harness.outcomes.clock import Clock
from relaxcheck.harness.outcomes.errors import UNNAMED
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.harness.outcomes.sources import raised_at
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
        late = name_of(number) if can_link_late(case) else None
        begun.append(_begin(case, partial(progress, number), late))
    yield from ended_together(begun, progress, _asked, _end, _alone)


def _alone(compiled: "_Compiled") -> Outcome:
    return execute(compiled.case, compiled.progress)


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
    check_pipeline(case.pipeline)
    switch_fixes(case.fixes, progress)
    clock = Clock()
    try:
        with clock("tvm"):
            progress(importing.STAGE)
            made = importing.imported(case)
            program = building.build(
                made.module, recipe(case), progress, late=late, tracing=tracing
            )
    except SilentBail as bail:
        return left(bail, clock, late)
    except StageError as error:
        if late is not None and error.stage == READS_PREFIX:
            # The name that late linking gives the program may be at fault.
            return _begin(case, progress, None, tracing)
        return _refusal(case, error, clock, late)
    return _Compiled(case, program, made.parameters, clock, late, progress)


def _end(compiled: _Compiled, runs: Sequence[Run], *, plain: bool = False) -> Outcome:
    """Load and run a compiled case; judge its outputs."""
    case, clock, progress = compiled.case, compiled.clock, compiled.progress
    if compiled.program.checked:
        return built(compiled.program.checked, clock)
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
    return all_runs(compiled, _planned, all_expected)


def _planned(member: _Compiled) -> Iterator[Planned[Question]]:
    case = member.case
    if isinstance(case.expect, Invalid) or member.program.checked:
        return
    # One object for all runs at a binding: oracles keep what they make of it.
    models = [static(case.model, binding) for binding in case.bindings]
    for index, regime in case.runs:
        values = arrays(case, index, regime)
        own = tuple(values[tensor.name] for tensor in case.model.inputs)
        question = Question(models[index], values)
        yield Planned(index, regime, question, (*own, *member.parameters))


def _ran_though_invalid(compiled: _Compiled, main: Callable[..., object]) -> Outcome:
    case = compiled.case
    assert isinstance(case.expect, Invalid)
    compiled.progress("run")
    values = arrays(case, 0)
    own = tuple(values[tensor.name] for tensor in case.model.inputs)
    with compiled.clock("tvm"):
        outputs = building.run(main, (*own, *compiled.parameters))
    shapes = ", ".join(
        f"{'shape' if output.dtype == SHAPE else output.dtype}{list(output.shape)}"
        for output in outputs
    )
    why = f"compiled and ran, though invalid by its {case.expect.fault[0]}"
    return Outcome(
        Verdict.ACCEPTS_INVALID,
        "run",
        case.expect.operator,
        f"it returned {shapes}\n{why}",
        seconds=compiled.clock.seconds,
    )


def _refusal(case: OnnxCase, error: StageError, clock: Clock, late: str | None) -> Outcome:
    message = message_of(error, late)
    place = place_of(error.cause)
    details = ({PLACE: place} if place else {}) | raised_at(error.cause)
    verdict, operator = refusals.classified(case, error.stage, message)
    if verdict is Verdict.UNSUPPORTED and refusals.names_none(case, message):
        details |= {UNNAMED: True}
    if lacked_memory(error):
        verdict, details = Verdict.OUT_OF_MEMORY, {}
    return Outcome(verdict, error.stage, operator, message, seconds=clock.seconds, details=details)
