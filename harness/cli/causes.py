"""``relaxcheck algebra causes``."""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from generators.expression_cases import Member
from generators.program import CaseError
from harness.analyzer_causes import UNKNOWN, Group, grouped
from harness.cli.kernels import Campaign, CompiledOn, Workers, compiled, exit_code, write_cases
from harness.cli.terminal import EXIT_CODES, check_writable, console, one_line_errors
from harness.differential import described_on
from harness.end_to_end import Compiled, of_the_analyzer
from harness.finding import Finding
from harness.jobs import Limits
from harness.journal import Journal, Mode
from harness.known import findings_in
from harness.pool import Pool
from harness.releases import own, release
from reports import analyzer_causes as page

EPILOG = f"""Examples:

  relaxcheck algebra causes runs/FOLDER

  relaxcheck algebra causes runs/FOLDER --compile --out causes.md

  relaxcheck algebra causes runs/FOLDER --cases smallest && relaxcheck matrix smallest --out .

One fault of the analyzer is found by several checks, in expressions of many kinds. Here the
findings are put together by what their smallest cases look like; what looks like no cause that is
known comes last, as "{UNKNOWN}": read that first.

{EXIT_CODES}"""


def causes(
    campaign: Campaign,
    compile_: Annotated[
        bool,
        typer.Option(
            "--compile",
            help="Compile each smallest expression, as relaxcheck algebra kernels does.",
        ),
    ] = False,
    tvm: CompiledOn = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the causes and their findings as Markdown."),
    ] = None,
    cases: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Write the smallest case of each cause, for relaxcheck matrix FOLDER.",
        ),
    ] = None,
    workers: Workers = None,
    case_seconds: Annotated[
        float, typer.Option(min=0.1, help="Deadline of each case that is compiled.")
    ] = 60,
) -> None:
    """Put together what a campaign found in TVM's analyzer by the causes that it looks like."""
    with one_line_errors():
        if out is not None:
            _check_file(out)
        found, described = _findings(campaign)
        groups = grouped(found)
        screen = console()
        if cases is not None:
            write_cases(cases, _smallest(groups))
            screen.print(f"Smallest cases are in {cases}", highlight=False, soft_wrap=True)
        kernels: list[Compiled] = []
        version = ""
        wanted = of_the_analyzer(found) if compile_ else []
        if wanted:
            size = workers or len(os.sched_getaffinity(0))
            newest = described_on("", described).get("release", own().name)
            with Pool(size, Limits(seconds=case_seconds), release=release(tvm or newest)) as pool:
                kernels = compiled(pool, wanted, screen)
                version = pool.environment["apache-tvm"]
        by_finding = {one.finding.fingerprint: one for one in kernels}
        fates = page.Kernels(version, by_finding) if compile_ else None
        _tell(screen, groups, fates)
        if out is not None:
            _write(page.markdown(groups, described, fates), out)
            screen.print(f"Written to {out}", highlight=False, soft_wrap=True)
    raise typer.Exit(exit_code(kernels, len(wanted)))


def _check_file(out: Path) -> None:
    """See that the file ``out`` can be written. Raises ``CaseError``: it cannot, or is a folder."""
    check_writable(out.parent)
    if out.is_dir():
        raise CaseError(f"cannot write to {out}: it is a folder, and a file is wanted")


def _smallest(groups: Sequence[Group]) -> Iterator[tuple[str, Member]]:
    """The first case of each group, in order, with a name for its file."""
    for number, group in enumerate(groups, start=1):
        words = re.findall(r"[a-z0-9_]+", group.title.lower())
        case = group.findings[0].case
        assert isinstance(case, Member)
        yield f"{number:02}-{'-'.join(words)}", case


def _findings(campaign: Path) -> tuple[list[Finding], Mapping[str, str]]:
    """What ``campaign`` found in the algebra family, and what it ran on: all its releases.

    Raises:
        CaseError: nothing.
        JournalError: there is no campaign.
    """
    with Journal(campaign, Mode.READ) as journal:
        found, described = list(findings_in(journal)), journal.description
    if not grouped(found):
        raise CaseError(
            f"{campaign} has no finding of the algebra family: relaxcheck fuzz algebra looks for"
            " them"
        )
    return found, described


def _tell(screen: Console, groups: Sequence[Group], kernels: page.Kernels | None) -> None:
    by = f", compiled by apache-tvm {kernels.version}" if kernels and kernels.version else ""
    table = Table(title=f"By cause{by}", title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("cause", overflow="fold")
    table.add_column("findings", justify="right")
    table.add_column("met", justify="right")
    table.add_column("smallest", overflow="fold")
    if kernels is not None:
        table.add_column("compiled", overflow="fold")
    for group in groups:
        met = sum(one.count for one in group.findings)
        case = group.findings[0].case
        assert isinstance(case, Member)
        title = Text(group.title, "red" if group.title == UNKNOWN else "")
        fates = [] if kernels is None else [page.fates(group, kernels.by_finding)]
        table.add_row(title, str(len(group.findings)), str(met), Text(str(case.subject)), *fates)
    screen.print(table)
    count = sum(len(group.findings) for group in groups)
    unknown = sum(len(group.findings) for group in groups if group.title == UNKNOWN)
    screen.print(
        f"{count} findings, {unknown} of which look like no cause that is known", highlight=False
    )


def _write(text: str, out: Path) -> None:
    """Write ``text`` to ``out``. Raises ``CaseError``: it cannot be written."""
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text(text)
    except OSError as error:
        raise CaseError(f"cannot write to {out}: {error.strerror}") from error
