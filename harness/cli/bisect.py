"""``relaxcheck bisect``."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import msgspec
import typer
from rich.console import Console
from rich.control import Control
from rich.segment import ControlType
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

from generators.cases import AnyCase, way
from generators.expression_cases import Block
from generators.program import Case, CaseError
from harness.bisection.by_release import concluded, run_on
from harness.bisection.running import bisected, ran
from harness.bisection.search import Bisected, Evidence, Trial, Tried
from harness.bisection.trace import ByRelease, OnRelease, Step
from harness.cli.lookup import look_up
from harness.cli.terminal import ResultFormat, console, one_line_errors
from harness.jobs import Limits
from harness.options import Switch
from harness.outcome import Outcome, Verdict
from harness.pool import Pool
from harness.releases import known, own, release

EPILOG = """The case runs after every prefix of its pipeline: the passes up to one, and of the later
ones only those that it takes to get something executable. The first prefix that fails names the
pass. Where even the shortest way fails, it is the pass that raised or left a call unlowered, or the
lowering, if the functions that it made are wrong when called one by one; otherwise it stays
unknown. Passes that change nothing are left alone.

The case also runs on every other TVM release (see relaxcheck releases): the first that it fails on
is named, and the first after that which it passes on; so are those that are not installed. For an
expression (relaxcheck fuzz algebra) that is all: there is no pass to look for.

Examples:

  relaxcheck bisect runs/conformance/CASE.json --fixes off

  relaxcheck bisect CORPUS-ENTRY --tvm 0.26

