"""The data of a script that reproduces one failure by itself."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

import msgspec
import numpy as np

from relaxcheck.generators.core.case import CaseError, Invalid, target_of
from relaxcheck.generators.core.program import Case
from relaxcheck.generators.core.rewrites.static import static
from relaxcheck.generators.core.values import Array, arrays
from relaxcheck.harness.compiling.pipelines import is_mixed
from relaxcheck.harness.outcomes.outcome import Check, Outcome, Verdict
from relaxcheck.harness.programs.vetting import tensors
from relaxcheck.harness.workers.jobs import Limits
from relaxcheck.oracles.answer import Bounded
from relaxcheck.oracles.reference.evaluate import Numerics, evaluate


class Way(Enum):
    """The way in which a script detects the bug.

    ``VALUES``: an element lies outside its bound. ``TYPES``: shape or dtype of an output differ.
    ``LEFT``: LegalizeOps leaves calls. ``RAISES``: an exception.
    ``UNCLEAR``: no exception, or one that does not name what is at fault. ``ENDS``: the process
    dies, or does not end.
    """

    VALUES = "values"
    TYPES = "types"
    LEFT = "left"
    RAISES = "raises"
    UNCLEAR = "unclear"
    ENDS = "ends"


_WAYS = {
    Verdict.PASS: Way.VALUES,
    Verdict.REJECTED: Way.UNCLEAR,
    Verdict.UNSUPPORTED: Way.RAISES,
    Verdict.SILENT_BAIL: Way.LEFT,
    Verdict.OPAQUE_CRASH: Way.RAISES,
    Verdict.BROKEN_MODULE: Way.RAISES,
    Verdict.ACCEPTS_INVALID: Way.UNCLEAR,
    Verdict.WRONG_SHAPE: Way.TYPES,
    Verdict.WRONG_DTYPE: Way.TYPES,
    Verdict.WRONG_VALUE: Way.VALUES,
    Verdict.PROCESS_DEATH: Way.ENDS,
    Verdict.TIMEOUT: Way.ENDS,
    Verdict.OUT_OF_MEMORY: Way.ENDS,
}

_RUNNING = frozenset({"run", "compare", None})
"""The stages of an outcome in which the module ran."""


@dataclass(frozen=True, slots=True)
class Run:
    """One run of the compiled module: number of the binding, regime, and the inputs by name."""

    index: int
    regime: str
    binding: Mapping[str, int]
    inputs: Mapping[str, Array]


@dataclass(frozen=True, slots=True)
class Reproduction:
    """A case, its outcome, and the parts to do again.

    ``runs`` is empty if it fails before anything runs; ``loads``: the module is loaded. ``values``
    are the reference's of every node in the only run, ``output`` is the name of the output to
    compare, ``ratio`` its largest error by bound (None: infinite or unknown), ``wrong`` the names
    of all outputs that are wrong in that run. ``limits`` are the limits that the case exceeded, if
    any; ``signal`` is the name of the signal that ends the process, if known.
    """

    case: Case
    outcome: Outcome
    way: Way
    runs: tuple[Run, ...]
    loads: bool
    values: Mapping[str, Bounded]
    output: str
    ratio: float | None
    wrong: tuple[str, ...]
    limits: Limits
    signal: str = ""


def reproduction(case: Case, outcome: Outcome, limits: Limits | None = None) -> Reproduction:
    """The data to reproduce ``outcome`` of ``case``; ``limits`` are those it ran under.

    Of several bindings only failing ones are run: if outputs are wrong, the smallest of them.

    Raises:
        CaseError: the outcome says nothing about TVM, or the case runs with the fixes.
    """
    if outcome.verdict not in _WAYS:
        raise CaseError(
            f"case {case.identifier}: {outcome.verdict} says nothing certain about TVM that a "
            "script could show"
        )
    if case.fixes:
        raise CaseError(f"case {case.identifier} has the fixes on, which a script does not have")
    way = _WAYS[outcome.verdict]
    if way is Way.RAISES and isinstance(case.expect, Invalid):
        way = Way.UNCLEAR
    output, ratio = case.program.outputs[0], None
    values: Mapping[str, Bounded] = {}
    wrong: tuple[str, ...] = ()
    runs: tuple[Run, ...] = ()
    if way in (Way.VALUES, Way.TYPES):
        failed = [check for check in outcome.checks if check.ratio is None or check.ratio > 1]
        run = min(_runs_of(case, failed), key=_size)
        runs = (run,)
        mine = [
            check for check in failed if (check.binding, check.regime) == (run.binding, run.regime)
        ]
        if mine:
            output, ratio = mine[0].output, mine[0].ratio
            wrong = tuple(dict.fromkeys(check.output for check in mine))
        values = _values(case, run)
    elif way is not Way.LEFT and outcome.stage in _RUNNING:
        runs = tuple(run_of(case, index, regime) for index, regime in _all_runs(case))
    loads = bool(runs) or outcome.stage == "load"
    limits = limits or Limits()
    return Reproduction(
        case,
        outcome,
        way,
        runs,
        loads,
        values,
        output,
        ratio,
        wrong,
        limits,
        _signal(outcome) if way is Way.ENDS else "",
    )


def _signal(outcome: Outcome) -> str:
    """The name of the signal that ends a script which shows ``outcome``; empty if unknown."""
    if outcome.verdict is Verdict.TIMEOUT:
        # Its own timer's.
        return "SIGALRM"
    if outcome.verdict is not Verdict.PROCESS_DEATH or outcome.ending is None:
        return ""
    return outcome.ending.signal


def _all_runs(case: Case) -> tuple[tuple[int, str], ...]:
    """The runs of the compiled module; those of an invalid program in its own regime only."""
    if isinstance(case.expect, Invalid):
        return tuple((index, case.regime) for index in range(len(case.bindings)))
    return case.runs


def _runs_of(case: Case, failed: list[Check]) -> list[Run]:
    """The runs that ``failed``, or the first one if none is known to."""
    wanted = [(check.binding, check.regime) for check in failed]
    runs = [
        run_of(case, index, regime)
        for index, regime in case.runs
        if (case.bindings[index], regime) in wanted
    ]
    return runs or [run_of(case, *case.runs[0])]


def run_of(case: Case, index: int, regime: str) -> Run:
    """The run of ``case`` at its binding number ``index``, with inputs in ``regime``."""
    return Run(index, regime, case.bindings[index], arrays(case, index, regime))


def _size(run: Run) -> int:
    return sum(array.size for array in run.inputs.values())


def _values(case: Case, run: Run) -> dict[str, Bounded]:
    """The reference's value of every node, with the bounds of the pipeline's numerics."""
    names = tensors(case.program)
    numerics = Numerics.MIXED_FLOAT16 if is_mixed(case) else Numerics.OWN
    every = msgspec.structs.replace(case.program, outputs=(*names, *case.program.outputs))
    values = evaluate(static(every, run.binding), run.inputs, numerics, target_of(case))
    return dict(zip(every.outputs, values, strict=True))


def one_bound(wanted: Bounded, ratio: float | None) -> float | None:
    """A single bound for all elements that still shows the failure, or None.

    ``ratio`` is the largest error of an element by its own bound; None stands for an infinite one.
    There is no single bound if the bounds differ too much, or some are infinite.
    """
    if not wanted.bound.size:
        return 0.0
    least, most = float(wanted.bound.min()), float(wanted.bound.max())
    if not np.isfinite(most):
        return None
    # If no bound is 0, an infinite ratio means a value that is not finite.
    seen = least > 0 and (ratio is None or ratio * least > 1.01 * most)
    return most if seen or least == most else None
