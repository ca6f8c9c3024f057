"""What a script needs that makes one failure come again by itself, as data."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import Enum

import msgspec
import numpy as np

from generators.program import Case, CaseError, Invalid
from generators.static import static
from generators.values import Array, arrays
from harness.jobs import Limits
from harness.outcome import Check, Outcome, Verdict
from harness.pipelines import PIPELINES
from oracles.answer import Bounded
from oracles.reference import Numerics, evaluate


class Way(Enum):
    """How a script tells that the bug is there.

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
    Verdict.ACCEPTS_INVALID: Way.UNCLEAR,
    Verdict.WRONG_SHAPE: Way.TYPES,
    Verdict.WRONG_DTYPE: Way.TYPES,
    Verdict.WRONG_VALUE: Way.VALUES,
    Verdict.PROCESS_DEATH: Way.ENDS,
    Verdict.TIMEOUT: Way.ENDS,
    Verdict.OUT_OF_MEMORY: Way.ENDS,
}

_RUNNING = frozenset({"run", "compare", None})
"""Stages of an outcome whose module ran."""

_DEADLINE = re.compile(r"still in \S+ after ([\d.]+) s")
"""What ``harness.pool`` says of a timeout."""

_ENDED_BY = re.compile(r"worker ended with (SIG[A-Z0-9]+) in ")
"""What it says of a process that died of a signal."""


@dataclass(frozen=True, slots=True)
class Run:
    """One run of the compiled module: number of the binding, regime, and the inputs by name."""

    index: int
    regime: str
    binding: Mapping[str, int]
    inputs: Mapping[str, Array]


@dataclass(frozen=True, slots=True)
class Reproduction:
    """A case, what came of it, and what of it has to be done again.

    ``runs`` are empty where the failure comes before anything runs; ``loads`` says whether the
    module is loaded. ``values`` are the reference's of every node at the only run, ``output`` the
    name of the output to be held against its own, ``ratio`` its largest error by bound (None:
    infinite or not known); ``wrong`` names all outputs that are wrong in that run. ``limits`` are
    those that the case was past, where it was past any; ``signal`` names the one that ends the
    process, where one is known to.
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


def limits_of(outcome: Outcome, otherwise: Limits) -> Limits:
    """The limits that ``outcome`` came under as far as it says, ``otherwise`` those given.

    A timeout says how long it was: with another deadline the case may well end.
    """
    said = _DEADLINE.search(outcome.message)
    if outcome.verdict is not Verdict.TIMEOUT or said is None:
        return otherwise
    return replace(otherwise, seconds=float(said[1]))


def reproduction(case: Case, outcome: Outcome, limits: Limits | None = None) -> Reproduction:
    """What has to be done to see ``outcome`` of ``case`` again; ``limits`` are those it ran under.

    Of several bindings only those that fail are run: where outputs are wrong, the smallest of them.

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
        mine = [one for one in failed if (one.binding, one.regime) == (run.binding, run.regime)]
        if mine:
            output, ratio = mine[0].output, mine[0].ratio
            wrong = tuple(dict.fromkeys(one.output for one in mine))
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
    """The name of the signal that ends a script that shows ``outcome``; empty where unknown."""
    if outcome.verdict is Verdict.TIMEOUT:
        # Its own timer's.
        return "SIGALRM"
    said = _ENDED_BY.match(outcome.message)
    return said[1] if said and outcome.verdict is Verdict.PROCESS_DEATH else ""


def _all_runs(case: Case) -> tuple[tuple[int, str], ...]:
    """The runs of the compiled module; what is invalid is run in its own regime only."""
    if isinstance(case.expect, Invalid):
        return tuple((index, case.regime) for index in range(len(case.bindings)))
    return case.runs


def _runs_of(case: Case, failed: list[Check]) -> list[Run]:
    """The runs that ``failed``, or the first one where none is known to."""
    wanted = [(check.binding, check.regime) for check in failed]
    found = [
        run_of(case, index, regime)
        for index, regime in case.runs
        if (case.bindings[index], regime) in wanted
    ]
    return found or [run_of(case, *case.runs[0])]


def run_of(case: Case, index: int, regime: str) -> Run:
    """The run of ``case`` at its binding number ``index``, with inputs in ``regime``."""
    return Run(index, regime, case.bindings[index], arrays(case, index, regime))


def _size(run: Run) -> int:
    return sum(array.size for array in run.inputs.values())


def _values(case: Case, run: Run) -> dict[str, Bounded]:
    """The reference's value of every node, with the bounds of the pipeline's numerics."""
    names = tuple(node.name for node in case.program.nodes)
    mixed = PIPELINES[case.pipeline].mixed_precision
    numerics = Numerics.MIXED_FLOAT16 if mixed else Numerics.OWN
    every = msgspec.structs.replace(case.program, outputs=(*names, *case.program.outputs))
    found = evaluate(static(every, run.binding), run.inputs, numerics)
    return dict(zip(every.outputs, found, strict=True))


def one_bound(wanted: Bounded, ratio: float | None) -> float | None:
    """One bound for all elements under which the failure is seen all the same, or None.

    ``ratio`` is the largest error of an element by its own bound; None stands for an infinite one.
    There is none where bounds are too unlike, or where some are infinite.
    """
    if not wanted.bound.size:
        return 0.0
    least, most = float(wanted.bound.min()), float(wanted.bound.max())
    if not np.isfinite(most):
        return None
    # Where no bound is 0 only a value that is not finite is off by infinitely many.
    seen = least > 0 and (ratio is None or ratio * least > 1.01 * most)
    return most if seen or least == most else None
