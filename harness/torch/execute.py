"""Executing PyTorch programs in this process: export, import, compile, run, judge."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from torch.export import ExportedProgram

from relaxcheck.generators.core.case import target_of
from relaxcheck.generators.core.values import Array, arrays
from relaxcheck.generators.targets import LLVM
from relaxcheck.generators.torch.case import DYNAMO, EXPORT, TorchCase
from relaxcheck.harness.compiling import building
from relaxcheck.harness.compiling.ending import built, left
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
from relaxcheck.harness.outcomes.clock import Clock
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.harness.torch import dynamo, importing
from relaxcheck.harness.torch.accepting import accepts
from relaxcheck.harness.torch.asking import all_expected
from relaxcheck.harness.torch.ending import refused
from relaxcheck.harness.torch.exporting import (
    STAGE,
    Exported,
    exported_alone,
    exported_together,
)
from relaxcheck.harness.torch.grouping import NotExported
from relaxcheck.harness.torch.keeping import usual
from relaxcheck.harness.workers.switching import switch_fixes
from relaxcheck.oracles.outside import NoAnswer
from relaxcheck.oracles.torch.answers import Question, passed
from relaxcheck.oracles.torch.exported import outputs as outputs_of

_WRONG = (Verdict.WRONG_VALUE, Verdict.WRONG_SHAPE, Verdict.WRONG_DTYPE)


def execute(
    case: TorchCase,
    progress: Progress = lambda stage: None,
    *,
    plain: bool = False,
    tracing: Tracing | None = None,
) -> Outcome:
    """The outcome of ``case``; as ``harness.programs.execute.execute``.

    A ``plain`` one is exported alone, and not taken from the folder of exported programs.

    Raises:
        CaseError: the case names a pipeline that does not exist.
        Exception: a fault of the harness itself.
    """
    clock = Clock()
    if plain:
        progress(STAGE)
        with clock(STAGE):
            program = exported_alone(case)
    else:
        (program,) = exported_together(
            [case], [clock], usual(), lambda number, stage: progress(stage)
        )
    begun = _begin(case, program, clock, progress, None, tracing)
    if isinstance(begun, Outcome):
        return begun
    (runs,) = _asked([begun])
    return _end(begun, runs, plain=plain)


def execute_together(
    cases: Sequence[TorchCase], progress: Callable[[int | None, str], None]
) -> Iterator[Outcome]:
    """The outcomes of ``cases``, in order, exported at once, and their native code linked at once.

    Raises:
        Exception: a fault outside TVM, or in a shared stage. Cases without an outcome have to be
            executed alone.
    """
    clocks = [Clock() for _ in cases]
    programs = exported_together(cases, clocks, usual(), progress)
    begun = []
    for number, (case, program, clock) in enumerate(zip(cases, programs, clocks, strict=True)):
        late = name_of(number) if can_link_late(case) else None
        begun.append(_begin(case, program, clock, partial(progress, number), late))
    yield from ended_together(begun, progress, _asked, _end, _alone)


def _alone(compiled: "_Compiled") -> Outcome:
    return execute(compiled.case, compiled.progress)


@dataclass(frozen=True, slots=True)
class _Compiled:
    """A case whose program is compiled; ``late`` is its name if its native code is shared.

    ``exported`` is the program that TVM imported, None by another door. ``program`` is what TVM
    made of it; the door ``relax_dynamo`` gives a function that runs, ``main``.
    """

    case: TorchCase
    exported: ExportedProgram | None
    program: building.Compiled | None
    main: Callable[..., object] | None
    parameters: tuple[building.Argument, ...]
    clock: Clock
    late: str | None
    progress: Progress


def _begin(
    case: TorchCase,
    exported: Exported,
    clock: Clock,
    progress: Progress,
    late: str | None,
    tracing: Tracing | None = None,
) -> _Compiled | Outcome:
    """Import and compile ``case``; returns its outcome if it ends there."""
    check_pipeline(case.pipeline)
    if isinstance(exported, NotExported):
        return _not_exported(exported, clock)
    switch_fixes(case.fixes, progress)
    if not importing.has_door(case.importing.door):
        reason = f"this release of TVM has no door {case.importing.door!r}"
        return Outcome(Verdict.NO_ORACLE, importing.STAGE, None, reason, seconds=clock.seconds)
    if case.importing.door == DYNAMO and target_of(case) != LLVM:
        reason = "relax_dynamo compiles for LLVM's target alone"
        return Outcome(Verdict.NO_ORACLE, importing.STAGE, None, reason, seconds=clock.seconds)
    try:
        with clock("tvm"):
            progress(importing.STAGE)
            if case.importing.door == DYNAMO:
                main = dynamo.compiled(case)
                return _Compiled(case, None, None, main, (), clock, None, progress)
            made = importing.imported(case, exported)
            if made.returns_tuple != _returns_tuple(case):
                return _of_another_structure(made.returns_tuple, clock)
            program = building.build(
                made.module, recipe(case), progress, late=late, tracing=tracing
            )
    except NotExported as refusal:
        return _not_exported(refusal, clock)
    except SilentBail as bail:
        return left(bail, clock, late)
    except StageError as error:
        if late is not None and error.stage == READS_PREFIX:
            # The name that late linking gives the program may be at fault.
            return _begin(case, exported, clock, progress, None, tracing)
        return refused(case, error, clock, late)
    return _Compiled(case, exported, program, None, made.parameters, clock, late, progress)


def _not_exported(refusal: NotExported, clock: Clock) -> Outcome:
    reason = f"PyTorch does not export the program: {refusal}"
    return Outcome(Verdict.NO_ORACLE, STAGE, None, reason, seconds=clock.seconds)


def _returns_tuple(case: TorchCase) -> bool:
    """True if the imported function is to return a tuple.

    The importer of exported programs returns one always, but a single output that it unwraps;
    ``from_fx`` returns what the module does.
    """
    if len(case.program.outputs) > 1:
        return True
    if case.importing.unwrap:
        return False
    return case.importing.door == EXPORT or case.program.tuple_of_one


def _of_another_structure(returns_tuple: bool, clock: Clock) -> Outcome:
    forms = ("a tensor", "a tuple")
    message = (
        f"the imported function returns {forms[returns_tuple]}, not {forms[not returns_tuple]}"
    )
    return Outcome(Verdict.WRONG_SHAPE, importing.STAGE, None, message, seconds=clock.seconds)


def _end(compiled: _Compiled, runs: Sequence[Run], *, plain: bool = False) -> Outcome:
    """Load and run a compiled case; judge its outputs."""
    case, clock, progress = compiled.case, compiled.clock, compiled.progress
    if compiled.program is not None and compiled.program.checked:
        return built(compiled.program.checked, clock)
    try:
        with clock("tvm"):
            progress("load")
            main = compiled.main
            if compiled.program is not None:
                main = building.load(compiled.program, cheaply=case.opt_level == 0 and not plain)
            else:
                # PyTorch may ask its backend for another compilation.
                switch_fixes(case.fixes)
            assert main is not None
        # Where others compare its outcome, no zero on the stack may make it right.
        call = building.run_on_filled_stack if plain else building.run
        answered = [run for run in runs if not isinstance(run.expected, NoAnswer)]
        for run in runs:
            if isinstance(run.expected, NoAnswer):
                # Nobody knows the result, but TVM has to give one.
                progress("run")
                call(main, run.arguments)
        if not answered:
            reasons = str(runs[0].expected) if runs else "the program takes no size that is drawn"
            return Outcome(Verdict.NO_ORACLE, None, None, reasons, seconds=clock.seconds)
        names = case.program.outputs
        outcome = run_all(main, answered, names, case.regime, progress, clock, call)
        if outcome.verdict in _WRONG and compiled.exported is not None:
            # PyTorch itself may make another program of it: then TVM is not to blame.
            (runs,) = _asked([compiled], both=True)
            answered = [run for run in runs if not isinstance(run.expected, NoAnswer)]
            outcome = run_all(main, answered, names, case.regime, progress, clock, call)
        return outcome
    except StageError as error:
        return refused(case, error, clock, compiled.late)


def _asked(compiled: Sequence[_Compiled], *, both: bool = False) -> list[list[Run]]:
    """The runs of each of ``compiled`` at the bindings that its program takes; asks PyTorch.

    ``both``: its interpreter of the exported program, too.
    """
    return all_runs(compiled, partial(_planned, both=both), all_expected)


def _planned(member: _Compiled, *, both: bool) -> Iterator[Planned[Question]]:
    case = member.case
    if member.program is not None and member.program.checked:
        return
    taken = _taken(member)
    for index, regime in case.runs:
        if index not in taken:
            continue
        values = arrays(case, index, regime)
        question = Question(case.program, values, case.seed, case.regime)
        if both and member.exported is not None:
            question = replace(question, exported=_by_interpreter(member, values))
        own = passed(case.program, values)
        yield Planned(index, regime, question, (*own, *member.parameters))


def _by_interpreter(
    member: _Compiled, values: Mapping[str, Array]
) -> Callable[[], tuple[Array, ...]]:
    assert member.exported is not None
    return partial(outputs_of, member.exported, passed(member.case.program, values))


def _taken(member: _Compiled) -> frozenset[int]:
    """The numbers of the bindings that the exported program may be called at."""
    case = member.case
    every = range(len(case.bindings))
    if member.exported is None:
        return frozenset(every)
    shapes = (
        [case.shape(tensor.name, case.bindings[at]) for tensor in case.program.inputs]
        for at in every
    )
    return frozenset(
        at for at, row in zip(every, shapes, strict=True) if accepts(member.exported, row)
    )
