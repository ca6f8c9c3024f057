"""``relaxcheck reduce``: runs a reduction, writes the result, prints a summary."""

import contextlib
import dataclasses
import os
import shlex
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.status import Status

from relaxcheck.cli.exit_codes import BAD_INPUT, FAILED, INTERRUPTED
from relaxcheck.cli.lookup import look_up
from relaxcheck.cli.options import Switch
from relaxcheck.cli.pipelines import compiled_by
from relaxcheck.cli.terminal import called_as
from relaxcheck.extensions.naming import is_own
from relaxcheck.generators.core.case import (
    AnyCase,
    CaseError,
    encode,
    with_fixes,
    with_target,
    write,
)
from relaxcheck.harness.campaign.interruption import Interruption
from relaxcheck.harness.kinds import check_runs_on, families, of
from relaxcheck.harness.native.toolchain import chosen_target
from relaxcheck.harness.outcomes.errors import headline
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.harness.releases.releases import own, release
from relaxcheck.harness.triage.reduction.running import ReductionResult
from relaxcheck.harness.triage.reduction.running import reduced as along_all
from relaxcheck.harness.triage.reduction.search import Reduction
from relaxcheck.harness.triage.reduction.trying import (
    Budget,
    ByCommand,
    InWorkers,
    Trier,
    check_command,
    outcome_of,
)
from relaxcheck.harness.workers.jobs import Limits
from relaxcheck.harness.workers.pool import Pool
from relaxcheck.reports.kinds import rendering

