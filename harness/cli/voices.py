"""How a campaign speaks: to a person, only of findings, or to a program.

A voice is told what is going to be done, shown the state while it is, and given the end.
"""

import enum
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

from generators.program import CaseError
from harness.campaign import Plan
from harness.display import Display, News, finding_line
from harness.errors import headline
from harness.finding import Finding
from harness.journal import FILE_NAME
from harness.options import Options
from harness.outcome import Verdict
from harness.releases import by_age
from harness.state import Side, State
from reports.page import summary_text
from reports.results import Results
from reports.summary import campaign_summary

Show = Callable[[State], None]

_PROGRESS_EVERY_SECONDS = 10.0


class Format(enum.StrEnum):
    """What is written on standard output: for a person, or events for a program."""

    TEXT = "text"
    JSONL = "jsonl"


@dataclass(frozen=True, slots=True)
class Ended:
    """The end of a campaign: where it stands, what is rendered of it, and the exit code.

    ``page`` is None where it could not be written.
    """

    state: State
    results: Results
    directory: Path
    page: Path | None
    exit_code: int


class Voice(Protocol):
    """One way to speak."""

    def say(self, line: str) -> None:
        """Say what is being done."""

    def begin(self, options: Options, release: str, workers: int, plan: Plan) -> None:
        """Say what campaign this is. ``release`` is TVM's."""

    def watch(self, plan: Plan) -> AbstractContextManager[Show]:
        """What to give the state to while the campaign runs."""

    def end(self, ended: Ended) -> None:
        """Say what came of it all."""


class Spoken:
    """For a person: a live display or a line now and then, tables at the end."""

    def __init__(self, console: Console):
        self._console = console

    def say(self, line: str) -> None:
        """See ``Voice``."""
        self._console.print(line, highlight=False, soft_wrap=True)

    def begin(self, options: Options, release: str, workers: int, plan: Plan) -> None:
        """See ``Voice``."""
        shard = "" if options.shard.of == 1 else f", shard {options.shard}"
        self.say(
            f"apache-tvm {release}, fixes {options.fixes.value}, seed {options.seed}{shard}, "
            f"{workers} workers, {plan.extent} → {options.directory}"
        )

    def watch(self, plan: Plan) -> AbstractContextManager[Show]:
        """See ``Voice``."""
        return Display(self._console, plan)

    def end(self, ended: Ended) -> None:
        """See ``Voice``."""
        self._console.print(campaign_summary(ended.results))
        for line in _last_lines(ended):
            self.say(line)


class Quiet:
    """New findings, a line each as they come, and the last lines."""

    def __init__(self, console: Console):
        self._console = console
        self._news = News()

    def say(self, line: str) -> None:
        """See ``Voice``."""

    def begin(self, options: Options, release: str, workers: int, plan: Plan) -> None:
        """See ``Voice``."""

    @contextmanager
    def watch(self, plan: Plan) -> Iterator[Show]:
        """See ``Voice``."""
        yield lambda state: self._tell(state, over=False)

    def end(self, ended: Ended) -> None:
        """See ``Voice``."""
        self._tell(ended.state, over=True)
        for line in (*ended.results.happened, *_last_lines(ended)):
            self._console.print(line, highlight=False, soft_wrap=True)

    def _tell(self, state: State, *, over: bool) -> None:
        for finding in self._news.of(state, over=over):
            self._console.print(finding_line(finding), highlight=False, soft_wrap=True)


class Summarised:
    """As ``voice`` speaks; and in the end a summary in Markdown is added to the file ``path``."""

    def __init__(self, voice: Voice, path: Path):
        self._path = path
        self._voice = voice
        self.say = voice.say
        self.begin = voice.begin
        self.watch = voice.watch

    def end(self, ended: Ended) -> None:
        """See ``Voice``. Raises ``CaseError`` where the file cannot be written."""
        self._voice.end(ended)
        try:
            with self._path.open("a") as file:
                file.write(summary_text(ended.results))
        except OSError as error:
            raise CaseError(f"cannot write to {self._path}: {error.strerror}") from error


