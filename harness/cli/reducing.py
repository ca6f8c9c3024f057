"""A reduction from its options to the file that it writes, and what is said of it."""

import shlex
import time
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.status import Status

from generators.families import families
from generators.program import Case, CaseError, write
from harness.cli.terminal import called_as
from harness.errors import headline
from harness.finding import kind_of, same_kind
from harness.finding import reduce as along_axes
from harness.interruption import Interruption
from harness.jobs import Limits
from harness.outcome import Outcome, Verdict
from harness.pipelines import PIPELINES
from harness.pool import Pool, PoolError
from harness.reduction.search import Keeps, Reduction, defaults_of, same_standing, search
from harness.reduction.simplicity import Defaults, Extent, extent, measure
from harness.reduction.trying import Budget, ByCommand, InWorkers, Trier, Trying, outcome_of

_BROKEN = 2
_INTERRUPTED = 130
_LINE_EVERY_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Wanted:
    """A reduction to run: of ``case``, that the user called ``name``, into ``target``."""

    name: str
    case: Case
    target: Path
    predicate: str | None
    tries: int
    seconds: float
    workers: int
    limits: Limits


def run(wanted: Wanted, console: Console) -> int:
    """Run the reduction to its end, or until it is interrupted; the exit code.

    Raises:
        CaseError: there is no failure to keep, or the result cannot be written.
        PoolError: the workers cannot start; where they cannot again, the result is written.
    """
    with Interruption() as interruption:
        console.print("Starting the workers (TVM, PyTorch and ONNX Runtime are imported) …")
        with Pool(wanted.workers, wanted.limits) as pool:
            if wanted.predicate is None:
                return reduced(wanted, InWorkers(pool), console, interruption)
            with ByCommand(wanted.predicate, pool, wanted.limits.seconds) as trier:
                return reduced(wanted, trier, console, interruption)


def reduced(wanted: Wanted, trier: Trier, console: Console, interruption: Interruption) -> int:
    """Reduce what is ``wanted`` with ``trier``, and write it; the exit code. Raises as ``run``."""
    by_name = {one.name: one for one in families(tuple(PIPELINES))}
    defaults = defaults_of(by_name.values())
    start = outcome_of(trier, wanted.case)
    check(wanted, start)
    keeps = _keeps(wanted, start)
    reduction = Reduction(wanted.case, start)
    reduction.vetted = start.reference is not None and not start.reference.unknown
    budget = Budget(wanted.tries, wanted.seconds, interruption)
    interruption.defer()
    began = time.monotonic()
    with _Show(console, defaults) as show:
        trying = Trying(trier, reduction, keeps, budget, show)
        family = by_name.get(wanted.case.family)
        broken = False
        try:
            why = trying.walk(along_axes(family, wanted.case, start)) if family else ""
            if measure(reduction.case, defaults) > measure(wanted.case, defaults):
                # The axes' defaults are no smallest sizes: all that was found were larger ones.
                reduction.case, reduction.outcome, reduction.kept = wanted.case, start, 0
            why = why or trying.search(search(reduction.case, reduction.outcome, defaults))
        except PoolError as error:
            broken, why = True, str(error)
    try:
        write(reduction.case, wanted.target)
    except OSError as error:
        raise CaseError(f"cannot write to {wanted.target}: {error.strerror}") from error
    _tell(console, wanted, reduction, defaults, why, time.monotonic() - began)
    if interruption():
        return _INTERRUPTED
    return _BROKEN if broken else 0


def check(wanted: Wanted, start: Outcome) -> None:
    """See whether there is a failure to keep.

    Raises:
        CaseError: the case cannot be read or is not what it says, or ``start`` is no failure.
    """
    if start.verdict is Verdict.HARNESS_ERROR and start.stage in ("read", "oracle"):
        raise CaseError(f"{wanted.name}: {headline(start.message)}")
    if wanted.predicate is not None:
        if start.verdict is Verdict.PASS:
            raise CaseError(
                f"{wanted.name}: the command does not find it interesting (exit code 0): "
                f"{wanted.predicate}"
            )
    elif not start.verdict.is_failure and start.verdict not in (
        Verdict.HARNESS_ERROR,
        Verdict.ORACLE_SPLIT,
    ):
        raise CaseError(
            f"{wanted.name}: nothing to reduce, its verdict is {start.verdict} with the fixes "
            f"{'on' if wanted.case.fixes else 'off'}"
        )


