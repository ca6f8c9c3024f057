"""A campaign while it runs: a live display on a terminal, a line now and then elsewhere."""

import time
from collections import deque
from collections.abc import Iterator
from types import TracebackType
from typing import Self

from rich.console import Console, Group
from rich.live import Live
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from harness.campaign import Plan
from harness.finding import Finding
from harness.state import State

_LINE_EVERY_SECONDS = 10.0
_REFRESH_SECONDS = 0.2
_NEWEST = 8
_LATE_SECONDS = 30.0
"""How far back a rate of late looks."""


class News:
    """Each new finding once: as soon as it was reduced and run again, or when all is over."""

    def __init__(self) -> None:
        self._told: set[str] = set()

    def of(self, state: State, *, over: bool = False) -> Iterator[Finding]:
        """The findings of ``state`` that are to be told now."""
        for one in tuple(state.findings.values()):
            known = one.fingerprint in state.known
            if (
                not known
                and one.fingerprint not in self._told
                and (over or one.confirmed is not None)
            ):
                self._told.add(one.fingerprint)
                yield one


def finding_line(finding: Finding) -> str:
    """A finding in one line."""
    fixes = "on" if finding.case.fixes else "off"
    unstable = "" if finding.confirmed else ", not confirmed"
    regression = f"regression {finding.regression}, " if finding.regression else ""
    return (
        f"finding {finding.fingerprint}: {regression}{finding.verdict}, {finding.operator}, "
        f"{finding.blamed} (case {finding.case.identifier}, fixes {fixes}{unstable})"
    )


class Rate:
    """Cases and checks a second: of late, and since the campaign began or went on."""

    def __init__(self) -> None:
        self._seen: deque[tuple[float, int, int]] = deque()
        self._checks_before: int | None = None

    def __call__(self, state: State) -> str:
        """Both rates of ``state``, as text."""
        now, cases, checks = state.elapsed, state.cases - state.taken_up, state.checks
        if self._checks_before is None:
            self._checks_before = checks
        checks -= self._checks_before
        self._seen.append((now, cases, checks))
        while now - self._seen[0][0] > _LATE_SECONDS:
            self._seen.popleft()
        then, cases_then, checks_then = self._seen[0]
        late, all_along = max(now - then, 1.0), max(now, 1.0)
        return (
            f"{(cases - cases_then) / late:.1f} cases/s, {(checks - checks_then) / late:.0f} "
            f"checks/s (in all {cases / all_along:.1f} and {checks / all_along:.0f})"
        )


class Display:
    """Shows a ``State``; use as a context manager, call with the state as often as you like."""

    def __init__(self, console: Console, plan: Plan):
        self._console = console
        self._plan = plan
        self._cells = sum(len(axis.values) for family in plan.families for axis in family.axes)
        self._shown = 0.0
        self._news = News()
        self._rate = Rate()
        self._bar = Progress(
            TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn(), console=console
        )
        self._task = self._bar.add_task("campaign", total=1.0)
        self._live = Live(console=console, auto_refresh=False, transient=True)

    def __enter__(self) -> Self:
        if self._console.is_terminal:
            self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._console.is_terminal:
            self._live.stop()

    def __call__(self, state: State) -> None:
        """Show ``state``, if it is time to."""
        now = time.monotonic()
        live = self._console.is_terminal
        if not live:
            for finding in self._news.of(state):
                self._console.print(finding_line(finding), highlight=False, soft_wrap=True)
        if now - self._shown < (_REFRESH_SECONDS if live else _LINE_EVERY_SECONDS):
            return
        self._shown = now
        if live:
            self._live.update(self._picture(state), refresh=True)
        else:
            self._console.print(self._line(state), highlight=False)

    def _line(self, state: State) -> str:
        phase = "" if state.phase == "running" else f"  {state.phase}"
        return (
            f"{state.elapsed:6.0f} s  {state.cases} cases  {state.checks} checks  "
            f"{len(state.findings)} findings  {self._rate(state)}  "
            f"{state.pair_coverage:.1%} of pairs{phase}"
        )

    def _picture(self, state: State) -> Group:
        parts = [state.elapsed / self._plan.seconds]
        if self._plan.most_cases is not None:
            parts.append(state.cases / self._plan.most_cases)
        self._bar.update(self._task, completed=min(max(parts), 1.0), description=state.phase)
        numbers = Table.grid(padding=(0, 3))
        numbers.add_row(
            f"[b]{state.cases}[/b] cases",
            f"[b]{state.checks}[/b] checks",
            f"{state.trials} trials",
            f"[b]{len(state.findings)}[/b] findings",
            f"engine: {state.engine_share:.1%} of CPU",
        )
        seen = (
            f"{100 * len(state.cells) / max(self._cells, 1):.0f}% of axis values and "
            f"{state.pair_coverage:.1%} of their pairs seen"
        )
        verdicts = "   ".join(
            f"{verdict} {count}" for verdict, count in state.verdicts.most_common()
        )
        if state.special:
            verdicts += "   special values: " + "   ".join(
                f"{verdict} {count}" for verdict, count in state.special.most_common()
            )
        newest = Table.grid(padding=(0, 2))
        for one in list(state.findings.values())[-_NEWEST:]:
            newest.add_row(
                Text(one.verdict, style="red"), one.operator, one.blamed, f"×{one.count}"
            )
        workers = Text("   ".join(state.busy), style="dim")
        return Group(
            self._bar, numbers, Text(self._rate(state)), Text(seen), Text(verdicts), newest, workers
        )
