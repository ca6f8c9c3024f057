"""``relaxcheck bisect``: runs a bisection and prints it."""

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import msgspec
from rich.console import Console
from rich.control import Control
from rich.segment import ControlType
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

from relaxcheck.cli.exit_codes import BAD_INPUT, FAULT
from relaxcheck.cli.lookup import RecordedCase, look_up
from relaxcheck.cli.options import ResultFormat, Switch
from relaxcheck.cli.pipelines import compiled_by
from relaxcheck.cli.terminal import console, error_console
from relaxcheck.generators.core.case import AnyCase, CaseError, with_fixes
from relaxcheck.harness.kinds import check_runs_on, of, way
from relaxcheck.harness.outcomes.errors import corrupts_heap
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.harness.releases.releases import by_age, known, own, release
from relaxcheck.harness.triage.bisection.by_release import concluded, run_on
from relaxcheck.harness.triage.bisection.running import bisected, ran
from relaxcheck.harness.triage.bisection.search import INVALID, Bisected, Evidence, Trial, Tried
from relaxcheck.harness.triage.bisection.trace import ByRelease, OnRelease, Step
from relaxcheck.harness.wording import plural
from relaxcheck.harness.workers.jobs import Limits
from relaxcheck.harness.workers.pool import Pool
from relaxcheck.harness.workers.rooms import BY_CHANCE


def bisect(
    name: str,
    directory: Path | None,
    *,
    fixes: Switch | None,
    tvm: str | None,
    pipeline: str | None,
    case_seconds: float,
    form: ResultFormat,
) -> int:
    """Bisect the case that the user calls ``name``, and print the result; the exit code.

    Raises:
        CaseError: there is no such case, it cannot be read, or it is a batch.
        PoolError: the workers cannot start.
    """
    recorded = single(name, directory, fixes, pipeline)
    case = recorded.case
    here = release(tvm or recorded.environment.get("release", own().name), alone=True)
    check_runs_on(case, here, name)
    progress = _Progress(error_console(), case)
    limits = Limits(seconds=case_seconds)
    try:
        with Pool(1, limits, release=here) as pool:
            if of(case).has_passes:
                result = bisected(pool, case, progress.trial)
            else:
                result = ran(pool, case)
        if result.verdict is Verdict.HARNESS_ERROR and result.stage == "read":
            raise CaseError(f"{name}: {result.message}")
        each = [OnRelease(here.name, result.verdict, result.stage, result.message)]
        others = [release for release in known() if release != here.name]
        if result.why == BY_CHANCE:
            each += [OnRelease(name, missing=f"TVM {name}: {BY_CHANCE}") for name in others]
        else:
            each += run_on(others, case, limits, progress.release, _heap(result))
    finally:
        progress.end()
    order = by_age(row.release for row in each)
    each.sort(key=lambda row: order.index(row.release))
    result = msgspec.structs.replace(result, by_release=concluded(each))
    if form is ResultFormat.JSON:
        sys.stdout.write(msgspec.json.encode(result).decode() + "\n")
    else:
        tell(console(), case, result)
    return exit_code(case, result)


def single(
    name: str, directory: Path | None, fixes: Switch | None, pipeline: str | None
) -> RecordedCase:
    """The case that the user calls ``name``, with the fixes and the pipeline as the user has them.

    Raises:
        CaseError: there is no such case or pipeline, it cannot be read, or it is a batch.
        ExtensionError: its pipeline is a user's own, and nobody named it.
    """
    recorded = look_up(name, directory)
    case = recorded.case
    if of(case).is_batch(case):
        raise CaseError(f"{name} is a batch; give one of its cases")
    case = compiled_by(case, pipeline)
    if fixes is not None:
        case = with_fixes(case, fixes is Switch.ON)
    return replace(recorded, case=case)


def _heap(result: Bisected) -> Outcome | None:
    """The outcome of a case that corrupts the heap, as ``result`` has it; else None."""
    if not corrupts_heap(result.message):
        return None
    return Outcome(result.verdict, result.stage, None, result.message)


def exit_code(case: AnyCase, result: Bisected) -> int:
    """The exit code of a bisection of ``case`` that ended with ``result``."""
    if result.verdict is Verdict.HARNESS_ERROR:
        return FAULT
    if not of(case).has_passes:
        by = result.by_release
        return 0 if by is not None and by.failing else BAD_INPUT
    if not result.verdict.is_failure or result.why == INVALID:
        return BAD_INPUT
    return FAULT if result.culprit is None else 0


