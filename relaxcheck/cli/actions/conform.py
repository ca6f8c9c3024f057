"""``relaxcheck conform``: runs both pipelines, prints where the user's is worse."""

import os
import re
import shlex
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.status import Status

from relaxcheck.cli.exit_codes import FAILED, FAULT, INTERRUPTED
from relaxcheck.cli.options import Switch
from relaxcheck.cli.pipelines import named_by_user
from relaxcheck.cli.terminal import RUNS, called_as, check_writable, console
from relaxcheck.extensions import entry_points
from relaxcheck.extensions.naming import digest, is_own
from relaxcheck.generators.core.case import CaseError, write
from relaxcheck.generators.targets import LLVM
from relaxcheck.harness import kinds
from relaxcheck.harness.campaign.interruption import Interruption
from relaxcheck.harness.conforming.cases import cases as cases_of
from relaxcheck.harness.conforming.comparing import (
    Cell,
    Difference,
    Pair,
    Standing,
    differences,
)
from relaxcheck.harness.conforming.running import Comparison, by, compared, looked_into
from relaxcheck.harness.outcomes.keeping import Kept, sources_of
from relaxcheck.harness.outcomes.outcome import Verdict
from relaxcheck.harness.releases.releases import own, release
from relaxcheck.harness.wording import plural
from relaxcheck.harness.workers.jobs import Limits
from relaxcheck.harness.workers.pool import Pool
from relaxcheck.reports.tables.conformity import better, counts, lines

_ROOMS = ("fixes", "generators", "harness", "oracles")
"""The modules of ours that decide how a case ends; the outcomes of other ones run again."""

_THEIRS, _TVMS, _CASES = "yours.jsonl", "tvms.jsonl", "cases"
"""The files of results in the folder of a run, and the folder of cases that differ."""

_LINE_EVERY_SECONDS = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """The options of the command line; None where one was not given."""

    pipeline: str
    against: str
    families: list[str] | None
    max_cases: int | None
    fixes: Switch
    tvm: str | None
    out: Path | None
    anew: bool
    workers: int | None
    case_seconds: float


def conform(request: Request) -> int:
    """Run the cases and print the differences; the exit code.

    Raises:
        CaseError: there is no such pipeline or family, or the folder cannot be written.
        ExtensionError: the user's function cannot be found.
        PoolError: the workers cannot start.
    """
    screen = console()
    theirs, tvms = _pipelines(request)
    folder = request.out or RUNS / f"conform-{re.sub(r'[^A-Za-z0-9_.]+', '-', theirs)}"
    check_writable(folder)
    wanted = _comparison(request, theirs, tvms, folder)
    on = request.fixes is Switch.ON
    cases = [
        by(case, theirs)
        for case in cases_of(request.families, tvms, fixes=on, most=request.max_cases)
    ]
    screen.print("Starting workers: importing TVM, PyTorch and ONNX Runtime …")
    pairs: list[Pair] = []
    found: tuple[Difference, ...] = ()
    interrupted = False
    size = request.workers or len(os.sched_getaffinity(0))
    limits = Limits(seconds=request.case_seconds)
    # Whatever asks it to end, it tells where it is.
    with Interruption(), Pool(size, limits, release=release(wanted.release)) as pool:
        screen.print(
            f"{plural(len(cases), 'case')} by {tvms} and by {theirs}, TVM "
            f"{pool.environment['apache-tvm']}, fixes {request.fixes} → {folder}",
            highlight=False,
            soft_wrap=True,
        )
        show = Show(screen)
        try:
            with show:
                for pair in compared(wanted, cases, pool, show):
                    pairs.append(pair)
                    show.differ += pair.standing is Standing.WORSE
                found = looked_into(wanted, pairs, pool, show)
        except KeyboardInterrupt:
            interrupted, found = True, differences(pairs)
        except OSError as error:
            raise CaseError(f"cannot write to {folder}: {error.strerror}") from error
    _tell(screen, wanted, pairs, found, folder)
    if interrupted:
        left = f"{len(pairs):,} of {plural(len(cases), 'case')} compared"
        screen.print(f"Interrupted: {left}; the same command goes on.", highlight=False)
        return INTERRUPTED
    return _exit_code(pairs)


