"""Executing cases in this process: emit, compile, run at each binding, judge."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import msgspec

from relaxcheck.generators.core.case import CaseError, IllFormed, Invalid, Mismatch, target_of
from relaxcheck.generators.core.gradients import gradients
from relaxcheck.generators.core.program import Case
from relaxcheck.generators.core.rewrites.static import static
from relaxcheck.generators.core.values import Array, arrays
from relaxcheck.generators.emission.programs import UnknownOperator, emit
from relaxcheck.generators.operators import OPERATORS
from relaxcheck.generators.passes.calls import binds_constants, mixed_precision, passes_of
from relaxcheck.harness.compiling import building
from relaxcheck.harness.compiling.ending import built, lacked_memory, left, message_of
from relaxcheck.harness.compiling.late_linking import READS_PREFIX, name_of
from relaxcheck.harness.compiling.passes.applying import Log
from relaxcheck.harness.compiling.passes.details import ALIKE, UNCOMPILED
from relaxcheck.harness.compiling.passes.ending import with_passes
from relaxcheck.harness.compiling.passes.stages import SilentBail, StageError
from relaxcheck.harness.compiling.pipelines import check_pipeline, is_mixed, pipeline_of
from relaxcheck.harness.compiling.running import Run, run_all, undefined_output
from relaxcheck.harness.compiling.together import (
    Planned,
    all_runs,
    ended_together,
)
from relaxcheck.harness.kind import Progress, Tracing
from relaxcheck.harness.outcomes.appearance import PLACE, place_of
from relaxcheck.harness.outcomes.clock import Clock
from relaxcheck.harness.outcomes.errors import disowns, names
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.harness.outcomes.sources import (
    differentiated_at,
    lowered_at,
    raised_at,
)
from relaxcheck.harness.programs import compile as compiling
from relaxcheck.harness.programs.invalid.objections import objections, returned
from relaxcheck.harness.programs.invalid.rejection import is_rejection, names_undefined
from relaxcheck.harness.programs.invalid.wrong_call import CALLED, wrong_argument
from relaxcheck.harness.programs.judge import Question, all_expected
from relaxcheck.harness.workers.switching import switch_fixes
from relaxcheck.oracles.answer import Unsupported

_LONG = 10.0
"""CPU seconds of a case after which it is not run a second time, without its passes."""

_WRONG = (Verdict.WRONG_SHAPE, Verdict.WRONG_DTYPE, Verdict.WRONG_VALUE)


def execute(
    case: Case,
    progress: Progress = lambda stage: None,
    *,
    plain: bool = False,
    tracing: Tracing | None = None,
) -> Outcome:
    """The outcome of ``case``; ``progress`` gets the name of each stage as it begins.

    ``plain`` compiles as every user of TVM does; otherwise native code may be loaded in a cheaper
    way (``harness.native.link``). ``tracing`` says what to record of the passes, and which of
    them to leave out.

    It never raises because of TVM.

    Raises:
        CaseError: the case names an operator, pipeline or regime that does not exist.
        Exception: a fault of the harness itself.
    """
    begun = _begin(case, progress, None, tracing)
    if isinstance(begun, Outcome):
        return _beside(case, begun, progress)
    (runs,) = _asked([begun])
    return _beside(case, _end(begun, runs, plain=plain), progress)


def apply(case: Case, progress: Progress = lambda stage: None) -> Outcome:
    """The outcome of ``case`` whose own passes are applied and checked; it is not compiled.

    It is ``no-oracle``, or ``broken-module``. A program that fails otherwise is executed, so that
    it fails as in a campaign.

    Raises:
        CaseError, Exception: as ``execute``.
    """

    def applied(module: Any, log: Log) -> None:
        compiling.applied(module, case, progress, log)

    begun = _begin(case, progress, None, make=applied)
    if isinstance(begun, Outcome):
        return execute(case, progress)
    message = "its passes were applied and checked; it was not compiled"
    outcome = Outcome(
        Verdict.NO_ORACLE,
        None,
        None,
        message,
        seconds=begun.clock.seconds,
        details={UNCOMPILED: True},
    )
    return with_passes(outcome, begun.log)


def _beside(case: Case, outcome: Outcome, progress: Progress) -> Outcome:
    """``outcome`` of a drawn case with passes, and whether the program fails so without them.

    Both runs share a deadline: a case that took long keeps its failure.
    """
    fails = outcome.verdict.is_failure and outcome.verdict is not Verdict.BROKEN_MODULE
    if not (fails and passes_of(case) and case.at is not msgspec.UNSET):
        return outcome
    if sum(outcome.seconds.values()) > _LONG:
        return outcome
    without = execute(msgspec.structs.replace(case, passes=msgspec.UNSET), progress)
    if (without.verdict, without.operator) != (outcome.verdict, outcome.operator):
        return outcome
    return msgspec.structs.replace(
        outcome, details={**outcome.details, ALIKE: str(without.verdict)}
    )


def execute_together(
    cases: Sequence[Case], progress: Callable[[int | None, str], None]
) -> Iterator[Outcome]:
    """The outcomes of ``cases``, in order, whose native code is generated and linked all at once.

    ``progress`` gets the number of the case and the name of each stage as it begins; None in a
    stage that all cases share. A case whose code cannot be generated is executed again by itself.

    Raises:
        Exception: a fault outside TVM, or in a shared stage. Cases without an outcome have to be
            executed alone.
    """
    begun = []
    for number, case in enumerate(cases):
        late = name_of(number) if compiling.can_link_late(case) else None
        begun.append(_begin(case, partial(progress, number), late))
    ended = ended_together(begun, progress, _asked, _end, _alone)
    for number, (case, outcome) in enumerate(zip(cases, ended, strict=True)):
        yield _beside(case, outcome, partial(progress, number))


def _alone(compiled: "_Compiled") -> Outcome:
    return execute(compiled.case, compiled.progress)


@dataclass(frozen=True, slots=True)
class _Compiled:
    """A case whose program is compiled; ``late`` is its name if its native code is shared.

    ``progress`` gets the name of each of its stages as it begins.
    """

    case: Case
    program: building.Compiled
    clock: Clock
    late: str | None
    progress: Progress
    log: Log


def _begin(
    case: Case,
    progress: Progress,
    late: str | None,
    tracing: Tracing | None = None,
    *,
    make: Callable[[Any, Log], Any] | None = None,
) -> _Compiled | Outcome:
    """Compile ``case``; returns its outcome if it ends there.

    ``make`` does so with its module, and with the log of its passes; None: as ``compiling.build``.
    """
    check_pipeline(case.pipeline)
    switch_fixes(case.fixes, progress)
    clock, log = Clock(), Log()
    try:
        with clock("tvm"):
            progress("emit")
            module = _emitted(case)
            if make is not None:
                program = make(module, log)
            else:
                program = compiling.build(
                    module, case, progress, late=late, tracing=tracing, log=log
                )
    except UnknownOperator as unknown:
        if unknown.operator not in OPERATORS:
            raise
        # An earlier release: the operator came later.
        return Outcome(
            Verdict.UNSUPPORTED, "emit", unknown.operator, str(unknown), seconds=clock.seconds
        )
    except SilentBail as bail:
        return with_passes(left(bail, clock, late), log)
    except StageError as error:
        if late is not None and (error.stage == READS_PREFIX or passes_of(case)):
            # The name that late linking gives the program may be at fault.
            return _begin(case, progress, None, tracing)
        return with_passes(_refusal(case, error, clock, late), log)
    return _Compiled(case, program, clock, late, progress, log)


def _emitted(case: Case) -> Any:
    try:
        pipeline = pipeline_of(case.pipeline)
        as_parameters = pipeline.constants_as_parameters or binds_constants(case)
        return emit(case, constants_as_parameters=as_parameters)
    except CaseError:
        raise
    except Exception as error:
        raise StageError("emit", error) from error


def _asked(compiled: Sequence[_Compiled]) -> list[list[Run]]:
    """The runs of each of ``compiled``, none if it is invalid; asks the oracles about all."""
    return all_runs(compiled, _planned, all_expected)


def _planned(member: _Compiled) -> Iterator[Planned[Question]]:
    case = member.case
    mixed, target = is_mixed(case), target_of(case)
    idle = isinstance(case.expect, Invalid) or member.program.checked
    for index, regime in () if idle else case.runs:
        values = arrays(case, index, regime)
        program = static(case.program, case.bindings[index])
        question = Question(program, values, mixed, target)
        yield Planned(index, regime, question, _arguments(case, index, values))


def _end(compiled: _Compiled, runs: Sequence[Run], *, plain: bool = False) -> Outcome:
    """Load and run a compiled case; judge its outputs."""
    case, clock = compiled.case, compiled.clock
    if compiled.program.checked:
        return with_passes(built(compiled.program.checked, clock), compiled.log)
    try:
        with clock("tvm"):
            compiled.progress("load")
            main = building.load(compiled.program, cheaply=case.opt_level == 0 and not plain)
        if isinstance(case.expect, Invalid):
            return _ran_though_invalid(case, main, compiled.progress, clock)
        # Where others compare its outcome, no zero on the stack may make it right.
        run = building.run_on_filled_stack if plain else building.run
        outputs = case.program.outputs
        outcome = run_all(main, runs, outputs, case.regime, compiled.progress, clock, run)
        return with_passes(_with_lowerings(case, outcome), compiled.log)
    except Unsupported as error:
        if not mixed_precision(case):
            raise
        # The bounds of mixed precision are known of some operators only.
        return with_passes(
            Outcome(Verdict.NO_ORACLE, "oracle", None, str(error), seconds=clock.seconds),
            compiled.log,
        )
    except StageError as error:
        return with_passes(_refusal(case, error, clock, compiled.late), compiled.log)


def _with_lowerings(case: Case, outcome: Outcome) -> Outcome:
    """``outcome``, if it is wrong with the fixes off, with the lines of TVM's lowerings."""
    if outcome.verdict not in _WRONG or case.fixes:
        return outcome
    places = differentiated_at if gradients(case.program) else lowered_at
    lines = places(node.operator for node in case.program.nodes)
    return msgspec.structs.replace(outcome, details={**outcome.details, **lines})


