"""Running what was compiled, each run judged, and the outcome of all of them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

from relaxcheck.generators.core.program import ORDINARY_REGIMES
from relaxcheck.generators.core.values import Array
from relaxcheck.harness.compiling import building
from relaxcheck.harness.compiling.building import Argument
from relaxcheck.harness.compiling.judgement import Expected, judge
from relaxcheck.harness.compiling.passes.stages import StageError
from relaxcheck.harness.compiling.undefined import UNDEFINED, undefined
from relaxcheck.harness.kind import Progress
from relaxcheck.harness.native.memory import OTHER, USUAL
from relaxcheck.harness.outcomes.appearance import NAN
from relaxcheck.harness.outcomes.clock import Clock
from relaxcheck.harness.outcomes.deviation import WORST
from relaxcheck.harness.outcomes.outcome import ALL_UNCONSTRAINED, Check, Outcome, Verdict

Call = Callable[..., tuple[Array, ...]]
"""Calls a compiled function on its arguments: ``building.run``, or ``run_on_filled_stack``."""


@dataclass(frozen=True, slots=True)
class Run:
    """A run: its binding, regime, arguments, and the expected outputs or an exception."""

    binding: Mapping[str, int]
    regime: str
    arguments: tuple[Argument, ...]
    expected: Expected | Exception


def run_all(
    main: Callable[..., object],
    runs: Sequence[Run],
    outputs: Sequence[str],
    regime: str,
    progress: Progress,
    clock: Clock,
    call: Call,
) -> Outcome:
    """The outcome of ``runs``; ``outputs`` are the names, ``regime`` that of the case.

    Raises:
        StageError: TVM raised.
        Exception: an oracle could not answer.
    """
    checks: list[Check] = []
    seen: list[Expected] = []
    verdict, message, stage = Verdict.PASS, "", None
    details: dict[str, Any] = {}
    for run in runs:
        wanted = run.expected
        if isinstance(wanted, Exception):
            progress("oracle")
            raise wanted
        seen.append(wanted)
        with clock("tvm"):
            progress("run")
            actual = call(main, run.arguments)
        with clock("compare"):
            progress("compare")
            judgement = judge(outputs, run.binding, actual, wanted, run.regime)
        checks.extend(judgement.checks)
        if judgement.verdict is not Verdict.PASS and (
            verdict is Verdict.PASS or (judgement.verdict.is_failure and not verdict.is_failure)
        ):
            where = "" if run.regime == regime else f" (inputs in the {run.regime} regime)"
            verdict, message, stage = judgement.verdict, judgement.message + where, "compare"
            if verdict is Verdict.WRONG_VALUE:
                about = undefined_output(main, run.arguments, outputs, actual)
                # NaN of a NaN among the inputs looks like any other value that is off.
                details = {NAN: True} if judgement.nan and run.regime in ORDINARY_REGIMES else {}
                if judgement.worst is not None:
                    details[WORST] = asdict(judgement.worst)
                if about:
                    message, details = f"{message}\n{about}", {UNDEFINED: True}
    everywhere = tuple(
        n for n in seen[0].agreeing if all(n in expected.agreeing for expected in seen)
    )
    if verdict is Verdict.PASS and not everywhere:
        verdict, message = Verdict.NO_ORACLE, "no oracle ran at every binding"
    elements = sum(check.elements for check in checks)
    if verdict is Verdict.PASS and 0 < elements == sum(check.unconstrained for check in checks):
        verdict, message = Verdict.NO_ORACLE, ALL_UNCONSTRAINED
    return Outcome(
        verdict,
        stage,
        None,
        message,
        tuple(checks),
        everywhere,
        {name: reason for expected in seen for name, reason in expected.unsupported.items()},
        clock.seconds,
        details=details,
    )


def undefined_output(
    main: Callable[..., object],
    arguments: Sequence[Argument],
    outputs: Sequence[str],
    actual: Sequence[Array],
) -> str:
    """As ``undefined``, of heap or stack; empty where TVM fails when it runs again."""
    on_heap = partial(building.run, main, arguments)
    on_stack = partial(building.run_on_filled_stack, main, arguments)
    try:
        return undefined(on_heap, outputs, actual, USUAL, OTHER) or undefined(
            on_stack, outputs, on_stack(USUAL), USUAL, OTHER
        )
    except StageError:
        return ""
