"""The command line: ``relaxcheck fuzz``, ``relaxcheck replay``, ``relaxcheck families``."""

import contextlib
import os
import random
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Annotated

import msgspec
import typer
from rich.console import Console
from rich.table import Table

from generators.families import families as all_families
from generators.program import Case, CaseError, read
from harness.campaign import Campaign, Plan, State
from harness.corpus import CORPUS
from harness.display import Display
from harness.drawing import keep_hypothesis_in, stream
from harness.errors import headline
from harness.gaps import known_gaps
from harness.journal import FILE_NAME, Journal, JournalError, Mode
from harness.options import Options, Switch, check_versions, chosen, resumed
from harness.outcome import Outcome, Verdict
from harness.pipelines import PIPELINES
from harness.pool import Job, Limits, Pool, PoolError
from reports.page import write_page
from reports.summary import campaign_summary

EXIT_CODES = """Exit codes: 0 nothing failed (replay: the recorded verdict came again); 1 findings
(replay: another verdict); 2 bad input, or the workers cannot start; 3 a fault of relaxcheck itself;
130 interrupted."""

RUNS = Path("runs")

_SHOWN = 10
"""Cases that a dry run shows."""

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Differential fuzzing and conformance testing of Apache TVM Relax on CPU.",
    epilog=EXIT_CODES,
)


_PLAIN_WIDTH = 120
"""Columns where there is no terminal to ask."""


def _console() -> Console:
    return Console(width=None if sys.stdout.isatty() else _PLAIN_WIDTH)


@app.command(epilog=EXIT_CODES)
def fuzz(
    family: Annotated[
        list[str] | None, typer.Argument(help="Families to draw from (default: all).")
    ] = None,
    minutes: Annotated[float, typer.Option(min=0.01, help="How long to draw new cases.")] = 5,
    cases: Annotated[int | None, typer.Option(min=1, help="End after this many cases.")] = None,
    fixes: Annotated[
        Switch | None, typer.Option(help="Run TVM with or without the fixes (default: off).")
    ] = None,
    workers: Annotated[int, typer.Option(min=1, help="Worker processes.")] = os.cpu_count() or 1,
    seed: Annotated[int | None, typer.Option(help="The same seed draws the same cases.")] = None,
    out: Annotated[
        Path | None, typer.Option(help="Where to write (default: a new folder in runs/).")
    ] = None,
    resume: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Go on with the campaign in DIR, where it stopped."),
    ] = None,
    case_seconds: Annotated[float, typer.Option(min=0.1, help="Deadline of one case.")] = 60,
    uniform: Annotated[
        bool, typer.Option("--uniform", help="Do not steer towards what was not drawn yet.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be done, draw ten cases, run nothing.")
    ] = False,
) -> None:
    """Draw programs, compile and run them with TVM, compare with PyTorch and ONNX Runtime.

    Everything is written to a journal before it runs; Ctrl-C loses nothing. What failed is grouped
    by cause, reduced, confirmed in a fresh process and listed with the command that replays it.
    """
    console = _console()
    with _one_line_errors():
        if resume is not None:
            given = {
                "FAMILY": family,
                "--fixes": fixes,
                "--seed": seed,
                "--out": out,
                "--uniform": uniform or None,
            }
            options = resumed(resume, [name for name, value in given.items() if value is not None])
        else:
            switch = fixes or Switch.OFF
            stamp = datetime.now(UTC).strftime("%Y-%m-%d-%H%M%S")
            options = Options(
                chosen(family),
                random.SystemRandom().randrange(2**31) if seed is None else seed,
                switch,
                uniform,
                out or RUNS / f"{stamp}-fixes-{switch.value}",
            )
        plan = options.plan(minutes * 60, cases)
        if dry_run:
            with tempfile.TemporaryDirectory() as nowhere:
                keep_hypothesis_in(Path(nowhere))
                _describe(console, plan)
            return
        directory = options.directory
        gaps = known_gaps()
        with Journal(directory, Mode.RESUME if resume else Mode.NEW) as journal:
            keep_hypothesis_in(directory / "hypothesis")
            console.print("Starting the workers (TVM, PyTorch and ONNX Runtime are imported) …")
            with Pool(workers, Limits(seconds=case_seconds)) as pool:
                if resume:
                    check_versions(directory, journal.description, pool.environment)
                journal.describe({**pool.environment, **options.description})
                console.print(
                    f"apache-tvm {pool.environment['apache-tvm']}, fixes {options.fixes.value}, "
                    f"seed {plan.seed}, {workers} workers, {minutes:g} minutes → {directory}",
                    highlight=False,
                    soft_wrap=True,
                )
                campaign = Campaign(plan, pool, journal, gaps)
                interrupted = _run(console, campaign)
                said = campaign.state.gaps.lines(gaps, datetime.now(UTC).date().isoformat())
                page = write_page(
                    directory,
                    journal.description,
                    tuple(campaign.state.findings.values()),
                    campaign.state.verdicts,
                    campaign.state.special,
                    said,
                    _command(),
                )
        _conclude(console, campaign.state, said, page, options.fixes)
        raise typer.Exit(130 if interrupted else _exit_code(campaign.state))


