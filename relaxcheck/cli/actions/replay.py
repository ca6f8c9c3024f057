"""``relaxcheck replay``: runs cases again and prints how each ends."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rich.console import Console
from rich.markup import escape

from relaxcheck.cli.exit_codes import INTERRUPTED
from relaxcheck.cli.lookup import RecordedCase, look_up
from relaxcheck.cli.options import Switch
from relaxcheck.cli.pipelines import compiled_by
from relaxcheck.cli.terminal import console
from relaxcheck.generators.core.case import CaseError, with_fixes, with_target
from relaxcheck.harness import kinds
from relaxcheck.harness.journal.journal import FILE_NAME, Journal, Mode
from relaxcheck.harness.kinds import read_each, way
from relaxcheck.harness.known.corpus import entry_folder
from relaxcheck.harness.known.expected_failures import FILE, Known, KnownFinding, declared
from relaxcheck.harness.known.known import Expectations, findings_in
from relaxcheck.harness.known.replaying import (
    Again,
    Item,
    Replayed,
    counted,
    declared_item,
    known_item,
    recorded_item,
    replayed,
)
from relaxcheck.harness.known.tally import ExpectationTally
from relaxcheck.harness.native.toolchain import chosen_target
from relaxcheck.harness.outcomes.differential import by_release, described_on
from relaxcheck.harness.outcomes.errors import headline
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.harness.releases.environment import tvm_title
from relaxcheck.harness.releases.releases import Release, own, release
from relaxcheck.harness.triage.reduction.search import was_refused
from relaxcheck.harness.wording import plural
from relaxcheck.harness.workers.jobs import Limits
from relaxcheck.harness.workers.pool import Pool

_STYLES = {
    Again.STILL_FAILS: "red",
    Again.FAILS: "red",
    Again.CHANGED: "bold red",
    Again.FIXED: "bold green",
    Again.PASSES: "green",
    Again.BUILT: "cyan",
    Again.UNDECIDED: "yellow",
}
_FAILING = (Again.STILL_FAILS, Again.FAILS, Again.CHANGED)
_MESSAGE = 160


def replay(
    name: str,
    directory: Path | None,
    *,
    fixes: Switch | None,
    tvm: str | None,
    target: str | None,
    pipeline: str | None,
    workers: int | None,
    case_seconds: float,
) -> int:
    """Run what ``name`` stands for and print how each case ends; the exit code.

    Raises:
        CaseError: there is no such case, or it cannot be read.
        PoolError: the workers cannot start.
    """
    if target is not None:
        chosen_target(target)
    known = declared()
    found = list(_subjects(name, directory, known))
    subjects = [_compiled_for(subject, target, pipeline) for subject in found]
    recorded_on = next(
        (subject.source.environment["release"] for subject in subjects if subject.recorded),
        own().name,
    )
    chosen = release(tvm or recorded_on, alone=True)
    size = min(max(len(subjects), 1), workers or len(os.sched_getaffinity(0)))
    with Pool(size, Limits(seconds=case_seconds), release=chosen) as pool:
        version = pool.environment["apache-tvm"]
        side = None if fixes is None else fixes is Switch.ON
        every = [_item(subject, known, version, side, chosen.name) for subject in subjects]
        items = _runnable([item for item in every if item], chosen)
        by_name = {family.name: family for family in kinds.families()}
        expectations = Expectations(pool, by_name, known, ExpectationTally())
        return _run(pool, items, expectations)


@dataclass(frozen=True, slots=True)
class _Subject:
    """A case and what is known of it, or an expected failure."""

    called: str
    source: RecordedCase
    known: Known | None = None

    @property
    def recorded(self) -> bool:
        """Does its campaign say which release it ran on?"""
        return "release" in self.source.environment


def _compiled_for(subject: _Subject, target: str | None, pipeline: str | None) -> _Subject:
    """``subject`` compiled for ``target`` by ``pipeline``; of others than its own none is recorded.

    Raises:
        CaseError: its kind of case is compiled otherwise, or there is no such pipeline.
        ExtensionError: its pipeline is a user's own, and nobody named it.
    """
    own = subject.source.case
    case = compiled_by(own, pipeline)
    if target is not None:
        case = with_target(case, target)
    return subject if case is own else _Subject(subject.called, RecordedCase(case))


def _subjects(wanted: str, directory: Path | None, known: Sequence[Known]) -> Iterator[_Subject]:
    """The cases that ``wanted`` stands for: one, or all in a folder. Raises as ``look_up``."""
    path = Path(wanted)
    listed = path.resolve() == FILE.resolve()
    named = [entry for entry in known if listed or entry.name == wanted]
    if named or listed:
        yield from (_Subject(entry.name, RecordedCase(entry.case), entry) for entry in named)
        return
    if not path.is_dir() or (path / "case.json").is_file() or entry_folder(wanted) is not None:
        recorded = look_up(wanted, directory)
        yield _Subject(recorded.entry or recorded.case.identifier, recorded)
        return
    if (path / FILE_NAME).is_file():
        with Journal(path, Mode.READ) as journal:
            # A campaign on several releases: replay on the newest, compare with the outcome there.
            environment = described_on("", journal.description)
            for finding in findings_in(journal):
                recorded = RecordedCase(finding.case, finding.outcome, finding, environment)
                yield _Subject(finding.case.identifier, recorded)
        return
    files = (file for file in sorted(path.glob("*.json")) if file.resolve() != FILE.resolve())
    alone, others = read_each(files)
    folders = [file.parent for file in sorted(path.rglob("case.json"))]
    left_out = f"left out, for they hold no case: {', '.join(map(str, others))}" if others else ""
    if not alone and not folders:
        reason = f"; {left_out}" if others else ""
        raise CaseError(f"{path} holds no campaign, no case file and no corpus entry{reason}")
    if others:
        console().print(left_out, markup=False, highlight=False, soft_wrap=True)
    for file, case in alone:
        yield _Subject(str(file), RecordedCase(case))
    for folder in folders:
        yield _Subject(folder.name, look_up(str(folder.resolve()), None))


def _item(
    subject: _Subject, declared: Sequence[Known], version: str, fixes: bool | None, on: str
) -> Item | None:
    """The run of ``subject``; None for an expected failure of another TVM."""
    recorded, known = subject.source, subject.known
    if known is not None:
        side = bool(known.fixes) if fixes is None else fixes
        return known_item(known, fixes=side) if known.concerns(version, fixes=side) else None
    moved = fixes is not None and fixes is not recorded.case.fixes
    case = with_fixes(recorded.case, bool(fixes)) if moved else recorded.case
    for entry in declared:
        if (
            isinstance(entry, KnownFinding)
            and entry.case.identifier == case.identifier
            and entry.concerns(version, fixes=case.fixes)
        ):
            return replace(known_item(entry, fixes=case.fixes), called=subject.called)
    if recorded.expected is not None:
        verdict = recorded.expected.verdict(version, fixes=case.fixes)
        return declared_item(subject.called, case, verdict)
    item = recorded_item(subject.called, case, None if moved else _came_on(on, recorded))
    return replace(item, vetted=recorded.outcome is None)


def _runnable(items: Sequence[Item], chosen: Release) -> list[Item]:
    """Those of ``items`` that ``chosen`` can run; prints how many of several it cannot.

    Raises:
        CaseError: it can run none.
    """
    there = [item for item in items if kinds.runs_on(item.case, chosen)]
    if items and not there:
        kinds.check_runs_on(items[0].case, chosen, items[0].called)
    if left := len(items) - len(there):
        line = f"{plural(left, 'case')} left out: without Relax, TVM {chosen.name} cannot run it"
        console().print(line, highlight=False, soft_wrap=True)
    return there


def _came_on(release: str, recorded: RecordedCase) -> Outcome | None:
    """The outcome of ``recorded`` that was recorded on ``release``."""
    if recorded.outcome is None:
        return None
    held = by_release(recorded.outcome)
    if "" in held:
        return held[""] if recorded.environment.get("release", release) == release else None
    return held.get(release)


def _run(pool: Pool, items: Sequence[Item], expectations: Expectations) -> int:
    """Run ``items`` and print how each ends; the exit code."""
    out = console()
    if not items:
        out.print(f"No failure is expected of apache-tvm {pool.environment['apache-tvm']}.")
        return 0
    ended: list[Replayed] = []
    interrupted = False
    try:
        for result in replayed(pool, items, expectations):
            if len(items) == 1 and _unreadable(result):
                raise CaseError(f"{result.item.called}: {headline(result.outcome.message)}")
            ended.append(result)
            if len(items) == 1:
                _tell(out, result, pool.environment)
            text = _line(result, message=len(items) > 1)
            out.print(text, highlight=False, soft_wrap=True)
    except KeyboardInterrupt:
        interrupted = True
    if len(items) > 1 or interrupted:
        left = f"; {len(items) - len(ended)} not run" if interrupted else ""
        out.print(counted(ended) + left, highlight=False)
    if interrupted:
        return INTERRUPTED
    if any(map(_unreadable, ended)):
        return 2
    if any(result.outcome.verdict is Verdict.HARNESS_ERROR for result in ended):
        return 3
    return int(any(result.new for result in ended))


def _unreadable(result: Replayed) -> bool:
    """True if the worker could not read the case, or the reference refused it: bad input."""
    unread = result.outcome.verdict is Verdict.HARNESS_ERROR and result.outcome.stage == "read"
    return unread or (result.item.vetted and was_refused(result.outcome))


def _line(result: Replayed, *, message: bool) -> str:
    outcome = result.outcome
    text = str(outcome.verdict) + (f" at {outcome.stage}" if outcome.stage else "")
    if result.again in (Again.CHANGED, Again.FIXED):
        text += f", recorded as {result.item.recorded}"
    if message and outcome.message and result.again in _FAILING:
        text += f": {headline(outcome.message)[:_MESSAGE]}"
    state = f"[{_STYLES[result.again]}]{result.again}[/]"
    return f"{state} {escape(result.item.called)}: {escape(text + _about_known(result))}"


def _about_known(result: Replayed) -> str:
    known = result.item.known
    if known is not None and result.again is Again.FIXED:
        return f"; no longer expected? relaxcheck known remove {known.name}"
    if known is not None and result.again is Again.STILL_FAILS and result.expected is None:
        return f" (expected until {known.expires})"
    return f" (known: {result.expected})" if result.expected and known is None else ""


def _tell(out: Console, result: Replayed, environment: dict[str, str]) -> None:
    case, outcome = result.item.case, result.outcome
    good = outcome.verdict.is_right
    style = "bold green" if good else "bold red"
    out.print(
        f"case {case.identifier} ({case.family}, {way(case)}, "
        f"fixes {'on' if case.fixes else 'off'}, {tvm_title(environment)})"
    )
    out.print(f"verdict: [{style}]{outcome.verdict}[/{style}]")
    if outcome.stage:
        out.print(f"stage: {outcome.stage}")
    if outcome.oracles:
        out.print(f"oracles: {', '.join(outcome.oracles)}")
    for name, reason in outcome.unsupported_oracles.items():
        out.print(f"not run: {name} ({reason})", markup=False)
    if outcome.message:
        out.print(headline(outcome.message), markup=False, highlight=False)
