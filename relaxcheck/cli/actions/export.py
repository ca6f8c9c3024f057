"""``relaxcheck export``: one failure, all of a campaign, or the rendered files of the corpus."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import msgspec
from rich.console import Console

from relaxcheck.cli.actions.exporting.every import everything, export_all, telling
from relaxcheck.cli.actions.exporting.running import FaultError, again
from relaxcheck.cli.actions.exporting.single import (
    Wanted,
    exported,
    record_of,
    release_of,
    without_fixes,
)
from relaxcheck.cli.actions.exporting.workers import Workers
from relaxcheck.cli.actions.exporting.writing import write_whole
from relaxcheck.cli.exit_codes import FAULT
from relaxcheck.cli.lookup import RecordedCase, look_up
from relaxcheck.cli.pipelines import compiled_by, named_by_user
from relaxcheck.cli.terminal import check_writable, console
from relaxcheck.generators.core.case import CaseError, text_of
from relaxcheck.harness.kinds import read
from relaxcheck.harness.known.corpus import (
    CASE,
    CURED,
    EXPORTED,
    FINDING,
    ISSUE,
    Record,
    entries,
    entry_folder,
    is_entry,
    read_record,
    record_text,
)
from relaxcheck.harness.outcomes.outcome import Verdict
from relaxcheck.harness.releases.releases import release
from relaxcheck.harness.triage.fingerprint import operators
from relaxcheck.harness.workers.jobs import Limits, limits_of
from relaxcheck.harness.workers.pool import Pool
from relaxcheck.reports.issue.finding_folder import pytest_of, rendered
from relaxcheck.reports.issue.pasting import title_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """The options that choose what is written; at most one of them."""

    every: bool
    rewrite: bool
    pytest: bool
    as_is: bool


def export(
    name: str | None,
    directory: Path | None,
    choice: Choice,
    *,
    pipeline: str | None,
    out: Path | None,
    minutes: float,
    case_seconds: float | None,
) -> int:
    """Export the case that the user calls ``name``, or what ``choice`` says; the exit code.

    Raises:
        CaseError: there is no such case, it does not fail, or the folder cannot be written.
        PoolError: the workers cannot start.
    """
    screen = console()
    _check_options(name, choice)
    if choice.rewrite:
        for path in _rewritten(name):
            _print(screen, str(path))
        return 0
    if pipeline is not None:
        named_by_user([pipeline])
    if choice.every:
        exports = everything(directory, out, minutes * 60)
        check_writable(exports.out)
        return export_all(exports, case_seconds, screen)
    assert name is not None
    recorded = look_up(name, directory)
    # As recorded: only to say that code of the user's own may be imported.
    compiled_by(recorded.case, None)
    limits = _limits(recorded, case_seconds)
    folder = out or Path("" if choice.pytest else _name(recorded))
    # Now rather than after the minutes that an export takes.
    check_writable(folder)
    try:
        if choice.pytest or choice.as_is:
            record = _recorded(name, without_fixes(recorded), limits)
            save = _test if choice.pytest else _folder
            try:
                paths = save(folder, without_fixes(recorded), record)
            except OSError as error:
                raise CaseError(f"cannot write to {folder}: {error.strerror}") from error
        else:
            wanted = Wanted(name, recorded, folder, seconds=minutes * 60)
            with Workers(limits) as workers, telling(screen, "") as say:
                record = exported(wanted, workers, say)
            cured = record.cure is not None and record.cure.patched
            paths = sorted(folder / file for file in (*wanted.files, *CURED * cured))
    except FaultError as fault:
        _print(screen, f"harness-error: {fault}")
        return FAULT
    for path in paths:
        _print(screen, str(path))
    if not choice.pytest:
        _print(screen, f"Paste {folder / ISSUE}: its first line is the title, the rest the text.")
    return 0


def _check_options(name: str | None, choice: Choice) -> None:
    if choice.every + choice.rewrite + choice.pytest + choice.as_is > 1:
        raise CaseError("--all, --rewrite, --pytest and --as-is exclude each other")
    if choice.every and name is not None:
        raise CaseError(f"--all exports every cause; leave out {name}")
    if name is None and not (choice.every or choice.rewrite):
        raise CaseError("give a case, or --all")


def _name(recorded: RecordedCase) -> str:
    return recorded.entry or recorded.case.identifier


def _print(out: Console, line: str) -> None:
    out.print(line, markup=False, highlight=False, soft_wrap=True)


def _limits(recorded: RecordedCase, seconds: float | None) -> Limits:
    """The deadline: the given one, else that of a recorded timeout."""
    if seconds is not None:
        return Limits(seconds=seconds)
    if recorded.expected is not None:
        return Limits(seconds=recorded.expected.seconds)
    return Limits() if recorded.outcome is None else limits_of(recorded.outcome, Limits())


def _recorded(called: str, recorded: RecordedCase, limits: Limits) -> Record:
    """The record of ``recorded``; runs it where nothing is recorded.

    Raises:
        CaseError: it does not fail.
    """
    if recorded.expected is not None and recorded.expected.outcome is not None:
        return recorded.expected
    environment = dict(recorded.environment)
    outcome = recorded.outcome
    if outcome is None:
        with Pool(1, limits, release=release(release_of(recorded), alone=True)) as pool:
            outcome, environment = again(recorded.case, pool, called), pool.environment
    if outcome.verdict is Verdict.HARNESS_ERROR:
        raise FaultError(f"{called}: {outcome.message}")
    if not outcome.verdict.is_failure:
        raise CaseError(f"{called} does not fail without the fixes: {outcome.verdict}")
    record = record_of(recorded, outcome, environment, limits.seconds)
    title = record.title or title_of(
        recorded.case, outcome, record.attribution, record.blame, limits
    )
    return msgspec.structs.replace(record, title=title)


def _test(folder: Path, recorded: RecordedCase, record: Record) -> list[Path]:
    about = recorded.entry or f"{operators(recorded.case)} {recorded.case.identifier[:8]}"
    name = "test_" + re.sub(r"\W+", "_", about).strip("_").lower()
    return write_whole(folder, {f"{name}.py": pytest_of(recorded.case, record, name).encode()})


def _folder(folder: Path, recorded: RecordedCase, record: Record) -> list[Path]:
    # No patch is written here, so the issue must not speak of one.
    if record.cure is not None:
        cure = msgspec.structs.replace(record.cure, patched=False)
        record = msgspec.structs.replace(record, cure=cure)
    texts = {name: text.encode() for name, text in rendered(recorded.case, record).items()}
    # finding.json last: an export that has it is complete.
    files = {**texts, CASE: text_of(recorded.case), FINDING: record_text(record)}
    assert set(files) == set(EXPORTED)
    return write_whole(folder, files)


def _rewritten(wanted: str | None) -> Iterator[Path]:
    """Rewrite the rendered files of ``wanted``, or of the whole corpus; the paths that changed."""
    folders = [entry.folder for entry in entries()]
    if wanted is not None:
        place = entry_folder(wanted) or Path(wanted)
        folders = [place] if is_entry(place) else [entry.folder for entry in entries(place)]
    if not folders:
        raise CaseError(f"{wanted}: no folder with {CASE} and {FINDING}, nor one of such")
    for folder in folders:
        for name, text in rendered(read(folder / CASE), read_record(folder)).items():
            path = folder / name
            if name == ISSUE and not path.is_file():
                continue
            try:
                if not path.is_file() or path.read_text() != text:
                    write_whole(folder, {name: text.encode()})
                    yield path
            except OSError as error:
                raise CaseError(f"cannot write to {path}: {error.strerror}") from error