Exit codes: 0 a culprit is named, or an expression fails on a release; 2 bad input, the case does
not fail on the release whose passes were to be tried, or an expression on none, or the workers
cannot start; 3 no culprit can be named, or a fault of relaxcheck itself; 130 interrupted."""


def bisect(
    case: Annotated[str, typer.Argument(help="A case file, a corpus entry, or a case's id.")],
    fixes: Annotated[
        Switch | None, typer.Option(help="Override whether the fixes are installed.")
    ] = None,
    tvm: Annotated[
        str | None,
        typer.Option(
            metavar="RELEASE",
            help="Look for the pass on this TVM release (default: the one that it was recorded "
            "with, or that of this environment).",
        ),
    ] = None,
    directory: Annotated[
        Path | None, typer.Option("--dir", help="The campaign to look in (default: all in runs/).")
    ] = None,
    case_seconds: Annotated[float, typer.Option(min=0.1, help="Deadline of each run.")] = 60,
    form: Annotated[
        ResultFormat,
        typer.Option("--format", help="text, or json: the result as one object and nothing else."),
    ] = ResultFormat.TEXT,
) -> None:
    """Find the first pass that breaks a case, and the first TVM release that it fails on.

    The program is shown before and after that pass. An expression runs on each release alone.
    """
    with one_line_errors():
        looked_up = look_up(case, directory)
        found = looked_up.case
        if isinstance(found, Block):
            raise CaseError(f"{case} is a block of expressions; give the case of one of them")
        here = release(tvm or looked_up.environment.get("release", own().name))
        if fixes is not None:
            found = msgspec.structs.replace(found, fixes=fixes is Switch.ON)
        watcher = _Watcher(Console(stderr=True), found)
        limits = Limits(seconds=case_seconds)
        try:
            with Pool(1, limits, release=here) as pool:
                if isinstance(found, Case):
                    result = bisected(pool, found, watcher.told)
                else:
                    result = ran(pool, found)
            if result.verdict is Verdict.HARNESS_ERROR and result.stage == "read":
                raise CaseError(f"{case}: {result.message}")
            each = [OnRelease(here.name, result.verdict, result.stage, result.message)]
            others = [name for name in known() if name != here.name]
            each += run_on(others, found, limits, watcher.on)
        finally:
            watcher.end()
        each.sort(key=lambda one: known().index(one.release))
        result = msgspec.structs.replace(result, by_release=concluded(each))
        if form is ResultFormat.JSON:
            sys.stdout.write(msgspec.json.encode(result).decode() + "\n")
        else:
            tell(console(), found, result)
    raise typer.Exit(exit_code(found, result))


def exit_code(case: AnyCase, result: Bisected) -> int:
    """The exit code that ``EPILOG`` promises."""
    if result.verdict is Verdict.HARNESS_ERROR:
        return 3
    if not isinstance(case, Case):
        by = result.by_release
        return 2 if by is None or by.first_bad is None else 0
    if not result.verdict.is_failure:
        return 2
    return 3 if result.culprit is None else 0


class _Watcher:
    """Says which run has ended, one line over the other, where somebody watches."""

    def __init__(self, out: Console, case: AnyCase) -> None:
        self._out = out
        self._case = case

    def told(self, number: int, trial: Trial, outcome: Outcome) -> None:
        """Say what came of the trial."""
        if not self._out.is_terminal:
            return
        what = _what(trial, self._case)
        line = f"run {number}: {outcome.verdict}, {what}"
        self._clear()
        self._out.print(line[: self._out.width - 1], end="", markup=False, highlight=False)

    def on(self, release: str) -> None:
        """Say that the case runs on another release."""
        if self._out.is_terminal:
            self._clear()
            self._out.print(f"on TVM {release}", end="", markup=False, highlight=False)

    def end(self) -> None:
        """Clear the line."""
        if self._out.is_terminal:
            self._clear()

    def _clear(self) -> None:
        # Of what is printed Rich takes control characters away.
        self._out.control(Control(ControlType.CARRIAGE_RETURN, (ControlType.ERASE_IN_LINE, 0)))


def _what(trial: Trial, case: AnyCase) -> str:
    if trial.fixed:
        return "the fixes on while some passes run"
    if trial.direct:
        return "lowered functions called one by one"
    if trial.case.identifier != case.identifier:
        return f"ending with {trial.case.program.outputs[0]}"
    if trial.without:
        return f"without {trial.without[-1].rpartition('/')[2]}" + (
            f" and {len(trial.without) - 1} more" if len(trial.without) > 1 else ""
        )
    return "the whole pipeline"


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
    if not isinstance(case, Case):
        return
    if not result.verdict.is_failure:
        out.print(f"TVM does not fail, so there is no pass to find: {result.why}", markup=False)
        return
    if result.prefixes:
        out.print(_table("Passes up to this one, then the shortest way", result.prefixes))
    if result.ablations:
        out.print(_table("The whole pipeline without this one", result.ablations))
    if result.node is not None:
        node = result.node
        out.print(
            f"The first node that the program cannot end with: {node.node} ({node.operator}), "
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


def _by_release(found: ByRelease) -> Iterator[str]:
    ran = [f"{one.release} {one.verdict}" for one in found.releases if one.verdict is not None]
    line = f"by release: {', '.join(ran)}"
    if found.first_bad is not None:
        line += f"; the first that fails: {found.first_bad}"
        line += f"; the first that passes again: {found.good_again or 'none'}"
    yield line
    for one in found.releases:
        if one.missing:
            yield f"not tried: {one.missing}"


def _table(title: str, rows: tuple[Tried, ...]) -> Table:
    table = Table(title=title, title_justify="left", show_edge=False)
    table.add_column("pass", no_wrap=True)
    table.add_column("verdict", no_wrap=True)
    table.add_column("at", no_wrap=True)
    for row in rows:
        name = "(none)" if row.step is None else _name(row.step)
        style = "red" if row.verdict.is_failure else "green"
        said = "needed" if row.needed else Text(row.verdict, style)
        table.add_row(name, said, "" if row.needed else row.stage or "")
    return table


def _name(step: Step) -> str:
    """The step's name, with the number that tells it from others of the same name."""
    return step.path.rpartition("/")[2]
