"""``relaxcheck report``: gathers what a page shows and writes it."""

import shlex
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import count
from pathlib import Path

import msgspec
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from relaxcheck.cli.causes import known_causes
from relaxcheck.cli.exit_codes import BAD_INPUT, INTERRUPTED
from relaxcheck.cli.terminal import RUNS, called_as, console, newest_campaign, warn
from relaxcheck.cli.writing import replace_text
from relaxcheck.generators.core.case import AnyCase, CaseError
from relaxcheck.harness.kinds import of
from relaxcheck.harness.known.corpus import EXPORTS, entries, readable
from relaxcheck.harness.known.corpus import Record as Declared
from relaxcheck.harness.known.expected_failures import declared
from relaxcheck.harness.known.known import known_findings
from relaxcheck.harness.known.tally import utc_today
from relaxcheck.harness.outcomes.differential import by_release, described_on, each_version
from relaxcheck.harness.outcomes.outcome import Verdict
from relaxcheck.harness.programs.outputs import RanAgain, run_again
from relaxcheck.harness.releases.releases import by_age, own, release
from relaxcheck.harness.triage.bisection.running import bisected
from relaxcheck.harness.triage.bisection.search import Bisected
from relaxcheck.harness.triage.finding import Finding, Reduced, finding_of
from relaxcheck.harness.triage.fingerprint import same_signature
from relaxcheck.harness.workers.jobs import Limits
from relaxcheck.harness.workers.pool import Pool
from relaxcheck.harness.workers.starting import PoolError
from relaxcheck.reports.page.accepted import Accepted, accepted_findings
from relaxcheck.reports.page.findings import Known, exported
from relaxcheck.reports.page.operators import last as last_support
from relaxcheck.reports.page.page import Sources, page_text
from relaxcheck.reports.page.records import Record, ran_of, read_campaign
from relaxcheck.reports.page.releases import last as last_matrix

PAGE = "report.html"
_REGRESSION = "A regression: {} passes, {} does not."
_MOST_READ = 8000
"""Cases that a page reads, in three seconds; of a longer campaign, a sample of so many."""

_BISECTIONS = "bisections"
"""The folder, in a campaign's own, of the bisections by case."""


@dataclass(slots=True)
class _Learnt:
    """Results about findings, by case; ``interrupted``: Ctrl-C came before the last."""

    known: dict[str, Known] = field(default_factory=dict)
    interrupted: bool = False


def report(
    campaigns: Sequence[Path] | None,
    *,
    corpus: bool,
    known: Sequence[Path],
    out: Path | None,
    bisect: bool,
    run: bool,
    case_seconds: float,
) -> int:
    """Write the page and print where it is; the exit code.

    Raises:
        CaseError: the options exclude each other, there is no campaign, or no room.
        JournalError: a campaign cannot be read.
    """
    screen = console()
    limits = Limits(seconds=case_seconds)
    unread: tuple[str, ...] = ()
    if corpus:
        if campaigns or known or bisect or not run:
            raise CaseError("--corpus excludes campaigns, --known, --bisect and --no-run")
        sources, interrupted = _corpus(screen, limits), False
        file = out or Path(PAGE)
    else:
        expected, earlier = declared(), _known_from(known)
        directories = _directories(campaigns)
        records = {directory: _read(screen, directory) for directory in directories}
        *before, last = sorted(directories, key=lambda each: _when(records[each]))
        learnt = _learn(screen, last, records[last], limits, bisect=bisect, run=run)
        enriched = _with_releases(learnt.known, [records[each] for each in (*before, last)])
        enriched = _with_names(records[last], enriched)
        enriched, unread = _with_exports(last, records[last], enriched)
        accepted = accepted_findings(records[last], expected, earlier, utc_today())
        sources = Sources(
            records[last],
            [records[each] for each in before],
            _with_accepted(records[last], enriched, accepted),
            declared=expected,
            matrix=last_matrix(),
            support=last_support(),
            command=called_as(),
            folder="" if last.parent == RUNS else f" --dir {shlex.quote(str(last))}",
        )
        interrupted = learnt.interrupted
        file = out or last / PAGE
    replace_text(file, page_text(sources))
    screen.print(str(file), markup=False, highlight=False, soft_wrap=True)
    for line in unread:
        warn(f"{line}; the page is without this export")
    return INTERRUPTED if interrupted else BAD_INPUT if unread else 0


def _directories(campaigns: Sequence[Path] | None) -> list[Path]:
    return list(dict.fromkeys(campaigns)) if campaigns else [newest_campaign()]