@app.command(epilog=EXIT_CODES)
def replay(
    case: Annotated[str, typer.Argument(help="A case file, a corpus entry, or a case's id.")],
    fixes: Annotated[
        Switch | None, typer.Option(help="Override whether the fixes are installed.")
    ] = None,
    directory: Annotated[
        Path | None, typer.Option("--dir", help="The campaign to look in (default: all in runs/).")
    ] = None,
    case_seconds: Annotated[float, typer.Option(min=0.1, help="Deadline of the case.")] = 60,
) -> None:
    """Run one case again in a fresh process and say what comes of it."""
    console = _console()
    with _one_line_errors():
        found, recorded = _find(case, directory)
        if fixes is not None and found.fixes is not (fixes is Switch.ON):
            found = msgspec.structs.replace(found, fixes=fixes is Switch.ON)
            recorded = None
        with Pool(1, Limits(seconds=case_seconds)) as pool:
            pool.submit(Job(found, fresh=True))
            ((_, outcome),) = pool.drain()
            if outcome.verdict is Verdict.HARNESS_ERROR and outcome.stage == "read":
                raise CaseError(f"{case}: {outcome.message}")
            _tell(console, found, outcome, pool.environment)
        if outcome.verdict is Verdict.HARNESS_ERROR:
            raise typer.Exit(3)
        if recorded is None:
            raise typer.Exit(int(outcome.verdict.is_failure))
        same = recorded.verdict is outcome.verdict
        console.print(
            f"recorded verdict: {recorded.verdict} — {'the same' if same else 'another one'}"
        )
        raise typer.Exit(0 if same else 1)


@app.command()
def families() -> None:
    """List the families and their axes: everything that a campaign varies."""
    console = _console()
    for one in all_families(tuple(PIPELINES)):
        table = Table(title=one.name, title_justify="left")
        table.add_column("axis", no_wrap=True)
        table.add_column("default", no_wrap=True)
        table.add_column("values")
        for axis in one.axes:
            values = ", ".join(str(value) for value in axis.values[:24])
            more = f", … ({len(axis.values)} in all)" if len(axis.values) > 24 else ""
            table.add_row(axis.name, str(axis.default), values + more)
        console.print(table)


def _describe(console: Console, plan: Plan) -> None:
    for one in plan.families:
        size = " × ".join(str(len(axis.values)) for axis in one.axes)
        console.print(f"[b]{one.name}[/b]: {len(one.axes)} axes ({size} values)", highlight=False)
    console.print(
        f"fixes {'on' if plan.fixes else 'off'}, seed {plan.seed}, {plan.seconds / 60:g} minutes; "
        "the first cases would be:",
        highlight=False,
    )
    for drawn in islice(stream(plan.families, plan.seed, uniform=plan.uniform), _SHOWN):
        case = msgspec.structs.replace(drawn, fixes=plan.fixes)
        calls = ", ".join(node.operator for node in case.program.nodes)
        console.print(f"  {case.identifier}  {case.pipeline}  {calls}", highlight=False)