class Lines:
    """For a program: one JSON object a line, each with an ``event``."""

    def __init__(self, write: Callable[[str], None]):
        self._write = write
        self._news = News()
        self._shown = 0.0

    def say(self, line: str) -> None:
        """See ``Voice``."""

    def begin(self, options: Options, release: str, workers: int, plan: Plan) -> None:
        """See ``Voice``."""
        self._event(
            "started",
            directory=str(options.directory),
            release=release,
            families=options.families,
            pipelines=options.pipelines,
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
        """See ``Voice``."""
        yield self._show

    def end(self, ended: Ended) -> None:
        """See ``Voice``."""
        self._tell(ended.state, over=True)
        state = ended.state
        releases = by_age({side.release for side in state.counts if side.release})
        self._event(
            "summary",
            **_numbers(state),
            taken_up=state.taken_up,
            not_looked_into=state.investigating,
            verdicts=_verdicts(state.counts),
            releases={
                name: _verdicts({at: n for at, n in state.counts.items() if at.release == name})
                for name in releases
            },
            gaps=ended.results.gaps,
            new=[one.fingerprint for one in ended.results.new],
            known=state.known,
            known_by_release=state.fates,
            happened=ended.results.happened,
            page=None if ended.page is None else str(ended.page),
            journal=str(ended.directory / FILE_NAME),
            exit_code=ended.exit_code,
        )

    def _show(self, state: State) -> None:
        self._tell(state, over=False)
        now = time.monotonic()
        if now - self._shown >= _PROGRESS_EVERY_SECONDS:
            self._shown = now
            self._event("progress", **_numbers(state), phase=state.phase)

    def _tell(self, state: State, *, over: bool) -> None:
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
        "engine_cpu_share": round(state.engine_share, 4),
    }


def _verdicts(counts: Mapping[Side, Counter[Verdict]]) -> dict[str, dict[str, Counter[Verdict]]]:
    """``counts`` by side of the fixes and by regime, those of all releases together."""
    named: dict[str, dict[str, Counter[Verdict]]] = {}
    for side, counted in sorted(counts.items()):
        regimes = named.setdefault("on" if side.fixes else "off", {})
        regime = "special" if side.special else "usual"
        regimes[regime] = regimes.get(regime, Counter()) + counted
    return named


def _fields(finding: Finding) -> dict[str, object]:
    return {
        "fingerprint": finding.fingerprint,
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


def not_looked_into(state: State) -> str:
    """What there is to say of failures that were not looked into; nothing if all were."""
    count = state.investigating
    lines = []
    if count:
        said = "1 failure was" if count == 1 else f"{count} failures were"
        like = "; some are like no finding there is, and count as new"
        new = like if state.unexplained else ""
        lines.append(f"{said} not looked into; they are in the journal{new}.")
    if state.waiting:
        lines.append(
            f"Parts of blocks and expressions that failed and did not run alone, which count as "
            f"new: {state.waiting}; --resume runs them."
        )
    if state.unrepeated:
        lines.append(
            f"Failures of blocks and expressions that did not come again in their parts, which "
            f"count as new: "
            f"{state.unrepeated}; the journal's events name them."
        )
    return "\n".join(lines)


def _last_lines(ended: Ended) -> Iterator[str]:
    state = ended.state
    before = f" ({state.taken_up} of them before this run)" if state.taken_up else ""
    yield (
        f"{state.cases} cases{before}, {state.checks} checks, {state.trials} further runs to find "
        f"causes, {state.elapsed:.0f} s; fixes {ended.results.description['fixes']}; "
        f"{state.engine_share:.1%} of the CPU time went to the engine itself."
    )
    if unexplained := not_looked_into(state):
        yield unexplained
    page = f"{ended.page} and " if ended.page else ""
    yield f"Written to {page}{ended.directory / FILE_NAME}"
    if any(one.verdict.is_failure for one in ended.results.findings):
        called, where = ended.results.command, ended.directory
        yield f"As one web page: {called} report {where}"
        yield f"As scripts and issues to paste: {called} export --all --dir {where}"