def _arguments(
    case: Case, index: int, values: Mapping[str, Array]
) -> tuple[building.Argument, ...]:
    """The arguments of a run at the binding ``index``: sizes, then run-time inputs."""
    run_time = (values[tensor.name] for tensor in case.program.inputs if not tensor.constant)
    return (*case.program.size_arguments(case.bindings[index]), *run_time)


def _ran_though_invalid(
    case: Case, main: Callable[..., object], progress: Progress, clock: Clock
) -> Outcome:
    assert isinstance(case.expect, Invalid)
    lines: list[str] = []
    for index, binding in enumerate(case.bindings):
        progress("oracle")
        values = arrays(case, index)
        progress("run")
        with clock("tvm"):
            arguments = _arguments(case, index, values)
            outputs = building.run(main, arguments)
        if not lines:
            lines = [returned(outputs)]
            about = undefined_output(main, arguments, case.program.outputs, outputs)
            if isinstance(case.expect, Mismatch):
                lines.insert(0, f"{CALLED}{wrong_argument(case, case.expect)}")
            else:
                progress("oracle")
                lines += objections(static(case.program, binding), values)
            lines += [about] if about else []
    # Last, since the last line tells failures apart.
    lines.append(f"compiled and ran, though invalid by its {case.expect.fault[0]}")
    return Outcome(
        Verdict.ACCEPTS_INVALID,
        "run",
        case.expect.operator,
        "\n".join(lines),
        seconds=clock.seconds,
    )