def _run(console: Console, campaign: Campaign) -> bool:
    """Run the campaign to its end; True if the user interrupted it."""
    # Also where a shell started this in the background, with interrupts ignored.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)
    try:
        with Display(console, campaign.plan.families, campaign.plan.seconds) as display:
            campaign.run(display)
    except KeyboardInterrupt:
        return True
    return False


def _conclude(
    console: Console, state: State, gaps: dict[str, int], page: Path, fixes: Switch
) -> None:
    findings = tuple(state.findings.values())
    console.print(
        campaign_summary(
            findings, state.verdicts, state.special, gaps, state.oracle_counts, _command()
        )
    )
    before = f" ({state.taken_up} of them before this run)" if state.taken_up else ""
    console.print(
        f"{state.cases} cases{before}, {state.checks} checks, {state.trials} further runs to find "
        f"causes, {state.elapsed:.0f} s; fixes {fixes.value}.",
        highlight=False,
    )
    if state.investigating:
        console.print(
            f"{state.investigating} failures were not looked into; they are in the journal."
        )
    console.print(
        f"Written to {page} and {page.parent / FILE_NAME}", highlight=False, soft_wrap=True
    )


def _command() -> str:
    """How the user can call this program again: by name if it is on the path, else by its file."""
    called = Path(sys.argv[0])
    if called.suffix == ".py":
        return "python -m harness.cli"
    return called.name if shutil.which(called.name) else os.path.relpath(called)


def _exit_code(state: State) -> int:
    # Verdicts, not findings: what failed last may not have been looked into.
    met = state.verdicts + state.special
    if Verdict.HARNESS_ERROR in met:
        return 3
    return int(any(verdict.is_failure for verdict in met))


def _find(wanted: str, directory: Path | None) -> tuple[Case, Outcome | None]:
    """The case that ``wanted`` names, and its recorded outcome if there is one."""
    path = Path(wanted)
    if path.suffix == ".json" or path.is_file():
        return read(path), None
    entry = CORPUS / wanted / "case.json"
    if entry.is_file():
        return read(entry), None
    places = [one.parent for one in sorted(RUNS.glob(f"*/{FILE_NAME}"), reverse=True)]
    unread: list[str] = []
    for folder in [directory] if directory else places:
        try:
            with Journal(folder, Mode.READ) as journal, contextlib.suppress(KeyError):
                recorded = journal.find(wanted)
                return recorded.case, recorded.outcome
        except JournalError as error:
            if directory:
                raise
            unread.append(str(error))
    for entry in sorted(CORPUS.glob("*/case.json")):
        case = read(entry)
        if case.identifier.startswith(wanted):
            return case, None
    raise CaseError(
        f"no case {wanted!r}: it is no file, no corpus entry, and in no campaign under "
        f"{directory or RUNS}/ (give the campaign's folder with --dir)"
        + "".join(f"; not looked into: {one}" for one in unread)
    )


def _tell(console: Console, case: Case, outcome: Outcome, environment: dict[str, str]) -> None:
    good = outcome.verdict in (Verdict.PASS, Verdict.REJECTED)
    style = "bold green" if good else "bold red"
    console.print(
        f"case {case.identifier} ({case.family}, pipeline {case.pipeline}, "
        f"fixes {'on' if case.fixes else 'off'}, apache-tvm {environment['apache-tvm']})"
    )
    console.print(f"verdict: [{style}]{outcome.verdict}[/{style}]")
    if outcome.stage:
        console.print(f"stage: {outcome.stage}")
    if outcome.oracles:
        console.print(f"oracles: {', '.join(outcome.oracles)}")
    for name, reason in outcome.unsupported_oracles.items():
        console.print(f"not run: {name} ({reason})", markup=False)
    if outcome.message:
        console.print(headline(outcome.message), markup=False, highlight=False)


@contextlib.contextmanager
def _one_line_errors() -> Iterator[None]:
    """Bad input and a full disk are one line and exit code 2, never a traceback."""
    try:
        yield
    except (CaseError, JournalError, PoolError) as error:
        Console(stderr=True).print(f"relaxcheck: {error}", markup=False, soft_wrap=True)
        sys.exit(2)


if __name__ == "__main__":
    app()
