"""``relaxcheck known``: the failures that are declared as known."""

import re
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Annotated

import typer
from rich import box
from rich.table import Table
from rich.text import Text

from generators.axes import Family
from generators.cases import AnyCase
from generators.families import every
from generators.program import CaseError, Valid
from harness.cli.lookup import Found, look_up
from harness.cli.terminal import EXIT_CODES, console, one_line_errors
from harness.errors import headline
from harness.finding import Finding
from harness.fingerprint import fingerprint
from harness.gaps import FILE, Gap, Known, KnownFinding, declared, write_declared
from harness.jobs import Job, Limits
from harness.known import Expectations
from harness.met import Met, utc_today
from harness.outcome import Verdict
from harness.pipelines import PIPELINES
from harness.pool import Pool
from harness.releases import own, release

EPILOG = f"""What is declared as known, in corpus/{FILE.name}, is expected by campaigns, the
conformance suite, the matrix and replay: only what is new gives exit code 1. What does not fail any
more is told as fixed; after its date it is not expected any more.

Examples:

  relaxcheck known add 3f2a9c1b --issue https://github.com/apache/tvm/issues/1 --expires 2027-06-30

  relaxcheck known add runs/conformance/CASE.json --expires 2027-06-30 --reason 'needs C++'

  relaxcheck replay corpus/{FILE.name}      # do they still fail?

  relaxcheck known remove NAME

{EXIT_CODES}"""

app = typer.Typer(help="Failures that are declared as known; without a command: which there are.")


@app.callback(invoke_without_command=True, epilog=EPILOG)
def known(context: typer.Context) -> None:
    """List what is declared as known, or change it (add, remove)."""
    if context.invoked_subcommand is None:
        list_known()


@app.command("list", epilog=EPILOG)
def list_known() -> None:
    """List what is declared as known."""
    with one_line_errors():
        out = console()
        found = declared()
        if not found:
            out.print("Nothing is declared as known.")
            return
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
        for column in ("name", "verdict", "operator", "when", "on", "expires"):
            table.add_column(column, overflow="fold")
        for one in found:
            late = one.expired(utc_today())
            expires = Text(f"{one.expires}: expired" if late else one.expires)
            expires.stylize("bold red" if late else "")
            table.add_row(
                Text(one.name), Text(one.verdict), Text(one.operator), _when(one), _on(one), expires
            )
        out.print(table)
        for one in found:
            said = [said for said in (one.reason, one.issue) if said]
            if isinstance(one, KnownFinding):
                said.append(f"fingerprint {one.finding.fingerprint}")
            about = "; ".join(said)
            out.print(f"{one.title}: {about}", markup=False, highlight=False, soft_wrap=True)


@app.command("add", epilog=EPILOG)
def add(
    case: Annotated[
        str,
        typer.Argument(
            metavar="ID|FILE",
            help="The case of a finding, by its id; or a case file, or a corpus entry, which runs.",
        ),
    ],
    expires: Annotated[
        str, typer.Option(metavar="DATE", help="Not expected any more after this day: 2027-06-30.")
    ],
    issue: Annotated[
        str | None, typer.Option(metavar="URL", help="Where it is reported upstream.")
    ] = None,
    reason: Annotated[str, typer.Option(help="Why it stays for now.")] = "",
    name: Annotated[
        str | None, typer.Option(help="What to call it (default: by operator, verdict and cause).")
    ] = None,
    directory: Annotated[
        Path | None, typer.Option("--dir", help="The campaign to look in (default: all in runs/).")
    ] = None,
    case_seconds: Annotated[float, typer.Option(min=0.1, help="Deadline of each run.")] = 60,
) -> None:
    """Declare a finding as known, on the TVM release that it was met with.

    A case that is no finding of a campaign runs, and what it fails of is looked for first.
    """
    with one_line_errors():
        expires = _day(expires)
        there = declared()
        found = look_up(case, directory)
        finding, version = _finding(case, found, Limits(seconds=case_seconds))
        called = name or _name(finding, [one.name for one in there])
        if called in [one.name for one in there]:
            raise CaseError(f"--name {called}: there is one; relaxcheck known remove {called}")
        entry = KnownFinding(
            name=called,
            operator=finding.operator,
            when={axis: (value,) for axis, value in finding.blame.items()},
            releases=(".".join(version.split(".")[:2]),),
            verdict=finding.verdict,
            issue=issue,
            expires=expires,
            reason=reason,
            message=finding.outcome.cause or headline(finding.outcome.message),
            fixes=finding.case.fixes,
            stage=finding.stage,
            case=finding.case,
        )
        # Only of other releases, or with other words, may the same cause be there twice.
        for one in there:
            if (
                isinstance(one, KnownFinding)
                and one.finding.fingerprint == entry.finding.fingerprint
                and one.concerns(version, fixes=finding.case.fixes)
            ):
                raise CaseError(f"{case} is known already, as {one.name}")
        _write([*there, entry])
        console().print(
            f"{entry.title} is known until {expires}: {finding.verdict}, {finding.operator}, "
            f"{finding.blamed}\nWritten to {FILE}",
            markup=False,
            highlight=False,
            soft_wrap=True,
        )