def _refusal(case: Case, error: StageError, clock: Clock, late: str | None) -> Outcome:
    message = message_of(error, late)
    if lacked_memory(error):
        return Outcome(Verdict.OUT_OF_MEMORY, error.stage, None, message, seconds=clock.seconds)
    if isinstance(case.expect, Invalid):
        operator = case.expect.operator
        if is_rejection(case, case.expect, error.stage, message):
            verdict = Verdict.REJECTED
        elif disowns(message, operator):
            verdict = Verdict.UNSUPPORTED
        else:
            verdict = Verdict.OPAQUE_CRASH
        return Outcome(
            verdict,
            error.stage,
            operator,
            message,
            seconds=clock.seconds,
            details=_place(error),
        )
    if isinstance(case.expect, IllFormed) and names_undefined(message, case.expect):
        return Outcome(Verdict.REJECTED, error.stage, None, message, seconds=clock.seconds)
    named = _named(case, message)
    return Outcome(
        Verdict.UNSUPPORTED if named else Verdict.OPAQUE_CRASH,
        error.stage,
        named or _only_operator(case),
        message,
        seconds=clock.seconds,
        details=_place(error),
    )


def _place(error: StageError) -> dict[str, Any]:
    place = place_of(error.cause)
    return ({PLACE: place} if place else {}) | raised_at(error.cause)


def _named(case: Case, message: str) -> str | None:
    """The operator that ``message`` says is unsupported, or names with one of its attributes."""
    for node in case.program.nodes:
        if disowns(message, node.operator) or names(message, node.operator, node.attributes):
            return node.operator
    return None


def _only_operator(case: Case) -> str | None:
    operators = {node.operator for node in case.program.nodes}
    return operators.pop() if len(operators) == 1 else None
