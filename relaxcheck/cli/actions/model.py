"""``relaxcheck model``: runs the checks of a model, shows their progress, and prints the result."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec
from rich.console import Console
from rich.control import Control
from rich.segment import ControlType

from relaxcheck.cli.exit_codes import BAD_INPUT, FAILED, FAULT, INTERRUPTED
from relaxcheck.cli.options import ResultFormat
from relaxcheck.cli.terminal import check_writable, console, error_console, warn
from relaxcheck.generators.core.case import CaseError
from relaxcheck.harness.campaign.fixes import Fixes
from relaxcheck.harness.models.job import Job
from relaxcheck.harness.models.report import Report, Verdict
from relaxcheck.harness.models.running import INTERRUPTION, CheckError, checked
from relaxcheck.harness.releases.releases import named, own, release
from relaxcheck.reports.models.files import files
from relaxcheck.reports.models.page import page
from relaxcheck.reports.models.text import lines, table


@dataclass(frozen=True, slots=True)
class Wanted:
    """The options of the command as the user gives them."""

    model: str
    inputs: Path | None
    dims: tuple[str, ...]
    fixes: Fixes
    tvm: str | None
    pipeline: str
    target: str
    seed: int
    seconds: float
    nodes: bool


class Result(msgspec.Struct, frozen=True):
    """The reports of a command, one for each release and side."""

    reports: tuple[Report, ...]


def model(wanted: Wanted, form: ResultFormat, out: Path | None) -> int:
    """Check a model on each release and side, and print the result; the exit code.

    Raises:
        CaseError: an option is wrong, or a release is not installed.
    """
    sizes = dict(map(_sizes, wanted.dims))
    releases = [release(name) for name in (named(wanted.tvm) if wanted.tvm else (own().name,))]
    if out is not None:
        check_writable(out)
    progress = _Progress(error_console())
    planned = [(each, side) for each in releases for side in wanted.fixes.sides]
    several = len(planned) > 1
    reports: list[Report] = []
    failed = False
    refused = ""
    for each, side in planned:
        progress.begin(f"TVM {each.name}, fixes {'on' if side else 'off'}")
        try:
            report = checked(_job(wanted, sizes, side), each, wanted.seconds, progress.tell)
        except CheckError as error:
            progress.end()
            warn(f"TVM {each.name}: a fault of relaxcheck: {error}")
            failed = True
            if error.report is None:
                continue
            report = error.report
        finally:
            progress.end()
        if report.verdict is Verdict.BAD_INPUT:
            # On one release it may be, and right on others.
            refused = report.message
            continue
        reports.append(report)
        if form is ResultFormat.TEXT:
            # Each as soon as it is known: several releases take minutes.
            _print([*_text(report, out, several=several), *([""] if several else [])])
        if report.verdict is Verdict.INTERRUPTED or _was_interrupted(report):
            break
    if refused and not reports:
        raise CaseError(refused)
    if form is ResultFormat.JSON:
        sys.stdout.write(msgspec.json.encode(Result(tuple(reports))).decode() + "\n")
    elif len(reports) > 1:
        _print(table(reports))
    if out is not None and reports:
        try:
            _write(reports, out, several=several)
        except OSError as error:
            refused = f"cannot write to {error.filename or out}: {error.strerror or error}"
    if refused:
        warn(refused)
        return BAD_INPUT
    return FAULT if failed else exit_code(reports)


def _job(wanted: Wanted, sizes: dict[str, tuple[int, ...]], side: bool) -> Job:
    return Job(
        wanted.model,
        "" if wanted.inputs is None else str(wanted.inputs),
        sizes,
        side,
        wanted.pipeline,
        wanted.target,
        wanted.seed,
        nodes=wanted.nodes,
    )


def exit_code(reports: Sequence[Report]) -> int:
    """The exit code; where both sides ran, those with the fixes decide."""
    if any(each.verdict is Verdict.INTERRUPTED or _was_interrupted(each) for each in reports):
        return INTERRUPTED
    deciding = [each for each in reports if each.fixes] or reports
    if any(each.verdict.is_fault for each in deciding):
        return FAILED
    return BAD_INPUT if any(each.verdict is Verdict.EXPORTER for each in deciding) else 0


def _was_interrupted(report: Report) -> bool:
    return any(note.startswith(INTERRUPTION) for note in report.notes)


def _sizes(text: str) -> tuple[str, tuple[int, ...]]:
    name, equals, values = text.partition("=")
    numbers = [each.strip() for each in values.split(",")]
    if not (name and equals and all(each.isdecimal() for each in numbers)):
        raise CaseError(f"--dim {text}: give a name and sizes, as in batch=1,2,7")
    return name, tuple(map(int, numbers))


def _text(report: Report, out: Path | None, *, several: bool) -> Iterator[str]:
    folder = "" if out is None else str(_folder(report, out, several=several))
    return lines(report, folder)


def _folder(report: Report, out: Path, *, several: bool) -> Path:
    """The folder of the files of one of ``several`` reports, or of the only one."""
    side = "fixes-on" if report.fixes else "fixes-off"
    return out / f"{report.release}-{side}" if several else out


def _print(text: Iterable[str]) -> None:
    screen = console()
    for line in text:
        screen.print(line, markup=False, highlight=False, soft_wrap=True)


def _write(reports: Sequence[Report], folder: Path, *, several: bool) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    encoded = msgspec.json.format(msgspec.json.encode(Result(tuple(reports))), indent=2)
    (folder / "report.json").write_bytes(encoded + b"\n")
    texts = ["\n".join(_text(report, folder, several=several)) for report in reports]
    texts += ["\n".join(table(reports))] if len(reports) > 1 else []
    (folder / "report.txt").write_text("\n\n".join(texts) + "\n")
    folders = [str(_folder(each, folder, several=several)) for each in reports]
    (folder / "report.html").write_text(page(reports, folders))
    for report in reports:
        for name, content in files(report).items():
            own = _folder(report, folder, several=several)
            own.mkdir(parents=True, exist_ok=True)
            (own / name).write_bytes(content)


class _Progress:
    """Shows the stage that goes on, in place, on a terminal."""

    def __init__(self, out: Console) -> None:
        self._out = out
        self._about = ""

    def begin(self, about: str) -> None:
        """Show stages as those of ``about``."""
        self._about = about

    def tell(self, stage: str, report: Report | None) -> None:
        """Show ``stage``, and a verdict once it is known."""
        if not self._out.is_terminal:
            return
        known = report is not None and report.verdict is not Verdict.INTERRUPTED
        verdict = f"{report.verdict}, " if known and report is not None else ""
        self.end()
        line = f"{self._about}: {verdict}{stage}"
        self._out.print(line[: self._out.width - 1], end="", markup=False, highlight=False)

    def end(self) -> None:
        """Clear the line."""
        if self._out.is_terminal:
            # Rich removes control characters from text that it prints.
            self._out.control(Control(ControlType.CARRIAGE_RETURN, (ControlType.ERASE_IN_LINE, 0)))
