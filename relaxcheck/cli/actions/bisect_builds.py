"""``relaxcheck bisect --builds``: searches a folder of builds, and prints what it finds."""

import sys
from collections.abc import Iterator
from pathlib import Path
from textwrap import shorten

import msgspec
from rich.console import Console
from rich.table import Table

from relaxcheck.cli.actions.bisect import single
from relaxcheck.cli.exit_codes import BAD_INPUT, FAULT
from relaxcheck.cli.options import ResultFormat, Switch
from relaxcheck.cli.terminal import RUNS, console, error_console
from relaxcheck.extensions import entry_points
from relaxcheck.extensions.naming import digest, is_own
from relaxcheck.harness.outcomes.keeping import Kept, sources_of
from relaxcheck.harness.releases.many import candidates
from relaxcheck.harness.triage.bisection.by_build import PASSES, ByBuild, OnBuild, search
from relaxcheck.harness.workers.jobs import Limits

_WORDS = 300
"""Characters of a message that are shown."""

KEPT = RUNS / "builds.jsonl"
"""The file that keeps outcomes."""

_ROOMS = ("fixes", "generators", "harness", "oracles")
"""The modules of ours that decide how a case ends; the outcomes of other ones run again."""


def bisect_builds(
    name: str,
    directory: Path | None,
    folder: Path,
    *,
    fixes: Switch | None,
    pipeline: str | None,
    case_seconds: float,
    form: ResultFormat,
) -> int:
    """Find where the case that the user calls ``name`` changes in ``folder``; the exit code.

    Raises:
        CaseError: there is no such case, it is a batch, or ``folder`` has fewer than two builds.
    """
    case = single(name, directory, fixes, pipeline).case
    builds = candidates(folder)
    own = str(getattr(case, "pipeline", ""))
    sources = sources_of(_ROOMS) + entry_points.sources() + (digest(own) if is_own(own) else "")
    kept = Kept(KEPT, OnBuild, sources)
    errors = error_console()

    def show(line: str) -> None:
        errors.print(line, markup=False, highlight=False, soft_wrap=True)

    result = search(case, builds, kept, Limits(seconds=case_seconds), show)
    if form is ResultFormat.JSON:
        sys.stdout.write(msgspec.json.encode(result).decode() + "\n")
    else:
        tell(console(), result)
    if not any(row.verdict for row in result.builds):
        return BAD_INPUT
    return FAULT if result.after is None else 0


def tell(out: Console, result: ByBuild) -> None:
    """Print ``result`` for a person."""
    table = Table(
        title=f"case {result.case} on {len(result.builds)} of {result.of} builds",
        title_justify="left",
        show_edge=False,
    )
    for column in ("build", "version", "verdict", "stage"):
        table.add_column(column, overflow="fold")
    for row in result.builds:
        style = "" if row.counts is None else "green" if row.counts == PASSES else "red"
        verdict = "not run" if row.verdict is None else str(row.verdict)
        table.add_row(row.name, row.version, verdict, row.stage or "", style=style)
    out.print(table)
    for line in (*_missing(result), *_found(result)):
        out.print(line, markup=False, highlight=False, soft_wrap=True)
    if KEPT.exists():
        out.print(f"Outcomes are kept in {KEPT}.", markup=False, highlight=False)


def _missing(result: ByBuild) -> Iterator[str]:
    return (f"not run: {row.missing}" for row in result.builds if row.missing)


def _found(result: ByBuild) -> Iterator[str]:
    before, after = result.on(result.before), result.on(result.after)
    if before is None or after is None:
        yield _nothing(result)
        return
    yield f"first that {_does(after)}: {after.name}; {before.name} before it {_does(before)}"
    yield from (
        shorten(row.message, _WORDS, placeholder=" …") for row in (before, after) if row.message
    )
    if result.skipped:
        yield f"between them, and of no help: {', '.join(result.skipped)}"
    if before.commit and after.commit and before.commit != after.commit:
        yield f"the commits: git log {before.commit[:12]}..{after.commit[:12]}"


def _does(row: OnBuild) -> str:
    return PASSES if row.counts == PASSES else f"fails ({row.verdict})"


def _nothing(result: ByBuild) -> str:
    telling = [row for row in result.builds if row.counts is not None]
    if not telling:
        return "no build says anything about the case"
    if len(telling) == 1:
        return f"only {telling[0].name} says anything about the case: it {_does(telling[0])}"
    return f"no change: the oldest and the newest that ran, it {_does(telling[0])} on both"
