"""``relaxcheck torch regressions``: runs samples of PyTorch with the fixes off and on."""

import sys
from dataclasses import dataclass
from pathlib import Path

import msgspec

from relaxcheck.cli.actions.matrix import say_reused, shown
from relaxcheck.cli.exit_codes import FAILED, FAULT
from relaxcheck.cli.options import ResultFormat
from relaxcheck.cli.terminal import check_writable, console, error_console
from relaxcheck.generators.core.case import CaseError, encode
from relaxcheck.generators.torch.family import families
from relaxcheck.harness.matrix.matrix import Cell
from relaxcheck.harness.outcomes.keeping import Kept, sources_of
from relaxcheck.harness.releases.releases import named, own
from relaxcheck.harness.torch.table.regressing import Comparison, Subject, compared, subjects
from relaxcheck.harness.workers.jobs import Limits
from relaxcheck.reports.torch.regressions import lines, summary

_ROOMS = ("generators/core", "generators/torch", "fixes", "oracles/torch", "harness")
"""The modules of ours that decide how a program ends; the results of other ones run again."""


@dataclass(frozen=True, slots=True)
class Request:
    """The options that say what to run, and what of it is no news; None is the default."""

    entries: tuple[str, ...]
    samples: int
    tvm: str | None
    out: Path | None
    known: Path | None
    kept: Path
    anew: bool
    workers: int
    case_seconds: float


def regressions(request: Request, form: ResultFormat) -> int:
    """Run the samples; the exit code.

    Raises:
        CaseError: no entry has such a name, a folder is missing, or ``out`` cannot be written.
        ReleaseError: a release is not installed, or does not start.
    """
    every = {family.entry.name: family for family in families(("build",))}
    if missing := [name for name in request.entries if name not in every]:
        raise CaseError(f"no entry with samples: {missing[0]} (see relaxcheck families)")
    known = _known(request.known)
    if request.out is not None:
        check_writable(request.out)
    if request.anew:
        request.kept.unlink(missing_ok=True)
    chosen = tuple(every[name] for name in request.entries or every)
    wanted = tuple(subjects(chosen, request.samples))
    screen, kept = error_console(), Kept(request.kept, Cell, sources_of(_ROOMS))
    with shown(screen) as show:
        found = compared(
            wanted,
            named(request.tvm or own().name),
            request.workers,
            Limits(seconds=request.case_seconds),
            show,
            kept,
        )
    say_reused(screen, kept, "another build of TVM")
    if request.out is not None:
        _write(found, wanted, request.out)
    if form is ResultFormat.JSON:
        encoded = msgspec.json.format(msgspec.json.encode(found), indent=1)
        sys.stdout.write(encoded.decode() + "\n")
    else:
        console().print(summary(found))
        for line in lines(found, known):
            console().print(line, highlight=False, markup=False, soft_wrap=True)
    if any(found.faults):
        return FAULT
    return FAILED if any(each.place not in known for each in found.regressions) else 0


def _known(folder: Path | None) -> frozenset[str]:
    """The places of the cases in ``folder``, as an earlier run wrote them."""
    if folder is None:
        return frozenset()
    if not folder.is_dir():
        raise CaseError(f"--known {folder}: no such folder")
    return frozenset(f"{path.parent.name}/{path.stem}" for path in folder.glob("*/*.json"))


def _write(found: Comparison, wanted: tuple[Subject, ...], out: Path) -> None:
    cases = {each.case.identifier: each.case for each in wanted}
    try:
        out.mkdir(parents=True, exist_ok=True)
        for each in found.regressions:
            file = out / f"{each.place}.json"
            file.parent.mkdir(exist_ok=True)
            file.write_bytes(encode(cases[each.case]))
    except OSError as error:
        raise CaseError(f"cannot write to {out}: {error.strerror}") from error
