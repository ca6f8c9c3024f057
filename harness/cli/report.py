"""``relaxcheck report``."""

import shlex
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Annotated

import msgspec
import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from generators.cases import AnyCase
from generators.program import Case, CaseError
from harness.bisection.running import bisected
from harness.bisection.search import Bisected
from harness.cli.terminal import RUNS, called_as, console, newest_campaign, one_line_errors
from harness.corpus import EXPORTS, entries, readable
from harness.corpus import Record as Declared
from harness.differential import by_release, described_on
from harness.finding import Finding, Reduced, finding_of
from harness.fingerprint import same_kind
from harness.gaps import declared
from harness.jobs import Limits
from harness.known import known_findings
from harness.met import utc_today
from harness.outcome import Verdict
from harness.outputs import Ended, run_again
from harness.pool import Pool, PoolError
from harness.releases import by_age, own, release
from reports.html.accepted import Accepted, accepted_findings
from reports.html.findings import Known, exported
from reports.html.page import Sources, page_text
from reports.html.records import Record, ran_of, read_campaign
from reports.html.releases import last as last_matrix

EPILOG = "\n\n".join(
    (
        "The page is one file: it needs no network and nothing beside it. It is about the campaign "
        "that began last; the others given are its trend. Cases with wrong values run once more, "
        "so that expected and actual stand side by side. With --bisect each finding is told its "
        "pass, which takes a while for each; what is known is kept in the campaign's folder, and "
        "after an interruption the rest is done the next time.",
        "Examples:",
        "  relaxcheck report",
        "  relaxcheck report runs/MONDAY runs/TUESDAY --bisect",
        "  relaxcheck report --corpus --out corpus.html",
        "Exit codes: 0 written; 2 bad input, or the page cannot be written; 130 interrupted: the "
        "page has what there was until then.",
    )
)

PAGE = "report.html"
_REGRESSION = "A regression: {} passes, {} does not."
_BISECTIONS = "bisections"
"""The folder in a campaign's own that holds a bisection for each case."""


@dataclass(slots=True)
class _Learnt:
    """What was found out about the findings, by case, and whether that was cut short."""

    known: dict[str, Known] = field(default_factory=dict)
    interrupted: bool = False


