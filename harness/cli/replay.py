"""``relaxcheck replay``."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import msgspec
import typer
from rich.console import Console
from rich.markup import escape

from generators.cases import read, way
from generators.families import every
from generators.program import CaseError
from harness.cli.lookup import Found, look_up
from harness.cli.terminal import EXIT_CODES, console, one_line_errors
from harness.corpus import entry_folder
from harness.differential import by_release, described_on
from harness.errors import headline
from harness.gaps import FILE, Known, KnownFinding, declared
from harness.jobs import Limits
from harness.journal import FILE_NAME, Journal, Mode
from harness.known import Expectations, findings_in
from harness.met import Met
from harness.options import Switch
from harness.outcome import Outcome, Verdict
from harness.pipelines import PIPELINES
from harness.pool import Pool
from harness.releases import own, release
from harness.replaying import (
    Again,
    Item,
    Replayed,
    counted,
    declared_item,
    known_item,
    recorded_item,
    replayed,
)

EPILOG = f"""FAILS: it fails as recorded. CHANGED: it is not right, and not as recorded. FIXED: it
failed, and does not any more. PASSES: it is right, and no failure is recorded of it. UNDECIDED: no
oracle says anything about it. A failure of which nothing is recorded is new, unless it is declared
as known (relaxcheck known). Of a campaign the smallest case of each finding runs.

Examples:

  relaxcheck replay 3f2a9c1b --fixes on

  relaxcheck replay runs/FOLDER --tvm 0.26

  relaxcheck replay corpus

  relaxcheck replay corpus/{FILE.name}

