"""``relaxcheck algebra causes``: groups findings about the analyzer by cause."""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from relaxcheck.cli.actions.algebra.kernels import (
    compiled,
    compiled_on,
    exit_code,
    write_cases,
)
from relaxcheck.cli.terminal import check_writable, console
from relaxcheck.generators.core.case import CaseError
from relaxcheck.generators.expressions.cases import ExpressionCase
from relaxcheck.harness.expressions.analyzer_causes import UNKNOWN, Group, grouped
from relaxcheck.harness.expressions.end_to_end import Compiled, of_the_analyzer
from relaxcheck.harness.journal.journal import Journal, Mode
from relaxcheck.harness.known.known import findings_in
from relaxcheck.harness.releases.releases import release
from relaxcheck.harness.triage.finding import Finding
from relaxcheck.harness.wording import plural
from relaxcheck.harness.workers.jobs import Limits
from relaxcheck.harness.workers.pool import Pool
from relaxcheck.reports.expressions import analyzer_causes as page


def causes(
    campaign: Path,
    tvm: str | None,
    out: Path | None,
    cases: Path | None,
    *,
    compiling: bool,
    workers: int | None,
    case_seconds: float,
) -> int:
    """Group the findings of ``campaign`` by cause and print them; the exit code.

    Raises:
        CaseError: the campaign has no such finding, or a file cannot be written.
        JournalError: there is no campaign.
        PoolError: the workers cannot start.
    """
    if out is not None:
        _check_file(out)
    findings, described = _findings(campaign)
    groups = grouped(findings)
    screen = console()
    if cases is not None:
        write_cases(cases, _smallest(groups))
        screen.print(f"Smallest cases are in {cases}", highlight=False, soft_wrap=True)
    kernels: list[Compiled] = []
    version = ""
    wanted = of_the_analyzer(findings) if compiling else []
    if wanted:
        size = workers or len(os.sched_getaffinity(0))
        newest = compiled_on(described)
        with Pool(size, Limits(seconds=case_seconds), release=release(tvm or newest)) as pool:
            kernels = compiled(pool, wanted, screen)
            version = pool.environment["apache-tvm"]
    by_finding = {kernel.finding.fingerprint: kernel for kernel in kernels}
    fates = page.Kernels(version, by_finding) if compiling else None
    _tell(screen, groups, fates)
    if out is not None:
        _write(page.markdown(groups, described, fates), out)
        screen.print(f"Written to {out}", highlight=False, soft_wrap=True)
    return exit_code(kernels, len(wanted))


def _check_file(out: Path) -> None:
    """Check that the file ``out`` can be written. Raises ``CaseError``."""
    check_writable(out.parent)
    if out.is_dir():
        raise CaseError(f"cannot write to {out}: it is a folder; give a file")


def _smallest(groups: Sequence[Group]) -> Iterator[tuple[str, ExpressionCase]]:
    """The first case of each group, in order, with a name for its file."""
    for number, group in enumerate(groups, start=1):
        words = re.findall(r"[a-z0-9_]+", group.title.lower())
        case = group.findings[0].case
        assert isinstance(case, ExpressionCase)
        yield f"{number:02}-{'-'.join(words)}", case


def _findings(campaign: Path) -> tuple[list[Finding], Mapping[str, str]]:
    """The findings of ``campaign`` in the algebra family, and its description.

    Raises:
        CaseError: there is no such finding.
        JournalError: there is no campaign.
    """
    with Journal(campaign, Mode.READ) as journal:
        findings, described = list(findings_in(journal)), journal.description
    if not grouped(findings):
        raise CaseError(
            f"{campaign} has no finding of the algebra family: relaxcheck fuzz algebra looks for"
            " them"
        )
    return findings, described


def _tell(screen: Console, groups: Sequence[Group], kernels: page.Kernels | None) -> None:
    by = f", compiled by apache-tvm {kernels.version}" if kernels and kernels.version else ""
    table = Table(title=f"By cause{by}", title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("cause", overflow="fold")
    table.add_column("findings", justify="right")
    table.add_column("hits", justify="right")
    table.add_column("smallest", overflow="fold")
    if kernels is not None:
        table.add_column("compiled", overflow="fold")
    for group in groups:
        hits = sum(finding.count for finding in group.findings)
        case = group.findings[0].case
        assert isinstance(case, ExpressionCase)
        title = Text(group.title, "red" if group.title == UNKNOWN else "")
        counts = [] if kernels is None else [page.result_counts(group, kernels.by_finding)]
        table.add_row(title, str(len(group.findings)), str(hits), Text(str(case.subject)), *counts)
    screen.print(table)
    count = sum(len(group.findings) for group in groups)
    unknown = sum(len(group.findings) for group in groups if group.title == UNKNOWN)
    screen.print(f"{plural(count, 'finding')}, {unknown} of no known cause", highlight=False)


def _write(text: str, out: Path) -> None:
    """Write ``text`` to ``out``. Raises ``CaseError``."""
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text(text)
    except OSError as error:
        raise CaseError(f"cannot write to {out}: {error.strerror}") from error
