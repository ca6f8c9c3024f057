"""The progress of a campaign: a live display on a terminal, a line now and then elsewhere."""

import time
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from types import TracebackType
from typing import Self

from rich.console import Console, Group
from rich.live import Live
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from relaxcheck.harness.campaign.campaign import Plan
from relaxcheck.harness.campaign.state import State
from relaxcheck.harness.outcomes.severity import Severity
from relaxcheck.harness.triage.causes import Cause, counted_causes
from relaxcheck.harness.triage.finding import Finding
from relaxcheck.harness.wording import noun, plural

_LINE_EVERY_SECONDS = 10.0
_REFRESH_SECONDS = 0.2
_NEWEST = 8
_LATE_SECONDS = 30.0
"""The window of the recent rate."""


class News:
    """Yields each new finding once: as soon as it was run again, or at the end.

    Error messages are left out unless ``all_messages``.
    """

    def __init__(self, *, all_messages: bool = False) -> None:
        self._all_messages = all_messages
        self._reported: set[str] = set()

    def of(self, state: State, *, over: bool = False) -> Iterator[Finding]:
        """The findings of ``state`` to report now; ``over``: the campaign has ended."""
        for finding in tuple(state.findings.values()):
            hidden = finding.severity is Severity.ERROR_MESSAGE and not self._all_messages
            if (
                hidden
                or finding.fingerprint in state.known
                or finding.fingerprint in self._reported
            ):
                continue
            if over or finding.confirmed is not None:
                self._reported.add(finding.fingerprint)
                yield finding


def finding_line(finding: Finding) -> str:
    """``finding`` in one line."""
    fixes = "on" if finding.case.fixes else "off"
    unstable = "" if finding.confirmed else ", not confirmed"
    regression = f"regression {finding.regression}, " if finding.regression else ""
    return (
        f"finding {finding.fingerprint}: {regression}{_kind(finding)}, {finding.operator}, "
        f"{finding.blamed} (case {finding.case.identifier}, fixes {fixes}{unstable})"
    )


def _kind(finding: Finding) -> str:
    """Severity and verdict: ``crash (silent-bail)``, or one of them if they have one name."""
    severity, verdict = str(finding.severity or ""), str(finding.verdict)
    return f"{severity} ({verdict})" if severity not in ("", verdict) else verdict


def severities_text(causes: Iterable[Cause]) -> str:
    """The number of ``causes`` of each severity: ``2 wrong result, 1 crash``."""
    counts = Counter(cause.severity for cause in causes)
    return ", ".join(f"{counts[severity]} {severity}" for severity in Severity if counts[severity])


def _causes(state: State) -> list[Cause]:
    return counted_causes(state.findings.values(), state.known)


class Rate:
    """Cases and checks per second: lately, and since the campaign began or resumed."""

    def __init__(self) -> None:
        self._seen: deque[tuple[float, int, int]] = deque()
        self._checks_before: int | None = None

    def __call__(self, state: State) -> str:
        """The two rates of ``state`` as text."""
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
    """Shows a ``State``; use it as a context manager, and call it with the state at any rate."""

    def __init__(self, console: Console, plan: Plan, *, all_messages: bool = False):
        self._console = console
        self._plan = plan
        self._cells = sum(len(axis.values) for family in plan.families for axis in family.axes)
        self._shown = 0.0
        self._news = News(all_messages=all_messages)
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
        """Show ``state`` unless it was shown a moment ago."""
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
            self._console.print(self._line(state), highlight=False, soft_wrap=True)

    def _line(self, state: State) -> str:
        phase = "" if state.phase == "running" else f"  {state.phase}"
        return (
            f"{state.elapsed:6.0f} s  {plural(state.cases, 'case')}  "
            f"{plural(state.checks, 'check')}  {plural(len(_causes(state)), 'finding')}  "
            f"{self._rate(state)}  "
            f"{state.pair_coverage:.1%} of pairs{phase}"
        )

    def _picture(self, state: State) -> Group:
        parts = [state.elapsed / self._plan.seconds]
        if self._plan.most_cases is not None:
            parts.append(state.cases / self._plan.most_cases)
        self._bar.update(self._task, completed=min(max(parts), 1.0), description=state.phase)
        causes = _causes(state)
        numbers = Table.grid(padding=(0, 3))
        numbers.add_row(
            f"[b]{state.cases:,}[/b] {noun(state.cases, 'case')}",
            f"[b]{state.checks:,}[/b] {noun(state.checks, 'check')}",
            plural(state.trials, "trial"),
            f"[b]{len(causes)}[/b] {noun(len(causes), 'finding')}",
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
        for finding in list(state.findings.values())[-_NEWEST:]:
            severity = Text(finding.severity or finding.verdict, style="red")
            newest.add_row(
                severity, finding.verdict, finding.operator, finding.blamed, f"×{finding.count}"
            )
        workers = Text("   ".join(state.busy), style="dim")
        return Group(
            *(self._bar, numbers, Text(severities_text(causes))),
            *(Text(self._rate(state)), Text(seen), Text(verdicts), newest, workers),
        )