def _keeps(wanted: Wanted, start: Outcome) -> Keeps:
    kind = kind_of(wanted.case, start)

    def keeps(case: Case, outcome: Outcome) -> bool:
        return same_kind(case, outcome, kind) and same_standing(outcome, start)

    return keeps


class _Show:
    """Shows how far a reduction is: a live line on a terminal, a line for each step elsewhere."""

    def __init__(self, console: Console, defaults: Defaults):
        self._console = console
        self._defaults = defaults
        self._status = Status("Reducing …", console=console)
        self._kept = 0
        self._said = time.monotonic()

    def __enter__(self) -> "_Show":
        if self._console.is_terminal:
            self._status.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._status.stop()

    def __call__(self, reduction: Reduction) -> None:
        """Show ``reduction`` as it is now."""
        now = time.monotonic()
        line = (
            f"{reduction.tried} candidates run, {reduction.refused} refused by the reference, "
            f"{reduction.kept} steps kept: {_words(extent(reduction.case, self._defaults))}"
        )
        if self._console.is_terminal:
            self._status.update(line)
        elif reduction.kept > self._kept or now - self._said > _LINE_EVERY_SECONDS:
            self._console.print(line, highlight=False, soft_wrap=True)
            self._kept, self._said = reduction.kept, now


def _tell(
    console: Console,
    wanted: Wanted,
    reduction: Reduction,
    defaults: Defaults,
    why: str,
    seconds: float,
) -> None:
    outcome = reduction.outcome

    def say(line: str) -> None:
        console.print(line, markup=False, highlight=False, soft_wrap=True)

    say(f"before: {_words(extent(wanted.case, defaults))}")
    say(f"after:  {_words(extent(reduction.case, defaults))}")
    say(
        f"{reduction.tried} candidates run, {reduction.refused} refused by the reference, "
        f"{reduction.kept} steps kept, in {seconds:.0f} s"
    )
    if wanted.predicate is None:
        say(f"verdict: {outcome.verdict} in {outcome.stage}: {headline(outcome.message)}")
    if not reduction.vetted:
        why_not = outcome.reference.refused if outcome.reference else "the reference did not end"
        say(f"not vetted, so it may not be a valid program: {why_not}")
    if reduction.minimal:
        say("No further step keeps the failure.")
    else:
        say(f"Not at its end: {why}. To go on: {_further(wanted)}")
    say(f"Written to {wanted.target}; again: {_again(wanted)}")


def _further(wanted: Wanted) -> str:
    command = f"{called_as()} reduce {_quoted(wanted.target)}"
    if wanted.predicate is None:
        return command
    return f"{command} --predicate {shlex.quote(wanted.predicate)}"


def _again(wanted: Wanted) -> str:
    path = _quoted(wanted.target)
    if wanted.predicate is None:
        return f"{called_as()} replay {path}"
    if "{}" in wanted.predicate:
        return wanted.predicate.replace("{}", path)
    return f"{wanted.predicate} {path}"


def _quoted(path: Path) -> str:
    return shlex.quote(str(path))


def _words(size: Extent) -> str:
    def counted(number: int, noun: str) -> str:
        return f"{number} {noun}{'' if number == 1 else 's'}"

    return ", ".join(
        (
            counted(size.nodes, "node"),
            counted(size.inputs, "input"),
            counted(size.attributes, "attribute") + " off default",
            counted(size.symbols, "symbol"),
            counted(size.bindings, "binding"),
            f"largest dimension {size.largest_dim}",
        )
    )