_LINE_EVERY_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Wanted:
    """A reduction to run: of ``case``, which the user calls ``name``, into the file ``target``.

    ``release`` is the TVM release to run on.
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


def request(
    name: str,
    directory: Path | None,
    out: Path | None,
    *,
    predicate: str | None,
    fixes: Switch | None,
    tvm: str | None,
    target: str | None,
    pipeline: str | None,
    tries: int,
    minutes: float,
    workers: int | None,
    case_seconds: float,
) -> Wanted:
    """The reduction that these options ask for.

    Raises:
        CaseError: there is no such case, pipeline or command, or the result cannot be written.
        ExtensionError: its pipeline is a user's own, and nobody named it.
    """
    known = look_up(name, directory)
    case = compiled_by(known.case, pipeline)
    if fixes is not None:
        case = with_fixes(case, fixes is Switch.ON)
    if target is not None:
        case = with_target(case, chosen_target(target).name)
    if predicate is not None:
        check_command(predicate)
    result = out or Path(f"reduced-{case.identifier}.json")
    if result.is_dir() or not os.access(result.parent, os.W_OK):
        raise CaseError(f"cannot write to {result}")
    return Wanted(
        name,
        case,
        result,
        predicate,
        tries,
        minutes * 60,
        workers or len(os.sched_getaffinity(0)),
        Limits(seconds=case_seconds),
        tvm or known.environment.get("release", own().name),
    )


def run(wanted: Wanted, console: Console) -> int:
    """Run the reduction to its end, or until it is interrupted; the exit code.

    Raises:
        CaseError: there is no failure to keep, or the result had to be written elsewhere.
        ReleaseError: the release is not installed.
        PoolError: the workers cannot start. Where they die later, the result so far is written.
    """
    on = release(wanted.release, alone=True)
    check_runs_on(wanted.case, on, wanted.name)
    with Interruption() as interruption:
        console.print("Starting workers: importing TVM, PyTorch and ONNX Runtime …")
        with Pool(wanted.workers, wanted.limits, release=on) as pool:
            if wanted.predicate is None:
                return reduced(wanted, InWorkers(pool), console, interruption)
            with ByCommand(wanted.predicate, pool, wanted.limits.seconds) as trier:
                return reduced(wanted, trier, console, interruption)


def reduced(wanted: Wanted, trier: Trier, console: Console, interruption: Interruption) -> int:
    """Reduce with ``trier`` and write the result; the exit code. Raises as ``run``."""
    known = families()
    start = outcome_of(trier, wanted.case)
    check(wanted, start)
    budget = Budget(wanted.tries, wanted.seconds, interruption)
    interruption.defer()
    began = time.monotonic()
    with _Show(console) as show:
        ended = along_all(wanted.case, start, trier, known, budget, show)
    target, trouble = written(ended.reduction.case, wanted.target)
    at = dataclasses.replace(wanted, target=target)
    _tell(console, at, ended, time.monotonic() - began)
    if trouble:
        raise CaseError(f"{trouble}; written to {target} instead")
    if interruption():
        return INTERRUPTED
    if ended.broken:
        return BAD_INPUT
    return FAILED if ended.stable is False else 0


def written(case: AnyCase, target: Path) -> tuple[Path, str]:
    """Write ``case`` to ``target``, or elsewhere; the file, and the error that ``target`` gave.

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
    """Check that the case can be reduced, and that ``start`` is a failure to keep.

    Raises:
        CaseError: the case is malformed or a batch, or ``start`` is no failure.
    """
    kind = of(wanted.case)
    if kind.is_batch(wanted.case):
        raise CaseError(
            f"{wanted.name} is a batch of {kind.count(wanted.case)} {kind.name}s; those that "
            "failed are cases of their own: reduce one of them"
        )
    if start.verdict is Verdict.HARNESS_ERROR and start.stage in ("read", "oracle"):
        raise CaseError(f"{wanted.name}: {headline(start.message)}")
    if wanted.predicate is not None:
        if start.verdict is Verdict.PASS:
            raise CaseError(
                f"{wanted.name}: the command does not exit with 0 for this case: {wanted.predicate}"
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
    """Shows progress: a live line on a terminal, a line for each step elsewhere."""

    def __init__(self, console: Console):
        self._console = console
        self._status = Status("Reducing …", console=console)
        self._kept = 0
        self._printed_at = time.monotonic()

    def __enter__(self) -> "_Show":
        if self._console.is_terminal:
            self._status.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._status.stop()

    def __call__(self, reduction: Reduction) -> None:
        """Show the state of ``reduction``."""
        now = time.monotonic()
        line = (
            f"{reduction.tried} candidates run, {reduction.refused} invalid for the reference, "
            f"{reduction.kept} steps kept: {_extent(reduction.case)}"
        )
        if self._console.is_terminal:
            self._status.update(line)
        elif reduction.kept > self._kept or now - self._printed_at > _LINE_EVERY_SECONDS:
            self._console.print(line, highlight=False, soft_wrap=True)
            self._kept, self._printed_at = reduction.kept, now


def _tell(
    console: Console,
    wanted: Wanted,
    ended: ReductionResult,
    seconds: float,
) -> None:
    reduction, outcome = ended.reduction, ended.reduction.outcome

    def say(line: str) -> None:
        console.print(line, markup=False, highlight=False, soft_wrap=True)

    say(f"before: {_extent(wanted.case)}")
    say(f"after:  {_extent(reduction.case)}")
    say(
        f"{reduction.tried} candidates run, {reduction.refused} invalid for the reference, "
        f"{reduction.kept} steps kept, in {seconds:.0f} s"
    )
    if wanted.predicate is None:
        say(f"verdict: {outcome.verdict} in {outcome.stage}: {headline(outcome.message)}")
    if not reduction.vetted:
        why_not = outcome.reference.refused if outcome.reference else "the reference did not end"
        say(f"This may not be a valid program, the reference did not vet it: {why_not}")
    if reduction.familiar:
        say("No further step kept the failure. Then sizes that people use replaced smaller ones.")
    elif reduction.minimal:
        say("No further step keeps the failure.")
    else:
        say(f"Stopped early: {ended.why}. To continue: {_further(wanted)}")
    if ended.again is None:
        say("Not run again in a new process.")
    elif ended.stable:
        say("Fails in the same way in a new process.")
    else:
        now = ended.again
        actual = f"{now.verdict} in {now.stage}: {headline(now.message)}"
        say(f"Does NOT fail in the same way in a new process: {actual}.")
    say(f"Written to {wanted.target}. To run it: {_again(wanted)}")


def _further(wanted: Wanted) -> str:
    command = f"{called_as()} reduce {_quoted(wanted.target)}{_own_pipeline(wanted.case)}"
    if wanted.predicate is None:
        return command
    return f"{command} --predicate {shlex.quote(wanted.predicate)}"


def _again(wanted: Wanted) -> str:
    path = _quoted(wanted.target)
    if wanted.predicate is None:
        return f"{called_as()} replay {path}{_own_pipeline(wanted.case)}"
    if "{}" in wanted.predicate:
        return wanted.predicate.replace("{}", path)
    return f"{wanted.predicate} {path}"


def _own_pipeline(case: AnyCase) -> str:
    """The option that names the user's own pipeline of ``case``; "" if it has none."""
    name = str(getattr(case, "pipeline", ""))
    return f" --pipeline {name}" if is_own(name) else ""


def _quoted(path: Path) -> str:
    return shlex.quote(str(path))


def _extent(case: AnyCase) -> str:
    return rendering(case).extent(case)
