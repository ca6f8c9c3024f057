"""Trials: the runs that a bisection asks for, and their results."""

from dataclasses import dataclass

import msgspec

from relaxcheck.generators.core.case import AnyCase
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.harness.triage.bisection.trace import Step, Trace


@dataclass(frozen=True, slots=True)
class Trial:
    """A run to do: of ``case``, without the steps whose paths are ``without``.

    ``plain``: in a new process and without shortcuts. ``show``: the path of the step to show before
    and after. ``fixed``: the steps during which the fixes are on, in a case that has them off.
    ``direct``: call the functions that the last ``LegalizeOps`` makes one by one, or those of the
    module ``after`` a step, by its path. ``ending``: the node that ``case`` was cut off after, if
    it was. ``formed``: ask after each pass whether the module is well formed. ``within``: the path
    of a step, from which the bindings ``held``, by key, are held back.
    """

    case: AnyCase
    without: tuple[str, ...] = ()
    plain: bool = False
    show: str | None = None
    fixed: tuple[str, ...] = ()
    direct: bool = False
    ending: str = ""
    formed: bool = False
    within: str = ""
    held: tuple[str, ...] = ()
    after: str = ""


@dataclass(frozen=True, slots=True)
class Traced:
    """The outcome of a trial, and the trace that its worker wrote."""

    outcome: Outcome
    trace: Trace


class Tried(msgspec.Struct, frozen=True):
    """The result of one run, for a table.

    Of a prefix: ``step`` is its last pass, or None for the shortest way alone; ``needed``: the pass
    is part of every shorter way. Of an ablation: the optional ``step`` alone was left out.
    """

    step: Step | None
    verdict: Verdict
    stage: str | None
    message: str
    needed: bool = False


class Ending(msgspec.Struct, frozen=True):
    """A node after which the program, cut off there, fails, and the verdict then."""

    node: str
    operator: str
    verdict: Verdict


def suspects(outcome: Outcome, trace: Trace) -> tuple[Step, ...]:
    """The steps that changed something before the failure showed, and the step it showed in.

    An unlowered call shows after the pass that should have lowered it.
    """
    steps = list(trace.steps)
    if outcome.verdict is Verdict.SILENT_BAIL:
        last = max(at for at, step in enumerate(steps) if step.name == outcome.stage)
        return tuple(step for step in steps[: last + 1] if step.changed or step is steps[last])
    if trace.unfinished is not None:
        steps.append(trace.unfinished)
    return tuple(step for step in steps if step.changed)