def report(
    campaigns: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[CAMPAIGN]...", help="Campaigns' folders (default: the newest in runs/)."
        ),
    ] = None,
    corpus: Annotated[
        bool, typer.Option("--corpus", help="Run the corpus, and make the page of that.")
    ] = False,
    known: Annotated[
        list[Path] | None,
        typer.Option(
            "--known",
            metavar="DIR",
            help="A campaign that this one was told of (fuzz --known); may be given again. Its "
            "findings are shown as known, last, as are those declared in corpus/known.json.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help=f"The file (default: {PAGE} in the campaign's folder; corpus: here)."),
    ] = None,
    bisect: Annotated[
        bool, typer.Option("--bisect", help="Find the pass that breaks each finding.")
    ] = False,
    run: Annotated[
        bool, typer.Option("--run/--no-run", help="Run wrong values again, to show them.")
    ] = True,
    case_seconds: Annotated[float, typer.Option(min=0.1, help="Deadline of each run.")] = 60,
) -> None:
    """Write a campaign, or the corpus, as a web page that is one file."""
    screen = console()
    limits = Limits(seconds=case_seconds)
    with one_line_errors():
        unread: tuple[str, ...] = ()
        if corpus:
            if campaigns or known or bisect or not run:
                raise CaseError(
                    "--corpus goes with neither campaigns, --known, --bisect nor --no-run"
                )
            sources, interrupted = _corpus(screen, limits), False
            file = out or Path(PAGE)
        else:
            given, expected = declared(), _known_from(known or ())
            directories = _directories(campaigns)
            records = {directory: _read(screen, directory) for directory in directories}
            *before, last = sorted(directories, key=lambda one: _when(records[one]))
            learnt = _learn(screen, last, records[last], limits, bisect=bisect, run=run)
            found = _with_releases(learnt.known, [records[one] for one in (*before, last)])
            found, unread = _with_exports(last, records[last], found)
            accepted = accepted_findings(records[last], given, expected, utc_today())
            sources = Sources(
                records[last],
                [records[one] for one in before],
                _with_accepted(records[last], found, accepted),
                declared=given,
                matrix=last_matrix(),
                command=called_as(),
                folder="" if last.parent == RUNS else f" --dir {shlex.quote(str(last))}",
            )
            interrupted = learnt.interrupted
            file = out or last / PAGE
        _write(file, page_text(sources))
        screen.print(str(file), markup=False, highlight=False, soft_wrap=True)
        for line in unread:
            said = f"relaxcheck: {line}; the page is without what it says"
            Console(stderr=True).print(said, markup=False, highlight=False, soft_wrap=True)
    raise typer.Exit(130 if interrupted else 2 if unread else 0)


def _directories(given: Sequence[Path] | None) -> list[Path]:
    return list(dict.fromkeys(given)) if given else [newest_campaign()]


def _read(screen: Console, directory: Path) -> Record:
    if not screen.is_terminal:
        return read_campaign(directory)
    columns = (TextColumn("reading {task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=screen, transient=True) as progress:
        task = progress.add_task(directory.name, total=None)
        return read_campaign(
            directory, lambda done, of: progress.update(task, completed=done, total=of)
        )


def _when(record: Record) -> datetime:
    return record.began or datetime.fromtimestamp(0, UTC)


def _learn(
    screen: Console, directory: Path, record: Record, limits: Limits, *, bisect: bool, run: bool
) -> _Learnt:
    """What is known, or found out now, about the findings of ``record``."""
    learnt = _Learnt()
    cases = [one.case for one in record.findings]
    for case in cases:
        learnt.known[case.identifier] = Known(bisected=_stored(directory, case))
    found: dict[str, list[Finding]] = {}
    for one in record.findings:
        on = described_on(one.outcome.release, record.description).get("release", own().name)
        found.setdefault(on, []).append(one)
    try:
        for name, some in found.items():
            programs = [(one.case, one.verdict) for one in some if isinstance(one.case, Case)]
            wrong = [case for case, verdict in programs if verdict is Verdict.WRONG_VALUE]
            left = [case for case, _ in programs if learnt.known[case.identifier].bisected is None]
            try:
                if run and wrong:
                    _run(screen, name, wrong, limits, learnt)
                if bisect and left:
                    _bisect(screen, name, left, limits, learnt, directory)
            except (CaseError, PoolError) as error:
                screen.print(f"nothing could be run again: {error}", markup=False, soft_wrap=True)
    except KeyboardInterrupt:
        learnt.interrupted = True
    return learnt


def _run(
    screen: Console, name: str, wrong: Sequence[Case], limits: Limits, learnt: _Learnt
) -> None:
    with (
        tempfile.TemporaryDirectory(prefix="relaxcheck-") as folder,
        _progress(screen, "running wrong values again", len(wrong)) as told,
    ):
        done = count(1)

        def keep(identifier: str, one: Ended) -> None:
            # At once: what an interruption leaves undone takes nothing with it.
            told(next(done))
            learnt.known[identifier] = replace(learnt.known[identifier], outputs=one.outputs)
            if one.outcome.verdict is not Verdict.WRONG_VALUE:
                line = f"{identifier[:8]}: {one.outcome.verdict} this time, so no values are shown"
                screen.print(line, markup=False, highlight=False, soft_wrap=True)

        run_again(wrong, Path(folder), release(name), limits, keep)


def _bisect(
    screen: Console,
    name: str,
    left: Sequence[Case],
    limits: Limits,
    learnt: _Learnt,
    directory: Path,
) -> None:
    with (
        Pool(1, limits, release=release(name)) as pool,
        _progress(screen, "bisecting", len(left)) as told,
    ):
        for done, case in enumerate(left, 1):
            result = bisected(pool, case)
            _store(directory, case, result)
            before = learnt.known[case.identifier]
            learnt.known[case.identifier] = replace(before, bisected=result)
            told(done)


def _stored(directory: Path, case: AnyCase) -> Bisected | None:
    """The bisection of ``case`` that was made earlier; none where what is there makes no sense."""
    file = directory / _BISECTIONS / f"{case.identifier}.json"
    try:
        return msgspec.json.decode(file.read_bytes(), type=Bisected)
    except (OSError, msgspec.DecodeError):
        return None


def _store(directory: Path, case: Case, result: Bisected) -> None:
    _write(
        directory / _BISECTIONS / f"{case.identifier}.json", msgspec.json.encode(result).decode()
    )


def _with_releases(known: dict[str, Known], records: Sequence[Record]) -> dict[str, Known]:
    """``known`` with the verdict of each finding on every TVM that a campaign met it on."""
    met: dict[str, dict[str, dict[str, Verdict]]] = {}
    alike: dict[str, dict[str, bool]] = {}
    for record in records:
        # As exports call it, so that both have one row; without its name, of an older campaign.
        unnamed = record.description.get("apache-tvm", "unknown")
        version = record.description.get("release", unnamed)
        for one in record.findings:
            side = "on" if one.case.fixes else "off"
            for name, verdict in (one.releases or {version: one.verdict}).items():
                met.setdefault(one.fingerprint, {}).setdefault(name, {})[side] = verdict
            came = by_release(one.outcome) if one.releases else {version: one.outcome}
            for name, outcome in came.items():
                if not one.case.fixes:
                    same = same_kind(one.case, outcome, one.kind)
                    alike.setdefault(one.fingerprint, {})[name] = same
    return {
        one.case.identifier: replace(
            known[one.case.identifier],
            releases=met[one.fingerprint],
            alike=frozenset(k for k, v in alike.get(one.fingerprint, {}).items() if v),
            unlike=frozenset(k for k, v in alike.get(one.fingerprint, {}).items() if not v),
            regression=_REGRESSION.format(*one.regression) if one.regression else "",
        )
        for one in records[-1].findings
    }


def _known_from(directories: Sequence[Path]) -> dict[str, str]:
    """Where each finding of the campaigns in ``directories`` is known from, by fingerprint."""
    return {
        one.fingerprint: str(directory)
        for directory in reversed(directories)
        for one in known_findings([directory])
    }


def _with_accepted(
    record: Record, known: dict[str, Known], accepted: Mapping[str, Accepted]
) -> dict[str, Known]:
    """``known`` with why findings are no news, by fingerprint in ``accepted``."""
    return {
        one.case.identifier: replace(
            known[one.case.identifier], accepted=accepted.get(one.fingerprint)
        )
        for one in record.findings
    }


def _with_exports(
    directory: Path, record: Record, known: dict[str, Known]
) -> tuple[dict[str, Known], tuple[str, ...]]:
    """``known`` with what was found out when the findings were exported beside the campaign.

    And a line for each export that cannot be read.
    """
    exports, unread = readable(directory / EXPORTS)
    there = {entry.expected.fingerprint: entry for entry in exports}
    return {
        one.case.identifier: exported(there[one.fingerprint], known[one.case.identifier])
        if one.fingerprint in there
        else known[one.case.identifier]
        for one in record.findings
    }, unread


def _corpus(screen: Console, limits: Limits) -> Sources:
    """The corpus, run here and now with the fixes off."""
    there = {entry.case.identifier: entry for entry in entries()}
    cases = [entry.case for entry in there.values()]
    with (
        tempfile.TemporaryDirectory(prefix="relaxcheck-") as folder,
        _progress(screen, "running the corpus", len(cases)) as told,
    ):
        done = count(1)
        again = run_again(cases, Path(folder), own(), limits, lambda *_: told(next(done)))
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
    return Sources(record, (), known, corpus=True, matrix=last_matrix(), command=called_as())


def regression(expected: Declared) -> str:
    """Where an older release passes and a newer one fails, fixes off: what to say, or nothing."""
    good = ""
    for name in by_age(expected.verdicts):
        verdict = expected.verdicts[name].get("off")
        if verdict is Verdict.PASS:
            good = name
        elif verdict is not None and good and verdict.is_failure:
            return _REGRESSION.format(good, name)
    return ""


def _write(file: Path, text: str) -> None:
    """Write ``text``; what was there is not lost where there is no room. Raises ``CaseError``."""
    unfinished = file.with_name(f"{file.name}.new")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        unfinished.write_text(text, encoding="utf-8")
        unfinished.replace(file)
    except OSError as error:
        raise CaseError(f"cannot write {file}: {error.strerror}") from error


@contextmanager
def _progress(screen: Console, title: str, total: int) -> Iterator[Callable[[int], None]]:
    """A bar; where there is no terminal, a line at the beginning."""
    if not screen.is_terminal:
        screen.print(f"{title}: {total}", highlight=False)
        yield lambda done: None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=screen, transient=True) as progress:
        task = progress.add_task(title, total=total)
        yield lambda done: progress.update(task, completed=done)
