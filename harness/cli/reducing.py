"""A reduction from its options to the file that it writes, and what is said of it."""

import contextlib
import dataclasses
import shlex
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.status import Status

from generators.cases import AnyCase
from generators.expression_cases import Block, Member
from generators.expression_cases import extent as extent_of
from generators.families import every
from generators.program import Case, CaseError, encode, write
from harness.cli.terminal import called_as
from harness.errors import headline
from harness.interruption import Interruption
from harness.jobs import Limits
from harness.outcome import Outcome, Verdict
from harness.pipelines import PIPELINES
from harness.pool import Pool
from harness.reduction.running import Ended
from harness.reduction.running import reduced as along_all
from harness.reduction.search import Reduction, defaults_of
from harness.reduction.simplicity import Defaults, Extent, extent
from harness.reduction.trying import Budget, ByCommand, InWorkers, Trier, outcome_of
from harness.releases import release

_UNSTABLE = 1
_BROKEN = 2
_INTERRUPTED = 130
_LINE_EVERY_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Wanted:
    """A reduction to run: of ``case``, that the user called ``name``, into ``target``.

    It runs on the TVM release ``release``.
    """

    name: str
    case: AnyCase
    target: Path
    predicate: str | None
    tries: int
    seconds: float
    workers: int
    limits: Limits
    release: str


def run(wanted: Wanted, console: Console) -> int:
    """Run the reduction to its end, or until it is interrupted; the exit code.

    Raises:
        CaseError: there is no failure to keep, or the result was written elsewhere than wanted.
        ReleaseError: the release is not installed.
        PoolError: the workers cannot start; where they cannot again, the result is written.
    """
    with Interruption() as interruption:
        console.print("Starting the workers (TVM, PyTorch and ONNX Runtime are imported) …")
        with Pool(wanted.workers, wanted.limits, release=release(wanted.release)) as pool:
            if wanted.predicate is None:
                return reduced(wanted, InWorkers(pool), console, interruption)
            with ByCommand(wanted.predicate, pool, wanted.limits.seconds) as trier:
                return reduced(wanted, trier, console, interruption)


def reduced(wanted: Wanted, trier: Trier, console: Console, interruption: Interruption) -> int:
    """Reduce what is ``wanted`` with ``trier``, and write it; the exit code. Raises as ``run``."""
    known = every(tuple(PIPELINES))
    defaults = defaults_of(known)
    start = outcome_of(trier, wanted.case)
    check(wanted, start)
    budget = Budget(wanted.tries, wanted.seconds, interruption)
    interruption.defer()
    began = time.monotonic()
    with _Show(console, defaults) as show:
        ended = along_all(wanted.case, start, trier, known, budget, show)
    target, trouble = written(ended.reduction.case, wanted.target)
    at = dataclasses.replace(wanted, target=target)
    _tell(console, at, ended, defaults, time.monotonic() - began)
    if trouble:
        raise CaseError(f"{trouble}; written to {target} instead")
    if interruption():
        return _INTERRUPTED
    if ended.broken:
        return _BROKEN
    return _UNSTABLE if ended.stable is False else 0


def written(case: AnyCase, target: Path) -> tuple[Path, str]:
    """Write ``case`` to ``target``, or elsewhere if that cannot be; where, and what was in the way.

    Raises:
        CaseError: there is no room anywhere; the message holds the case.
    """
    trouble = ""
    for path in (target, Path(target.name), Path(tempfile.gettempdir(), target.name)):
        unfinished = path.with_name(f"{path.name}.new")
        try:
            write(case, unfinished)
            unfinished.replace(path)
        except OSError as error:
            trouble = trouble or f"cannot write to {target}: {error.strerror}"
            with contextlib.suppress(OSError):
                unfinished.unlink(missing_ok=True)
            continue
        return path, trouble
    raise CaseError(f"{trouble}; the result is {encode(case).decode()}")


def check(wanted: Wanted, start: Outcome) -> None:
    """See whether there is a failure to keep, and whether it is of a case that can be reduced.

    Raises:
        CaseError: the case cannot be read or is not what it says, or ``start`` is no failure.
    """
    if isinstance(wanted.case, Block):
        raise CaseError(
            f"{wanted.name} is a block of {wanted.case.count} expressions; those of them that "
            "failed are cases of their own"
        )
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
            f"{reduction.kept} steps kept: {_words(reduction.case, self._defaults)}"
        )
        if self._console.is_terminal:
            self._status.update(line)
        elif reduction.kept > self._kept or now - self._said > _LINE_EVERY_SECONDS:
            self._console.print(line, highlight=False, soft_wrap=True)
            self._kept, self._said = reduction.kept, now


def _tell(
    console: Console,
    wanted: Wanted,
    ended: Ended,
    defaults: Defaults,
    seconds: float,
) -> None:
    reduction, outcome = ended.reduction, ended.reduction.outcome

    def say(line: str) -> None:
        console.print(line, markup=False, highlight=False, soft_wrap=True)

    say(f"before: {_words(wanted.case, defaults)}")
    say(f"after:  {_words(reduction.case, defaults)}")
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
        say(f"Not at its end: {ended.why}. To go on: {_further(wanted)}")
    if ended.again is None:
        say("It was not run once more.")
    elif ended.stable:
        say("It came again in a new process.")
    else:
        now = ended.again
        what = f"{now.verdict} in {now.stage}: {headline(now.message)}"
        say(f"It did NOT come again in a new process, where it is {what}.")
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


def _words(case: AnyCase, defaults: Defaults) -> str:
    """How big ``case`` is."""
    if isinstance(case, Case):
        return _of_program(extent(case, defaults))
    if isinstance(case, Member):
        return f"{extent_of(case)}: {case.subject.expression}"
    return f"{case.count} expressions"


def _of_program(size: Extent) -> str:
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