class _Progress:
    """Shows the last run on a terminal, each in place of the one before."""

    def __init__(self, out: Console, case: AnyCase) -> None:
        self._out = out
        self._case = case

    def trial(self, number: int, trial: Trial, outcome: Outcome) -> None:
        """Show the outcome of a trial."""
        if not self._out.is_terminal:
            return
        line = f"run {number}: {outcome.verdict}, {_describe(trial, self._case)}"
        self._clear()
        self._out.print(line[: self._out.width - 1], end="", markup=False, highlight=False)

    def release(self, release: str) -> None:
        """Show that the case runs on another release."""
        if self._out.is_terminal:
            self._clear()
            self._out.print(f"on TVM {release}", end="", markup=False, highlight=False)

    def end(self) -> None:
        """Clear the line."""
        if self._out.is_terminal:
            self._clear()

    def _clear(self) -> None:
        # Rich removes control characters from text that it prints.
        self._out.control(Control(ControlType.CARRIAGE_RETURN, (ControlType.ERASE_IN_LINE, 0)))


def _describe(trial: Trial, case: AnyCase) -> str:
    if trial.fixed:
        return "fixes on during some passes"
    if trial.direct:
        after = f" after {_last(trial.after)}" if trial.after else ""
        return f"lowered functions called one by one{after}"
    if trial.within:
        return f"{plural(len(trial.held), 'call')} held back from {_last(trial.within)}"
    if trial.formed:
        return "asking after each pass whether the module is well formed"
    if trial.ending:
        return f"ending with {trial.ending}"
    if trial.without:
        return f"without {_last(trial.without[-1])}" + (
            f" and {len(trial.without) - 1} more" if len(trial.without) > 1 else ""
        )
    return "the whole pipeline"


def _last(path: str) -> str:
    """The pass at the end of ``path``."""
    return path.rpartition("/")[2]


def tell(out: Console, case: AnyCase, result: Bisected) -> None:
    """Print ``result`` for a person."""
    out.print(
        f"case {result.case} ({case.family}, {way(case)}, "
        f"fixes {'on' if case.fixes else 'off'}): [b]{result.verdict}[/b]"
        + (f" in {result.stage}" if result.stage else "")
    )
    if result.message:
        out.print(result.message, markup=False, highlight=False)
    if result.by_release is not None:
        for line in _by_release(result.by_release):
            out.print(line, markup=False, highlight=False, soft_wrap=True)
    if not of(case).has_passes:
        return
    if not result.verdict.is_failure:
        out.print(
            f"The case does not fail, so there is no pass to find: {result.why}", markup=False
        )
        return
    if result.prefixes:
        out.print(_table("Passes up to this one, then the fewest possible", result.prefixes))
    if result.ablations:
        out.print(_table("The whole pipeline without this pass", result.ablations))
    if result.node is not None:
        node = result.node
        out.print(
            f"The first node that fails as the program's output: {node.node} ({node.operator}), "
            f"{node.verdict}",
            markup=False,
        )
    if result.difference:
        out.print(Syntax(result.difference, "diff", word_wrap=True, background_color="default"))
    elif result.before:
        out.print(f"The program before {result.culprit}:")
        out.print(Syntax(result.before, "python", word_wrap=True, background_color="default"))
    if result.evidence is Evidence.NONE:
        out.print(Text.assemble(("culprit: unknown", "bold red"), f": {result.why}"))
    else:
        out.print(Text.assemble((f"culprit: {result.culprit}", "bold"), f": {result.why}"))


def _by_release(summary: ByRelease) -> Iterator[str]:
    ran = [f"{row.release} {row.verdict}" for row in summary.releases if row.verdict is not None]
    line = f"by release: {', '.join(ran)}"
    # Of a single release nobody knows what came before.
    if summary.failing and len(ran) > 1:
        line += f"; {_since(summary, ran=len(ran))}"
    yield line
    for row in summary.releases:
        if row.missing:
            yield f"not run: {row.missing}"


def _since(summary: ByRelease, *, ran: int) -> str:
    """The first release that fails where an earlier one passes, and the first to pass again."""
    failing, again = summary.failing, f"first that passes again: {summary.good_again or 'none'}"
    if summary.first_bad is not None:
        return f"first that fails: {summary.first_bad}; {again}"
    if len(failing) == ran:
        return "fails on every release tried"
    return f"fails on {failing[0]}, and no earlier release is known to pass; {again}"


def _table(title: str, rows: tuple[Tried, ...]) -> Table:
    table = Table(title=title, title_justify="left", show_edge=False)
    table.add_column("pass", no_wrap=True)
    table.add_column("verdict", no_wrap=True)
    table.add_column("at", no_wrap=True)
    for row in rows:
        name = "(none)" if row.step is None else _name(row.step)
        style = "red" if row.verdict.is_failure else "green"
        cell = "needed" if row.needed else Text(row.verdict, style)
        table.add_row(name, cell, "" if row.needed else row.stage or "")
    return table


def _name(step: Step) -> str:
    """The step's name, numbered where several have the same."""
    return _last(step.path)
