"""``relaxcheck replay``."""

import contextlib
from pathlib import Path
from typing import Annotated

import msgspec
import typer
from rich.console import Console

from generators.program import Case, CaseError, read
from harness.cli.terminal import RUNS, console, one_line_errors
from harness.corpus import CORPUS
from harness.errors import headline
from harness.jobs import Job, Limits
from harness.journal import FILE_NAME, Journal, JournalError, Mode
from harness.options import Switch
from harness.outcome import Outcome, Verdict
from harness.pool import Pool


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
    out = console()
    with one_line_errors():
        found, recorded = _find(case, directory)
        if fixes is not None and found.fixes is not (fixes is Switch.ON):
            found = msgspec.structs.replace(found, fixes=fixes is Switch.ON)
            recorded = None
        with Pool(1, Limits(seconds=case_seconds)) as pool:
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