@app.command("remove", epilog=EPILOG)
def remove(
    names: Annotated[list[str], typer.Argument(metavar="NAME…", help="As known list shows it.")],
) -> None:
    """Remove what is declared: from now on it counts as new wherever it fails."""
    with one_line_errors():
        there = declared()
        called = [one.name for one in there]
        for name in names:
            if name not in called:
                known = ", ".join(called) or "nothing"
                raise CaseError(f"nothing is declared as {name}; declared is {known}")
        _write([one for one in there if one.name not in names])
        console().print(f"Removed from {FILE}: {', '.join(names)}", highlight=False, soft_wrap=True)


def _day(text: str) -> str:
    try:
        day = date.fromisoformat(text)
    except ValueError as error:
        raise CaseError(f"--expires {text}: {error}") from error
    if day.isoformat() < utc_today():
        raise CaseError(f"--expires {text}: that day is over")
    return day.isoformat()


def _finding(called: str, found: Found, limits: Limits) -> tuple[Finding, str]:
    """The finding that ``found`` is the case of, and the version of TVM that it was met with."""
    if found.finding is not None and "apache-tvm" in found.environment:
        finding, version = found.finding, found.environment["apache-tvm"]
    else:
        name = found.environment.get("release", own().name)
        by_name = {one.name: one for one in every(tuple(PIPELINES))}
        _check_place(called, found.case, by_name)
        with Pool(1, limits, release=release(name)) as pool:
            version = pool.environment["apache-tvm"]
            pool.submit(Job(found.case, fresh=True))
            ((_, outcome),) = pool.drain()
            if outcome.verdict is Verdict.HARNESS_ERROR:
                raise CaseError(f"{called}: {outcome.message}")
            if not outcome.verdict.is_failure:
                raise CaseError(f"{called} does not fail: {outcome.verdict}")
            console().print(f"{outcome.verdict}; looking for what is to blame …")
            finding = Expectations(pool, by_name, (), Met()).cause(found.case, outcome)
    if not finding.verdict.is_failure:
        raise CaseError(f"{called} is no failure of TVM: {finding.verdict}")
    return finding, version


def _check_place(called: str, case: AnyCase, by_name: Mapping[str, Family]) -> None:
    """See that it can be told what a case is blamed on: else all that fails like it were known."""
    if case.family not in by_name or not isinstance(case.expect, Valid):
        return
    try:
        by_name[case.family].point(case)
    except ValueError as error:
        raise CaseError(
            f"{called} cannot be known, for what is to blame for it cannot be told: {error}"
        ) from error


def _name(finding: Finding, taken: list[str]) -> str:
    operator = finding.operator.rpartition(".")[2]
    axes = dict.fromkeys(axis.split(".")[0] for axis in finding.blame)
    fixes = ("with-fixes",) if finding.case.fixes else ()
    words = "-".join((operator, finding.verdict, *axes, *fixes))
    name = re.sub(r"[^a-z0-9]+", "-", words.lower()).strip("-")
    return f"{name}-{fingerprint(finding.kind, finding.blame)[:6]}" if name in taken else name


def _when(one: Known) -> Text:
    named = {
        **one.when,
        **({k: (v,) for k, v in one.example.items()} if isinstance(one, Gap) else {}),
    }
    lines = (f"{axis}={'|'.join(values)}" for axis, values in named.items())
    return Text(",\n".join(lines) or "any values")


def _on(one: Known) -> Text:
    side = "" if one.fixes is None else f"\nfixes {'on' if one.fixes else 'off'}"
    return Text(", ".join(one.releases) + side)


def _write(wanted: list[Known]) -> None:
    try:
        write_declared(wanted)
    except OSError as error:
        raise CaseError(f"cannot write {FILE}: {error.strerror}") from error
