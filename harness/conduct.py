"""Cases, the whole way, in this process: emit, compile, run at each binding, judge."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import fixes
from generators.cases import AnyCase
from generators.emission import emit
from generators.program import Case, CaseError, Invalid, Mismatch
from generators.static import static
from generators.values import Array, arrays
from harness import compile as compiling
from harness.clock import Clock
from harness.compile import SilentBail, StageError
from harness.conduct_expressions import conduct_expressions
from harness.errors import disowns, names, tells
from harness.judge import Expected, Question, all_expected, judge
from harness.late_linking import name_of, nameless
from harness.legalization_log import with_reason
from harness.outcome import ALL_ROOM, Check, Outcome, Verdict
from harness.pipelines import PIPELINES
from harness.protocol import Tracing

Progress = Callable[[str], None]


def conduct(
    case: AnyCase,
    progress: Progress = lambda stage: None,
    *,
    plain: bool = False,
    tracing: Tracing | None = None,
) -> Outcome:
    """The outcome of ``case``; ``progress`` is told every stage that begins.

    ``plain`` compiles as every user of TVM does; without, native code may be loaded in a cheaper
    way (``harness.link``). ``tracing`` says what is written down of the passes, and which of them
    are left out.

    Never raises on account of TVM; a fault of the harness itself becomes ``harness-error``, and
    an unknown operator, pipeline or regime a ``CaseError``.

    Raises:
        CaseError: the case names something that does not exist.
    """
    if not isinstance(case, Case):
        _install(case)
        return conduct_expressions(case, progress)
    begun = _begin(case, progress, None, tracing)
    if isinstance(begun, Outcome):
        return begun
    (runs,) = _asked([begun])
    return _end(begun, runs, plain=plain)


def conduct_together(
    cases: Sequence[Case], progress: Callable[[int | None, str], None]
) -> Iterator[Outcome]:
    """The outcomes of ``cases``, in order, whose native code is generated and linked all at once.

    ``progress`` is told every stage that begins, with the number of the case that it is of; None
    where it is of all of them.

    Raises:
        Exception: whatever goes wrong outside TVM, or in what the cases share. Those of which no
            outcome came have to be conducted alone.
    """
    begun = []
    for number, case in enumerate(cases):
        late = name_of(number) if compiling.can_link_late(case) else None
        begun.append(_begin(case, partial(progress, number), late))
    compiled = [one for one in begun if isinstance(one, _Compiled)]
    progress(None, "link")
    shared = Clock()
    with shared("tvm"):
        compiling.link([one.program for one in compiled])
    for one in compiled:
        one.clock.add("tvm", shared.seconds["tvm"] / len(compiled))
    runs = iter(_asked(compiled))
    for this in begun:
        yield this if isinstance(this, Outcome) else _end(this, next(runs))


@dataclass(frozen=True, slots=True)
class _Compiled:
    """A case whose program is compiled; ``late`` is its name where its native code is shared.

    ``progress`` is told every stage of it that begins.
    """

    case: Case
    program: compiling.Compiled
    clock: Clock
    late: str | None
    progress: Progress


@dataclass(frozen=True, slots=True)
class _Run:
    """One run of a case: a binding, the inputs and their regime, what is expected or was raised."""

    index: int
    regime: str
    values: Mapping[str, Array]
    expected: Expected | Exception


def _begin(
    case: Case, progress: Progress, late: str | None, tracing: Tracing | None = None
) -> _Compiled | Outcome:
    """Compile ``case``; an outcome where that is its end."""
    if case.pipeline not in PIPELINES:
        raise CaseError(f"pipeline {case.pipeline!r} is unknown; known are {', '.join(PIPELINES)}")
    _install(case)
    clock = Clock()
    try:
        with clock("tvm"):
            progress("emit")
            module = _emitted(case)
            program = compiling.build(module, case, progress, late=late, tracing=tracing)
    except SilentBail as bail:
        left = "left after LegalizeOps: " + "; ".join(bail.calls)
        return Outcome(
            Verdict.SILENT_BAIL,
            bail.stage,
            _short(bail.operators[0]),
            _nameless(with_reason(left, bail.operators[0], bail.logged), late),
            seconds=clock.seconds,
        )
    except StageError as error:
        return _refusal(case, error, clock, late)
    return _Compiled(case, program, clock, late, progress)


def _install(case: AnyCase) -> None:
    # They stay as they are until a case wants otherwise: most cases want what the last one did.
    if case.fixes:
        fixes.install()
    else:
        fixes.uninstall()


def _emitted(case: Case) -> Any:
    try:
        pipeline = PIPELINES[case.pipeline]
        return emit(case, constants_as_parameters=pipeline.constants_as_parameters)
    except CaseError:
        raise
    except Exception as error:
        raise StageError("emit", error) from error


def _asked(compiled: Sequence[_Compiled]) -> list[list[_Run]]:
    """The runs of each of ``compiled``, none where it is invalid: all are asked before any run."""
    planned: list[tuple[_Compiled, int, str]] = []
    questions: list[Question] = []
    for one in compiled:
        mixed = PIPELINES[one.case.pipeline].mixed_precision
        for index, regime in () if isinstance(one.case.expect, Invalid) else one.case.runs:
            one.progress("oracle")
            planned.append((one, index, regime))
            program = static(one.case.program, one.case.bindings[index])
            questions.append(Question(program, arrays(one.case, index, regime), mixed))

    @contextmanager
    def on(number: int) -> Iterator[None]:
        one, *_ = planned[number]
        one.progress("oracle")
        with one.clock("oracles"):
            yield

    told = zip(planned, questions, all_expected(questions, on), strict=True)
    runs: dict[int, list[_Run]] = {id(one): [] for one in compiled}
    for (one, index, regime), question, expected in told:
        runs[id(one)].append(_Run(index, regime, question.arrays, expected))
    return list(runs.values())


def _end(compiled: _Compiled, runs: Sequence[_Run], *, plain: bool = False) -> Outcome:
    """Load and run what is compiled; judge what it gives."""
    case, clock = compiled.case, compiled.clock
    try:
        with clock("tvm"):
            compiled.progress("load")
            main = compiling.load(compiled.program, cheaply=case.opt_level == 0 and not plain)
        if isinstance(case.expect, Invalid):
            return _ran_though_invalid(case, main, compiled.progress, clock)
        return _run_all(case, main, runs, compiled.progress, clock)
    except StageError as error:
        return _refusal(case, error, clock, compiled.late)


def _nameless(message: str, late: str | None) -> str:
    return message if late is None else nameless(message, late)


def _run_all(
    case: Case,
    main: Callable[..., object],
    runs: Sequence[_Run],
    progress: Progress,
    clock: Clock,
) -> Outcome:
    run_time = [given.name for given in case.program.inputs if not given.constant]
    checks: list[Check] = []
    seen: list[Expected] = []
    verdict, message, stage = Verdict.PASS, "", None
    for run in runs:
        wanted = run.expected
        if isinstance(wanted, Exception):
            progress("oracle")
            raise wanted
        seen.append(wanted)
        with clock("tvm"):
            progress("run")
            told = case.program.sizes_told(case.bindings[run.index])
            actual = compiling.run(main, [*told, *(run.values[name] for name in run_time)])
        with clock("compare"):
            progress("compare")
            judgement = judge(case.program, case.bindings[run.index], actual, wanted, run.regime)
        checks.extend(judgement.checks)
        if judgement.verdict is not Verdict.PASS and (
            verdict is Verdict.PASS or (judgement.verdict.is_failure and not verdict.is_failure)
        ):
            where = "" if run.regime == case.regime else f" (inputs in the {run.regime} regime)"
            verdict, message, stage = judgement.verdict, judgement.message + where, "compare"
    everywhere = tuple(n for n in seen[0].agreeing if all(n in one.agreeing for one in seen))
    if verdict is Verdict.PASS and not everywhere:
        verdict, message = Verdict.NO_ORACLE, "no oracle ran at every binding"
    elements = sum(check.elements for check in checks)
    if verdict is Verdict.PASS and 0 < elements == sum(check.room for check in checks):
        verdict, message = Verdict.NO_ORACLE, ALL_ROOM
    return Outcome(
        verdict,
        stage,
        None,
        message,
        tuple(checks),
        everywhere,
        {name: reason for one in seen for name, reason in one.unsupported.items()},
        clock.seconds,
    )


def _ran_though_invalid(
    case: Case, main: Callable[..., object], progress: Progress, clock: Clock
) -> Outcome:
    assert isinstance(case.expect, Invalid)
    run_time = [given.name for given in case.program.inputs if not given.constant]
    for index in range(len(case.bindings)):
        progress("oracle")
        values = arrays(case, index)
        progress("run")
        with clock("tvm"):
            told = case.program.sizes_told(case.bindings[index])
            compiling.run(main, [*told, *(values[name] for name in run_time)])
    return Outcome(
        Verdict.ACCEPTS_INVALID,
        "run",
        case.expect.operator,
        f"compiled and ran, though invalid by its {case.expect.fault[0]}",
        seconds=clock.seconds,
    )


def _refusal(case: Case, error: StageError, clock: Clock, late: str | None) -> Outcome:
    message = _nameless(f"{type(error.cause).__name__}: {error.cause}", late)
    # One that NumPy raised inside a legalization comes back through TVM as another class.
    if isinstance(error.cause, MemoryError) or "MemoryError: " in str(error.cause):
        return Outcome(Verdict.OUT_OF_MEMORY, error.stage, None, message, seconds=clock.seconds)
    if isinstance(case.expect, Invalid):
        operator = case.expect.operator
        if names(message, operator, case.expect.fault) and tells(message, _sizes(case)):
            verdict = Verdict.REJECTED
        elif disowns(message, operator):
            verdict = Verdict.UNSUPPORTED
        else:
            verdict = Verdict.OPAQUE_CRASH
        return Outcome(verdict, error.stage, operator, message, seconds=clock.seconds)
    named = _named(case, message)
    return Outcome(
        Verdict.UNSUPPORTED if named else Verdict.OPAQUE_CRASH,
        error.stage,
        named or _only_operator(case),
        message,
        seconds=clock.seconds,
    )


def _sizes(case: Case) -> tuple[int, ...]:
    return case.expect.sizes if isinstance(case.expect, Mismatch) else ()


def _named(case: Case, message: str) -> str | None:
    """The operator that ``message`` says is unsupported, or names with one of its attributes."""
    for node in case.program.nodes:
        if disowns(message, node.operator) or names(message, node.operator, node.attributes):
            return node.operator
    return None


def _only_operator(case: Case) -> str | None:
    operators = {node.operator for node in case.program.nodes}
    return operators.pop() if len(operators) == 1 else None


def _short(operator: str) -> str:
    return operator.removeprefix("relax.")
