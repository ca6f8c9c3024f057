"""``relaxcheck torch table``: runs samples of PyTorch, prints the figures, writes the page."""

import sys

import msgspec

from relaxcheck.cli.actions.matrix import shown
from relaxcheck.cli.exit_codes import FAILED, FAULT
from relaxcheck.cli.options import ResultFormat
from relaxcheck.cli.terminal import console, error_console
from relaxcheck.generators.core.case import CaseError
from relaxcheck.generators.torch.family import families
from relaxcheck.harness.paths import CHECKOUT
from relaxcheck.harness.releases.releases import named, own
from relaxcheck.harness.torch.table.counting import counted
from relaxcheck.harness.torch.table.selecting import subjects
from relaxcheck.harness.workers.jobs import Limits
from relaxcheck.reports.torch.table import page, regressions, summary

PAGE, DATA = "torch.md", "torch.json"
"""The page and its figures, in the folder ``docs`` of a checkout."""


def table(
    names: tuple[str, ...],
    tvm: str | None,
    form: ResultFormat,
    *,
    docs: bool,
    workers: int,
    case_seconds: float,
) -> int:
    """Run the programs; the exit code.

    Raises:
        CaseError: no row has such a name, or options contradict each other.
        ReleaseError: a release is not installed, or does not start.
    """
    if docs and (names or CHECKOUT is None):
        raise CaseError("--docs is for a checkout, and for all operators and layers")
    wanted = subjects(families(("build",)))
    if names:
        wanted = tuple(each for each in wanted if each.name in names)
        if missing := sorted(set(names) - {each.name for each in wanted}):
            raise CaseError(f"no operator of core ATen with a sample, and no layer: {missing[0]}")
    with shown(error_console()) as show:
        limits = Limits(seconds=case_seconds)
        found = counted(wanted, named(tvm or own().name), workers, limits, show)
    worse = [*found.faults, *regressions(found)]
    if form is ResultFormat.JSON:
        sys.stdout.write(_json(found))
    else:
        screen = console()
        screen.print(summary(found))
        for line in worse:
            screen.print(line, highlight=False, markup=False, soft_wrap=True)
    if docs and CHECKOUT is not None:
        folder = CHECKOUT / "docs"
        (folder / DATA).write_text(_json(found))
        (folder / PAGE).write_text(page(found))
        error_console().print(f"Written to {folder / PAGE}", highlight=False, soft_wrap=True)
    return FAULT if found.faults else FAILED if worse else 0


def _json(value: object) -> str:
    return msgspec.json.format(msgspec.json.encode(value), indent=1).decode() + "\n"
