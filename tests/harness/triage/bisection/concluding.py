"""A bisection on a pipeline whose faults are known: steps by name, and a judge of what is left."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from relaxcheck.generators.core.program import Case, Input, Node, Program
from relaxcheck.harness.outcomes.appearance import NAN
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.harness.triage.bisection.search import (
    Bisected,
    Traced,
    Trial,
    bisect,
)
from relaxcheck.harness.triage.bisection.trace import Step, Trace

CASE = Case(
    "toy",
    Program(
        (Input("x", (1,), "float32"),),
        (Node("y", "toy.first", ("x",)), Node("z", "toy.second", ("y",))),
        ("z",),
    ),
)
WRONG = Outcome(Verdict.WRONG_VALUE, "compare", None, "output z: 1 for 2")
NANS = Outcome(Verdict.WRONG_VALUE, "compare", None, "output z: nan for 2", details={NAN: True})
RIGHT = Outcome(Verdict.PASS)
UNUSABLE = Outcome(Verdict.OPAQUE_CRASH, "codegen", None, "InternalError: not lowered")

Judge = Callable[[Trial], Outcome]


@dataclass(frozen=True, slots=True)
class Ended:
    result: Bisected
    trials: list[Trial]


def conclude(
    steps: Sequence[str],
    judge: Judge,
    unfinished: str | None = None,
    case: Case = CASE,
    breaks: str = "",
) -> Ended:
    """Bisect ``case`` on a pipeline of ``steps``, judged by what is left out.

    After ``breaks`` the module is ill-formed.
    """
    trials: list[Trial] = []
    bisection = bisect(case)
    trial = next(bisection)
    while True:
        trials.append(trial)
        ran = tuple(
            Step(
                name,
                name.strip("0123456789"),
                changed=not name.startswith("idle"),
                breaks=trial.formed and name == breaks,
            )
            for name in steps
            if name not in trial.without
        )
        last = Step(unfinished, unfinished, True) if unfinished else None
        texts = (f"old {trial.show}\n", f"new {trial.show}\n") if trial.show else (None, None)
        outcome = judge(trial)
        try:
            trial = bisection.send(Traced(outcome, Trace(ran, last, *texts)))
        except StopIteration as end:
            result: Bisected = end.value
            break
    # Whoever reads it knows TVM, and no verdicts.
    assert not any(verdict_name in result.why for verdict_name in Verdict if "-" in verdict_name)
    return Ended(result, trials)


def verdicts(result: Bisected) -> list[tuple[str | None, str]]:
    return [
        (row.step.path if row.step else None, "needed" if row.needed else str(row.verdict))
        for row in result.prefixes
    ]
