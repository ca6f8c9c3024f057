"""Reporters: they tell a person or a program of a campaign's progress and results."""

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from math import isinf
from pathlib import Path
from typing import Protocol

import msgspec
from rich.console import Console

from relaxcheck.generators.core.case import CaseError
from relaxcheck.generators.targets import LLVM, TARGETS
from relaxcheck.harness.campaign.campaign import Plan
from relaxcheck.harness.campaign.display import Display, News, finding_line
from relaxcheck.harness.campaign.options import Options
from relaxcheck.harness.campaign.state import Side, State
from relaxcheck.harness.journal.journal import FILE_NAME
from relaxcheck.harness.native.toolchain import missing
from relaxcheck.harness.outcomes.errors import headline
from relaxcheck.harness.outcomes.outcome import Verdict
from relaxcheck.harness.releases.releases import by_age
from relaxcheck.harness.triage.causes import counted_causes
from relaxcheck.harness.triage.finding import Finding
from relaxcheck.harness.wording import plural
from relaxcheck.reports.tables.markdown import summary_text
from relaxcheck.reports.tables.results import Results
from relaxcheck.reports.tables.summary import HOW_LISTED, campaign_summary, error_messages_line

Show = Callable[[State], None]

_PROGRESS_EVERY_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Ended:
    """A campaign that has ended: its state and results, and the exit code.

    ``page`` is None if it could not be written.
    """

    state: State
    results: Results
    directory: Path
    page: Path | None
    exit_code: int


class Reporter(Protocol):
    """Consumes the events of a campaign."""

    def say(self, line: str) -> None:
        """Report a step of the preparation."""

    def begin(self, options: Options, release: str, workers: int, plan: Plan) -> None:
        """Report that the campaign begins on TVM ``release``."""

    def watch(self, plan: Plan) -> AbstractContextManager[Show]:
        """A function to call with the state while the campaign runs."""

    def end(self, ended: Ended) -> None:
        """Report the results."""


class TextReporter:
    """For a person: a live display or a line now and then, tables at the end."""

    def __init__(self, console: Console, *, all_messages: bool = False):
        self._console = console
        self._all_messages = all_messages

    def say(self, line: str) -> None:
        """See ``Reporter``."""
        self._console.print(line, highlight=False, soft_wrap=True)

    def begin(self, options: Options, release: str, workers: int, plan: Plan) -> None:
        """See ``Reporter``."""
        target = "" if options.target == LLVM else f" for {options.target}"
        shard = "" if options.shard.of == 1 else f", shard {options.shard}"
        self.say(
            f"apache-tvm {release}{target}, fixes {options.fixes.value}, "
            f"seed {options.seed}{shard}, {plural(workers, 'worker')}, {plan.extent} "
            f"→ {options.directory}"
        )
        advice = missing(TARGETS[options.target])
        if advice:
            self.say(advice)

    def watch(self, plan: Plan) -> AbstractContextManager[Show]:
        """See ``Reporter``."""
        return Display(self._console, plan, all_messages=self._all_messages)

    def end(self, ended: Ended) -> None:
        """See ``Reporter``."""
        tables = campaign_summary(ended.results, all_messages=self._all_messages)
        self._console.print(tables)
        for line in _last_lines(ended):
            self.say(line)


class QuietReporter:
    """Reports new findings as they come, one line each, and the last lines."""

    def __init__(self, console: Console, *, all_messages: bool = False):
        self._console = console
        self._all_messages = all_messages
        self._news = News(all_messages=all_messages)

    def say(self, line: str) -> None:
        """See ``Reporter``."""

    def begin(self, options: Options, release: str, workers: int, plan: Plan) -> None:
        """See ``Reporter``."""

    @contextmanager
    def watch(self, plan: Plan) -> Iterator[Show]:
        """See ``Reporter``."""
        yield lambda state: self._report(state, over=False)

    def end(self, ended: Ended) -> None:
        """See ``Reporter``."""
        self._report(ended.state, over=True)
        messages = [] if self._all_messages else ended.results.error_messages
        counted = filter(None, [error_messages_line(messages, HOW_LISTED)])
        for line in (*counted, *ended.results.happened, *_last_lines(ended)):
            self._console.print(line, highlight=False, soft_wrap=True)

    def _report(self, state: State, *, over: bool) -> None:
        for finding in self._news.of(state, over=over):
            self._console.print(finding_line(finding), highlight=False, soft_wrap=True)


class SummaryReporter:
    """Passes everything on to ``reporter``, and appends a summary in Markdown to ``path``."""

    def __init__(self, reporter: Reporter, path: Path):
        self._path = path
        self._reporter = reporter
        self.say = reporter.say
        self.begin = reporter.begin
        self.watch = reporter.watch

    def end(self, ended: Ended) -> None:
        """See ``Reporter``. Raises ``CaseError`` if the file cannot be written."""
        self._reporter.end(ended)
        try:
            with self._path.open("a") as file:
                file.write(summary_text(ended.results))
        except OSError as error:
            raise CaseError(f"cannot write to {self._path}: {error.strerror}") from error