def _pipelines(request: Request) -> tuple[str, str]:
    """The names of the user's pipeline and of TVM's."""
    theirs, tvms = (named_by_user([name]) for name in (request.pipeline, request.against))
    for (name, *more), option in ((theirs, "--pipeline"), (tvms, "--against")):
        if more or name not in kinds.pipelines():
            known = ", ".join(kinds.pipelines(LLVM))
            raise CaseError(f"{option} {name}: give package:function, or one of {known}")
    if theirs == tvms:
        raise CaseError(f"--pipeline and --against are both {theirs[0]}")
    return theirs[0], tvms[0]


def _comparison(request: Request, theirs: str, tvms: str, folder: Path) -> Comparison:
    files = [folder / _THEIRS, folder / _TVMS]
    for file in files if request.anew else ():
        file.unlink(missing_ok=True)
    # A deadline decides what a timeout is.
    ours = f"{sources_of(_ROOMS)}{entry_points.sources()}{request.case_seconds:g}"
    kept = [
        Kept(file, Cell, ours + (digest(name) if is_own(name) else ""))
        for file, name in zip(files, (theirs, tvms), strict=True)
    ]
    return Comparison(theirs, tvms, request.tvm or own().name, *kept)


class Show:
    """Shows progress: a live line on a terminal, a line every ten seconds elsewhere."""

    def __init__(self, screen: Console) -> None:
        self._screen = screen
        self._status = Status("", console=screen)
        self._printed_at = time.monotonic()
        self.differ = 0

    def __enter__(self) -> "Show":
        if self._screen.is_terminal:
            self._status.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._status.stop()

    def __call__(self, phase: str, done: int, total: int) -> None:
        """Show that ``done`` of ``total`` of the ``phase`` are done."""
        line = f"{done:,} of {plural(total, 'case')}, {self.differ:,} worse by yours"
        if phase == "causes":
            line = f"looking into cause {done + 1} of {total}"
        if self._screen.is_terminal:
            self._status.update(line)
        elif phase == "causes" or time.monotonic() - self._printed_at > _LINE_EVERY_SECONDS:
            self._screen.print(line, highlight=False)
            self._printed_at = time.monotonic()


def _tell(
    screen: Console,
    wanted: Comparison,
    pairs: Sequence[Pair],
    found: Sequence[Difference],
    folder: Path,
) -> None:
    def say(line: str) -> None:
        screen.print(line, markup=False, highlight=False, soft_wrap=True)

    screen.print(counts(pairs))
    if reused := wanted.kept_theirs.reused + wanted.kept_tvms.reused:
        say(f"{plural(reused, 'result')} of earlier runs; --anew runs them again.")
    for pair in pairs:
        for cell in (pair.theirs, pair.tvms):
            if cell.verdict is Verdict.HARNESS_ERROR:
                say(f"a fault of relaxcheck itself: {pair.case.identifier}: {cell.message}")
    if line := better(pairs):
        say(line)
    if not found:
        return
    (folder / _CASES).mkdir(parents=True, exist_ok=True)
    commands = {}
    for each in found:
        path = folder / _CASES / f"{each.example.identifier}.json"
        write(each.example, path)
        replay = f"{called_as()} replay {shlex.quote(str(path))} --pipeline {wanted.theirs}"
        commands[each.example.identifier] = replay
    say(f"Worse by {wanted.theirs} than by {wanted.tvms}:")
    for line in lines(found, commands):
        say(line)


def _exit_code(pairs: Sequence[Pair]) -> int:
    if any(
        cell.verdict is Verdict.HARNESS_ERROR for pair in pairs for cell in (pair.theirs, pair.tvms)
    ):
        return FAULT
    return FAILED if any(pair.standing is Standing.WORSE for pair in pairs) else 0