{EXIT_CODES}"""

_STYLES = {
    Again.FAILS: "red",
    Again.CHANGED: "bold red",
    Again.FIXED: "bold green",
    Again.PASSES: "green",
    Again.UNDECIDED: "yellow",
}
_INTERRUPTED = 130
_MESSAGE = 160


def replay(
    case: Annotated[
        str,
        typer.Argument(
            metavar="ID|DIR|FILE",
            help="A case's id, a corpus entry, what is declared as known, or a case file; or a "
            "campaign, a folder of cases or of entries.",
        ),
    ],
    fixes: Annotated[
        Switch | None, typer.Option(help="Override whether the fixes are installed.")
    ] = None,
    tvm: Annotated[
        str | None,
        typer.Option(
            metavar="RELEASE",
            help="Run it on this TVM release (default: the one that it was recorded with, or that "
            "of this environment; see relaxcheck releases).",
        ),
    ] = None,
    directory: Annotated[
        Path | None, typer.Option("--dir", help="The campaign to look in (default: all in runs/).")
    ] = None,
    workers: Annotated[
        int | None, typer.Option(min=1, help="Worker processes (default: one a core).")
    ] = None,
    case_seconds: Annotated[float, typer.Option(min=0.1, help="Deadline of each case.")] = 60,
) -> None:
    """Run cases again, each in a fresh process, and say what came of them by what was recorded."""
    with one_line_errors():
        known = declared()
        subjects = list(_subjects(case, directory, known))
        recorded_on = next(
            (one.found.environment["release"] for one in subjects if one.recorded), own().name
        )
        chosen = release(tvm or recorded_on)
        size = min(max(len(subjects), 1), workers or len(os.sched_getaffinity(0)))
        with Pool(size, Limits(seconds=case_seconds), release=chosen) as pool:
            version = pool.environment["apache-tvm"]
            side = None if fixes is None else fixes is Switch.ON
            items = [_item(one, known, version, side, chosen.name) for one in subjects]
            by_name = {one.name: one for one in every(tuple(PIPELINES))}
            expectations = Expectations(pool, by_name, known, Met())
            code = _run(pool, [one for one in items if one], expectations)
    raise typer.Exit(code)


@dataclass(frozen=True, slots=True)
class _Subject:
    """A case as it was found, or what is declared as known."""

    called: str
    found: Found
    known: Known | None = None

    @property
    def recorded(self) -> bool:
        """Whether it is of a campaign that says which release it ran on."""
        return "release" in self.found.environment


def _subjects(wanted: str, directory: Path | None, known: Sequence[Known]) -> Iterator[_Subject]:
    """What ``wanted`` names; a folder names all that is in it. Raises as ``look_up``."""
    path = Path(wanted)
    listed = path.resolve() == FILE
    named = [one for one in known if listed or one.name == wanted]
    if named or listed:
        yield from (_Subject(one.name, Found(one.case), one) for one in named)
        return
    if not path.is_dir() or (path / "case.json").is_file() or entry_folder(wanted) is not None:
        found = look_up(wanted, directory)
        yield _Subject(found.entry or found.case.identifier, found)
        return
    if (path / FILE_NAME).is_file():
        with Journal(path, Mode.READ) as journal:
            # Of several releases all run on the newest, each held against what came of it there.
            environment = described_on("", journal.description)
            for one in findings_in(journal):
                found = Found(one.case, one.outcome, one, environment)
                yield _Subject(one.case.identifier, found)
        return
    files = [*sorted(path.glob("*.json")), *sorted(path.rglob("case.json"))]
    files = [file for file in files if file.resolve() != FILE]
    if not files:
        raise CaseError(f"{path} holds no campaign, no case file and no entry of a corpus")
    for file in files:
        if file.name == "case.json":
            yield _Subject(file.parent.name, look_up(str(file.parent.resolve()), None))
        else:
            yield _Subject(str(file), Found(read(file)))


def _item(
    subject: _Subject, declared: Sequence[Known], version: str, fixes: bool | None, on: str
) -> Item | None:
    """What to run of ``subject``; None where it is not declared for this TVM."""
    found, known = subject.found, subject.known
    if known is not None:
        side = bool(known.fixes) if fixes is None else fixes
        return known_item(known, fixes=side) if known.concerns(version, fixes=side) else None
    moved = fixes is not None and fixes is not found.case.fixes
    case = msgspec.structs.replace(found.case, fixes=fixes) if moved else found.case
    for one in declared:
        if (
            isinstance(one, KnownFinding)
            and one.case.identifier == case.identifier
            and one.concerns(version, fixes=case.fixes)
        ):
            return replace(known_item(one, fixes=case.fixes), called=subject.called)
    if found.expected is not None:
        verdict = found.expected.verdict(version, fixes=case.fixes)
        return declared_item(subject.called, case, verdict)
    return recorded_item(subject.called, case, None if moved else _came_on(on, found))


def _came_on(release: str, found: Found) -> Outcome | None:
    """What is recorded of ``found`` on ``release``, if anything is."""
    if found.outcome is None:
        return None
    held = by_release(found.outcome)
    if "" in held:
        return held[""] if found.environment.get("release", release) == release else None
    return held.get(release)


def _run(pool: Pool, items: Sequence[Item], expectations: Expectations) -> int:
    """Run ``items`` and say what comes of each; the exit code."""
    out = console()
    if not items:
        out.print(f"Nothing is declared for apache-tvm {pool.environment['apache-tvm']}.")
        return 0
    ended: list[Replayed] = []
    interrupted = False
    try:
        for one in replayed(pool, items, expectations):
            if len(items) == 1 and _unreadable(one):
                raise CaseError(f"{one.item.called}: {one.outcome.message}")
            ended.append(one)
            if len(items) == 1:
                _tell(out, one, pool.environment)
            said = _line(one, message=len(items) > 1)
            out.print(said, highlight=False, soft_wrap=True)
    except KeyboardInterrupt:
        interrupted = True
    if len(items) > 1 or interrupted:
        left = f"; {len(items) - len(ended)} not run" if interrupted else ""
        out.print(counted(ended) + left, highlight=False)
    if interrupted:
        return _INTERRUPTED
    if any(map(_unreadable, ended)):
        return 2
    if any(one.outcome.verdict is Verdict.HARNESS_ERROR for one in ended):
        return 3
    return int(any(one.new for one in ended))


def _unreadable(one: Replayed) -> bool:
    """Whether the worker could not make anything of the case: bad input, for all we know."""
    return one.outcome.verdict is Verdict.HARNESS_ERROR and one.outcome.stage == "read"


def _line(one: Replayed, *, message: bool) -> str:
    outcome = one.outcome
    said = str(outcome.verdict) + (f" at {outcome.stage}" if outcome.stage else "")
    if one.again in (Again.CHANGED, Again.FIXED):
        said += f", recorded is {one.item.recorded}"
    if message and outcome.message and one.again in (Again.FAILS, Again.CHANGED):
        said += f": {headline(outcome.message)[:_MESSAGE]}"
    state = f"[{_STYLES[one.again]}]{one.again}[/]"
    return f"{state} {escape(one.item.called)}: {escape(said + _about_known(one))}"


def _about_known(one: Replayed) -> str:
    known = one.item.known
    if known is not None and one.again is Again.FIXED:
        return f"; remove it: relaxcheck known remove {known.name}"
    if known is not None and one.again is Again.FAILS and one.expected is None:
        return f" (expected until {known.expires})"
    return f" (known: {one.expected})" if one.expected and known is None else ""


def _tell(out: Console, one: Replayed, environment: dict[str, str]) -> None:
    case, outcome = one.item.case, one.outcome
    good = outcome.verdict in (Verdict.PASS, Verdict.REJECTED)
    style = "bold green" if good else "bold red"
    out.print(
        f"case {case.identifier} ({case.family}, {way(case)}, "
        f"fixes {'on' if case.fixes else 'off'}, apache-tvm {environment['apache-tvm']})"
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