class JsonLinesReporter:
    """For a program: one JSON object per line, each with an ``event``; every finding is one."""

    def __init__(self, write: Callable[[str], None]):
        self._write = write
        self._news = News(all_messages=True)
        self._shown = 0.0

    def say(self, line: str) -> None:
        """See ``Reporter``."""

    def begin(self, options: Options, release: str, workers: int, plan: Plan) -> None:
        """See ``Reporter``."""
        self._event(
            "started",
            directory=str(options.directory),
            release=release,
            families=options.families,
            pipelines=options.pipelines,
            target=options.target,
            seed=options.seed,
            shard=str(options.shard),
            uniform=options.uniform,
            fixes=options.fixes,
            workers=workers,
            seconds=None if isinf(plan.seconds) else plan.seconds,
            most_cases=plan.most_cases,
        )

    @contextmanager
    def watch(self, plan: Plan) -> Iterator[Show]:
        """See ``Reporter``."""
        yield self._show

    def end(self, ended: Ended) -> None:
        """See ``Reporter``."""
        self._report(ended.state, over=True)
        state = ended.state
        releases = by_age({side.release for side in state.counts if side.release})
        self._event(
            "summary",
            **_numbers(state),
            taken_up=state.taken_up,
            not_investigated=state.investigating,
            verdicts=_verdicts(state.counts),
            severities=state.severities,
            releases={
                name: _verdicts({at: n for at, n in state.counts.items() if at.release == name})
                for name in releases
            },
            gaps=ended.results.gaps,
            new=[finding.fingerprint for finding in ended.results.new],
            known=state.known,
            known_by_release=state.statuses,
            happened=ended.results.happened,
            page=None if ended.page is None else str(ended.page),
            journal=str(ended.directory / FILE_NAME),
            exit_code=ended.exit_code,
        )

    def _show(self, state: State) -> None:
        self._report(state, over=False)
        now = time.monotonic()
        if now - self._shown >= _PROGRESS_EVERY_SECONDS:
            self._shown = now
            self._event("progress", **_numbers(state), phase=state.phase)

    def _report(self, state: State, *, over: bool) -> None:
        for finding in self._news.of(state, over=over):
            self._event("finding", **_fields(finding))

    def _event(self, name: str, **fields: object) -> None:
        self._write(msgspec.json.encode({"event": name, **fields}).decode())


def _numbers(state: State) -> dict[str, object]:
    return {
        "elapsed": round(state.elapsed, 1),
        "cases": state.cases,
        "checks": state.checks,
        "trials": state.trials,
        "pair_coverage": round(state.pair_coverage, 4),
        "findings": len(state.findings),
        "causes": len(counted_causes(state.findings.values(), state.known)),
        "engine_cpu_share": round(state.engine_share, 4),
    }


def _verdicts(counts: Mapping[Side, Counter[Verdict]]) -> dict[str, dict[str, Counter[Verdict]]]:
    """``counts`` by side of the fixes and by regime, summed over the releases."""
    named: dict[str, dict[str, Counter[Verdict]]] = {}
    for side, counted in sorted(counts.items()):
        regimes = named.setdefault("on" if side.fixes else "off", {})
        regime = "special" if side.special else "usual"
        regimes[regime] = regimes.get(regime, Counter()) + counted
    return named


def _fields(finding: Finding) -> dict[str, object]:
    return {
        "fingerprint": finding.fingerprint,
        "severity": finding.severity,
        "verdict": finding.verdict,
        "stage": finding.stage,
        "regression": None if finding.regression is None else finding.regression._asdict(),
        "releases": finding.releases,
        "operator": finding.operator,
        "blame": finding.blame,
        "fixes": finding.case.fixes,
        "case": finding.case.identifier,
        "confirmed": finding.confirmed,
        "message": headline(finding.outcome.message),
    }


def not_investigated(state: State) -> str:
    """Lines about failures that were not investigated; empty if all were."""
    count = state.investigating
    lines = []
    if count:
        were = plural(count, "failure was", "failures were")
        new = "; some are unlike any finding and count as new" if state.unexplained else ""
        lines.append(f"{were} not investigated; the journal holds them{new}.")
    if state.waiting:
        parts = plural(state.waiting, "part")
        lines.append(
            f"{parts} of failed batches and expressions did not run alone and count as new; "
            "--resume runs them."
        )
    if state.unrepeated:
        failures = plural(state.unrepeated, "failure")
        lines.append(
            f"{failures} of batches and expressions did not come again in their parts and count "
            "as new; the journal's events name them."
        )
    return "\n".join(lines)


def _last_lines(ended: Ended) -> Iterator[str]:
    state = ended.state
    before = f" ({state.taken_up} of them before this run)" if state.taken_up else ""
    yield (
        f"{plural(state.cases, 'case')}{before}, {plural(state.checks, 'check')}, "
        f"{plural(state.trials, 'trial')} to find causes, {state.elapsed:.0f} s; "
        f"fixes {ended.results.description['fixes']}; "
        f"the engine used {state.engine_share:.1%} of the CPU time."
    )
    if unexplained := not_investigated(state):
        yield unexplained
    page = f"{ended.page} and " if ended.page else ""
    yield f"Written to {page}{ended.directory / FILE_NAME}"
    if any(finding.verdict.is_failure for finding in ended.results.findings):
        called, where = ended.results.command, ended.directory
        yield f"For one web page: {called} report {where}"
        yield f"For scripts and issues to paste: {called} export --all --dir {where}"