def _read(screen: Console, directory: Path) -> Record:
    if not screen.is_terminal:
        return read_campaign(directory, most=_MOST_READ)
    columns = (TextColumn("reading {task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=screen, transient=True) as progress:
        task = progress.add_task(directory.name, total=None)
        return read_campaign(
            directory,
            lambda done, of: progress.update(task, completed=done, total=of),
            _MOST_READ,
        )


def _when(record: Record) -> datetime:
    return record.began or datetime.fromtimestamp(0, UTC)


def _learn(
    screen: Console, directory: Path, record: Record, limits: Limits, *, bisect: bool, run: bool
) -> _Learnt:
    """Stored results about the findings of ``record``, and those of the runs asked for."""
    learnt = _Learnt()
    cases = [finding.case for finding in record.findings]
    for case in cases:
        learnt.known[case.identifier] = Known(bisected=_stored(directory, case))
    by_release_name: dict[str, list[Finding]] = {}
    for finding in record.findings:
        on = described_on(finding.outcome.release, record.description).get("release", own().name)
        by_release_name.setdefault(on, []).append(finding)
    try:
        for name, some in by_release_name.items():
            programs = [
                (finding.case, finding.verdict) for finding in some if of(finding.case).has_passes
            ]
            wrong = [case for case, verdict in programs if verdict is Verdict.WRONG_VALUE]
            left = [case for case, _ in programs if learnt.known[case.identifier].bisected is None]
            try:
                if run and wrong:
                    _run(screen, name, wrong, limits, learnt)
                if bisect and left:
                    _bisect(screen, name, left, limits, learnt, directory)
            except (CaseError, PoolError) as error:
                screen.print(f"cannot run cases again: {error}", markup=False, soft_wrap=True)
    except KeyboardInterrupt:
        learnt.interrupted = True
    return learnt


def _run(
    screen: Console, name: str, wrong: Sequence[AnyCase], limits: Limits, learnt: _Learnt
) -> None:
    with (
        tempfile.TemporaryDirectory(prefix="relaxcheck-") as folder,
        _progress(screen, "running cases with wrong values again", len(wrong)) as show,
    ):
        done = count(1)

        def keep(identifier: str, result: RanAgain) -> None:
            # At once, so that an interruption loses nothing.
            show(next(done))
            learnt.known[identifier] = replace(learnt.known[identifier], outputs=result.outputs)
            if result.outcome.verdict is not Verdict.WRONG_VALUE:
                line = f"{identifier[:8]}: {result.outcome.verdict} this time; no values to show"
                screen.print(line, markup=False, highlight=False, soft_wrap=True)

        run_again(wrong, Path(folder), release(name, alone=True), limits, keep)


def _bisect(
    screen: Console,
    name: str,
    left: Sequence[AnyCase],
    limits: Limits,
    learnt: _Learnt,
    directory: Path,
) -> None:
    with (
        Pool(1, limits, release=release(name, alone=True)) as pool,
        _progress(screen, "bisecting", len(left)) as show,
    ):
        for done, case in enumerate(left, 1):
            result = bisected(pool, case)
            _store(directory, case, result)
            before = learnt.known[case.identifier]
            learnt.known[case.identifier] = replace(before, bisected=result)
            show(done)


def _stored(directory: Path, case: AnyCase) -> Bisected | None:
    """The stored bisection of ``case``; None where there is none that can be read."""
    file = directory / _BISECTIONS / f"{case.identifier}.json"
    try:
        return msgspec.json.decode(file.read_bytes(), type=Bisected)
    except (OSError, msgspec.DecodeError):
        return None


def _store(directory: Path, case: AnyCase, result: Bisected) -> None:
    replace_text(
        directory / _BISECTIONS / f"{case.identifier}.json", msgspec.json.encode(result).decode()
    )


def _with_releases(known: dict[str, Known], records: Sequence[Record]) -> dict[str, Known]:
    """``known`` with each finding's verdict on every TVM that a campaign ran it on."""
    verdicts: dict[str, dict[str, dict[str, Verdict]]] = {}
    alike: dict[str, dict[str, bool]] = {}
    for record in records:
        # The name that exports use, so that both share a row; older campaigns have no name.
        unnamed = record.description.get("apache-tvm", "unknown")
        version = record.description.get("release", unnamed)
        for finding in record.findings:
            side = "on" if finding.case.fixes else "off"
            for name, verdict in (finding.releases or {version: finding.verdict}).items():
                verdicts.setdefault(finding.fingerprint, {}).setdefault(name, {})[side] = verdict
            came = by_release(finding.outcome) if finding.releases else {version: finding.outcome}
            for name, outcome in came.items():
                if not finding.case.fixes:
                    same = same_signature(finding.case, outcome, finding.signature)
                    alike.setdefault(finding.fingerprint, {})[name] = same
    return {
        finding.case.identifier: replace(
            known[finding.case.identifier],
            releases=verdicts[finding.fingerprint],
            alike=frozenset(k for k, v in alike.get(finding.fingerprint, {}).items() if v),
            unlike=frozenset(k for k, v in alike.get(finding.fingerprint, {}).items() if not v),
            regression=_REGRESSION.format(*finding.regression) if finding.regression else "",
        )
        for finding in records[-1].findings
    }


def _known_from(directories: Sequence[Path]) -> dict[str, str]:
    """By fingerprint, the first of ``directories`` that has the finding."""
    return {
        finding.fingerprint: str(directory)
        for directory in reversed(directories)
        for finding in known_findings([directory])
    }


def _with_accepted(
    record: Record, known: dict[str, Known], accepted: Mapping[str, Accepted]
) -> dict[str, Known]:
    """``known`` with the reasons in ``accepted``, by fingerprint, why a finding is not new."""
    return {
        finding.case.identifier: replace(
            known[finding.case.identifier], accepted=accepted.get(finding.fingerprint)
        )
        for finding in record.findings
    }


def _with_names(record: Record, known: dict[str, Known]) -> dict[str, Known]:
    """``known`` with the cause in the corpus of each finding that has one there."""
    named = known_causes(record.findings, each_version(record.description))
    return {
        finding.case.identifier: replace(
            known[finding.case.identifier], named=named.get(finding.fingerprint)
        )
        for finding in record.findings
    }


def _with_exports(
    directory: Path, record: Record, known: dict[str, Known]
) -> tuple[dict[str, Known], tuple[str, ...]]:
    """``known`` with the results of exports beside the campaign; a line for each unreadable one."""
    exports, unread = readable(directory / EXPORTS)
    there = {entry.expected.fingerprint: entry for entry in exports}
    return {
        finding.case.identifier: exported(
            there[finding.fingerprint], known[finding.case.identifier]
        )
        if finding.fingerprint in there
        else known[finding.case.identifier]
        for finding in record.findings
    }, unread


def _corpus(screen: Console, limits: Limits) -> Sources:
    """Run the corpus with the fixes off."""
    there = {entry.case.identifier: entry for entry in entries()}
    cases = [entry.case for entry in there.values()]
    with (
        tempfile.TemporaryDirectory(prefix="relaxcheck-") as folder,
        _progress(screen, "running the corpus", len(cases)) as show,
    ):
        done = count(1)
        again = run_again(cases, Path(folder), own(), limits, lambda *_: show(next(done)))
    ended = [(case, again.ended[case.identifier].outcome) for case in cases]
    now = datetime.now(UTC)
    record = Record(
        "corpus",
        again.environment,
        tuple(ran_of(case, outcome.verdict, now) for case, outcome in ended),
        tuple(finding_of(Reduced(case, outcome, {})) for case, outcome in ended),
    )
    known = {
        identifier: exported(
            entry,
            Known(outputs=again.ended[identifier].outputs, regression=regression(entry.expected)),
        )
        for identifier, entry in there.items()
    }
    return Sources(
        record,
        (),
        known,
        corpus=True,
        matrix=last_matrix(),
        support=last_support(),
        command=called_as(),
    )


def regression(expected: Declared) -> str:
    """One line if an older release passes and a newer one fails, fixes off; else empty."""
    good = ""
    for name in by_age(expected.verdicts):
        verdict = expected.verdicts[name].get("off")
        if verdict is Verdict.PASS:
            good = name
        elif verdict is not None and good and verdict.is_failure:
            return _REGRESSION.format(good, name)
    return ""


@contextmanager
def _progress(screen: Console, title: str, total: int) -> Iterator[Callable[[int], None]]:
    """A progress bar; where there is no terminal, a line at the beginning."""
    if not screen.is_terminal:
        screen.print(f"{title}: {total}", highlight=False)
        yield lambda done: None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=screen, transient=True) as progress:
        task = progress.add_task(title, total=total)
        yield lambda done: progress.update(task, completed=done)
