"""``relaxcheck torch regressions``: runs samples of PyTorch with the fixes off and on."""

import sys
from pathlib import Path

import msgspec

from relaxcheck.cli.actions.matrix import shown
from relaxcheck.cli.exit_codes import FAILED, FAULT
from relaxcheck.cli.options import ResultFormat
from relaxcheck.cli.terminal import console, error_console
from relaxcheck.generators.core.case import CaseError, encode
from relaxcheck.generators.torch.family import families
from relaxcheck.harness.releases.releases import named, own
from relaxcheck.harness.torch.table.regressing import Comparison, Subject, compared, subjects
from relaxcheck.harness.workers.jobs import Limits
from relaxcheck.reports.torch.regressions import lines, summary


def regressions(
    names: tuple[str, ...],
    tvm: str | None,
    form: ResultFormat,
    out: Path | None,
    *,
    samples: int,
    workers: int,
    case_seconds: float,
) -> int:
    """Run the samples; the exit code.

    Raises:
        CaseError: no entry has such a name, or ``out`` cannot be written.
        ReleaseError: a release is not installed, or does not start.
    """
    every = {family.entry.name: family for family in families(("build",))}
    if missing := [name for name in names if name not in every]:
        raise CaseError(f"no entry with samples: {missing[0]} (see relaxcheck families)")
    chosen = tuple(every[name] for name in names or every)
    wanted = tuple(subjects(chosen, samples))
    with shown(error_console()) as show:
        limits = Limits(seconds=case_seconds)
        found = compared(wanted, named(tvm or own().name), workers, limits, show)
    if out is not None:
        _write(found, wanted, out)
    if form is ResultFormat.JSON:
        encoded = msgspec.json.format(msgspec.json.encode(found), indent=1)
        sys.stdout.write(encoded.decode() + "\n")
    else:
        screen = console()
        screen.print(summary(found))
        for line in lines(found):
            screen.print(line, highlight=False, markup=False, soft_wrap=True)
    if any(found.faults):
        return FAULT
    return FAILED if found.regressions else 0


def _write(found: Comparison, wanted: tuple[Subject, ...], out: Path) -> None:
    cases = {each.case.identifier: each.case for each in wanted}
    try:
        out.mkdir(parents=True, exist_ok=True)
        for each in found.regressions:
            (out / f"{each.case}.json").write_bytes(encode(cases[each.case]))
    except OSError as error:
        raise CaseError(f"cannot write to {out}: {error.strerror}") from error
