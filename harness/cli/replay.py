"""``relaxcheck replay``."""

from pathlib import Path
from typing import Annotated

import msgspec
import typer
from rich.console import Console

from generators.program import Case, CaseError
from harness.cli.lookup import look_up
from harness.cli.terminal import console, one_line_errors
from harness.errors import headline
from harness.jobs import Job, Limits
from harness.options import Switch
from harness.outcome import Outcome, Verdict
from harness.pool import Pool
from harness.releases import own, release


def replay(
    case: Annotated[str, typer.Argument(help="A case file, a corpus entry, or a case's id.")],
    fixes: Annotated[
        Switch | None, typer.Option(help="Override whether the fixes are installed.")
    ] = None,
    tvm: Annotated[
        str | None,
        typer.Option(
            metavar="RELEASE",
            help="Run it on this TVM release (default: the one that it was recorded with, or that "
            "of this environment; see relaxcheck releases).",
        ),
    ] = None,
    directory: Annotated[
        Path | None, typer.Option("--dir", help="The campaign to look in (default: all in runs/).")
    ] = None,
    case_seconds: Annotated[float, typer.Option(min=0.1, help="Deadline of the case.")] = 60,
) -> None:
    """Run one case again in a fresh process and say what comes of it."""
    out = console()
    with one_line_errors():
        known = look_up(case, directory)
        found, recorded = known.case, known.outcome
        chosen = known.environment.get("release", own().name)
        if tvm is not None and tvm != chosen:
            chosen, recorded = tvm, None
        if fixes is not None and found.fixes is not (fixes is Switch.ON):
            found = msgspec.structs.replace(found, fixes=fixes is Switch.ON)
            recorded = None
        with Pool(1, Limits(seconds=case_seconds), release=release(chosen)) as pool:
            pool.submit(Job(found, fresh=True))
            ((_, outcome),) = pool.drain()
            if outcome.verdict is Verdict.HARNESS_ERROR and outcome.stage == "read":
                raise CaseError(f"{case}: {outcome.message}")
            _tell(out, found, outcome, pool.environment)
        if outcome.verdict is Verdict.HARNESS_ERROR:
            raise typer.Exit(3)
        if recorded is None:
            raise typer.Exit(int(outcome.verdict.is_failure))
        same = recorded.verdict is outcome.verdict
        out.print(f"recorded verdict: {recorded.verdict} — {'the same' if same else 'another one'}")
        raise typer.Exit(0 if same else 1)


def _tell(out: Console, case: Case, outcome: Outcome, environment: dict[str, str]) -> None:
    good = outcome.verdict in (Verdict.PASS, Verdict.REJECTED)
    style = "bold green" if good else "bold red"
    out.print(
        f"case {case.identifier} ({case.family}, pipeline {case.pipeline}, "
        f"fixes {'on' if case.fixes else 'off'}, apache-tvm {environment['apache-tvm']})"
    )
    out.print(f"verdict: [{style}]{outcome.verdict}[/{style}]")
    if outcome.stage:
        out.print(f"stage: {outcome.stage}")
    if outcome.oracles:
        out.print(f"oracles: {', '.join(outcome.oracles)}")
    for name, reason in outcome.unsupported_oracles.items():
        out.print(f"not run: {name} ({reason})", markup=False)
    if outcome.message:
        out.print(headline(outcome.message), markup=False, highlight=False)
