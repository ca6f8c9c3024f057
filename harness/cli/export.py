"""``relaxcheck export``."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import msgspec
import typer
from rich.console import Console

from generators.cases import read
from generators.program import CaseError, write
from harness.cli.exporting import (
    FaultError,
    Wanted,
    Workers,
    again,
    exported,
    record_of,
    release_of,
    without_fixes,
)
from harness.cli.exporting_all import everything, export_all, telling
from harness.cli.lookup import Found, look_up
from harness.cli.terminal import check_writable, console, one_line_errors
from harness.corpus import (
    CASE,
    FILES,
    FINDING,
    ISSUE,
    Record,
    entries,
    entry_folder,
    is_entry,
    read_record,
    record_text,
)
from harness.fingerprint import operators
from harness.jobs import Limits
from harness.outcome import Verdict
from harness.pool import Pool
from harness.releases import release
from harness.reproduction import limits_of
from reports.finding_folder import rendered, reproduced
from reports.pasting import title_of
from reports.repro import pytest_text

EPILOG = "\n\n".join(
    (
        "A folder has four files. repro.py is a script that needs only tvm, numpy and, for wrong "
        "values, torch; it exits with 1 while the bug is there and with 0 once it is gone. "
        "issue.md is TVM's bug-report template filled in, its first line the title. case.json is "
        "the case, for relaxcheck replay. finding.json is all that is known.",
        "Before it is written, the case is made as simple as it gets, run once more in a new "
        "process, tried with each of its settings back at the default, bisected over its passes, "
        "and run on every installed release with the fixes off and on; then the script is run. An "
        "entry of the corpus is left as it is. With --as-is only the case is run, if nothing is "
        "recorded of it.",
        "Examples:",
        "  relaxcheck export 3f2a9c1b",
        "  relaxcheck export --all --dir runs/2026-11-21-fixes-off --out exported",
        "  relaxcheck export CORPUS-ENTRY --pytest --out tests/python/relax",
        "  relaxcheck export --all --dir corpus       # what is new there: case.json, finding.json",
        "  relaxcheck export --rewrite                # repro.py and issue.md of the corpus again",
        "With --all, what was exported before is passed over: after Ctrl-C, give it again.",
        "Exit codes: 0 written; 1 some with --all could not be (one line says of each why); 2 bad "
        "input, the case does not fail, or the workers cannot start; 3 a fault of relaxcheck "
        "itself; 130 interrupted.",
    )
)


def export(
    case: Annotated[
        str | None,
        typer.Argument(help="A case file, a folder of one, a corpus entry, or a case's id."),
    ] = None,
    every: Annotated[
        bool, typer.Option("--all", help="Every finding of a campaign, each into OUT/FAMILY/ID.")
    ] = False,
    rewrite: Annotated[
        bool,
        typer.Option(
            "--rewrite",
            help="Write repro.py and issue.md again from the other two files, of one folder or of "
            "the whole corpus; nothing runs.",
        ),
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            help="The folder to write to (default: one named after it; with --pytest, here; with "
            "--all, corpus in the campaign's)."
        ),
    ] = None,
    pytest: Annotated[
        bool,
        typer.Option(
            "--pytest",
            help="Write one test as in TVM's tests/python/relax, marked as an expected failure.",
        ),
    ] = False,
    as_is: Annotated[
        bool,
        typer.Option("--as-is", help="Write what is recorded, without looking into it further."),
    ] = False,
    directory: Annotated[
        Path | None,
        typer.Option(
            "--dir",
            help="The campaign to look in (default: all in runs/; with --all the last one). With "
            "--all also a corpus.",
        ),
    ] = None,
    minutes: Annotated[
        float, typer.Option(min=0.01, help="How long to reduce one case at most.")
    ] = 3,
    case_seconds: Annotated[
        float | None,
        typer.Option(
            min=0.1, help="Deadline of a run (default: 60, or that of a recorded timeout)."
        ),
    ] = None,
) -> None:
    """Write a failure as a script and an issue that can be pasted, or as a test for TVM."""
    voice = console()
    with one_line_errors(), _faults_apart(voice):
        _check_options(case, every=every, rewrite=rewrite, pytest=pytest, as_is=as_is)
        if rewrite:
            for path in _rewritten(case):
                _print(voice, str(path))
            return
        if every:
            given = everything(directory, out, minutes * 60)
            check_writable(given.out)
            raise typer.Exit(export_all(given, case_seconds, voice))
        assert case is not None
        found = look_up(case, directory)
        limits = _limits(found, case_seconds)
        folder = out or Path("" if pytest else _name(found))
        # At once: what is found out takes minutes.
        check_writable(folder)
        if pytest or as_is:
            record = _recorded(case, without_fixes(found), limits)
            save = _test if pytest else _folder
            try:
                folder.mkdir(parents=True, exist_ok=True)
                paths = save(folder, without_fixes(found), record)
            except OSError as error:
                raise CaseError(f"cannot write to {folder}: {error.strerror}") from error
        else:
            wanted = Wanted(case, found, folder, seconds=minutes * 60)
            with Workers(limits) as workers, telling(voice, "") as say:
                exported(wanted, workers, say)
            paths = sorted(wanted.folder / name for name in FILES)
        for path in paths:
            _print(voice, str(path))
        if not pytest:
            _print(
                voice, f"The first line of {folder / ISSUE} is a title to paste, the rest the text."
            )


def _check_options(
    case: str | None, *, every: bool, rewrite: bool, pytest: bool, as_is: bool
) -> None:
    if every + rewrite + pytest + as_is > 1:
        raise CaseError("--all, --rewrite, --pytest and --as-is exclude each other")
    if every and case is not None:
        raise CaseError(f"--all exports every finding; leave out {case}")
    if case is None and not (every or rewrite):
        raise CaseError("give a case, or --all")


@contextmanager
def _faults_apart(voice: Console) -> Iterator[None]:
    try:
        yield
    except FaultError as fault:
        _print(voice, f"harness-error: {fault}")
        raise typer.Exit(3) from fault


def _name(found: Found) -> str:
    return found.entry or found.case.identifier


def _print(voice: Console, line: str) -> None:
    voice.print(line, markup=False, highlight=False, soft_wrap=True)


def _limits(found: Found, seconds: float | None) -> Limits:
    """The deadline that was asked for, or else the one that a recorded timeout was past."""
    if seconds is not None:
        return Limits(seconds=seconds)
    if found.expected is not None:
        return Limits(seconds=found.expected.seconds)
    return Limits() if found.outcome is None else limits_of(found.outcome, Limits())


def _recorded(called: str, found: Found, limits: Limits) -> Record:
    """What is recorded of ``found``; where nothing came of it yet, it runs.

    Raises:
        CaseError: it does not fail.
    """
    if found.expected is not None and found.expected.outcome is not None:
        return found.expected
    environment = dict(found.environment)
    outcome = found.outcome
    if outcome is None:
        with Pool(1, limits, release=release(release_of(found))) as pool:
            outcome, environment = again(found.case, pool, called), pool.environment
    if outcome.verdict is Verdict.HARNESS_ERROR:
        raise FaultError(f"{called}: {outcome.message}")
    if not outcome.verdict.is_failure:
        raise CaseError(f"{called} does not fail without the fixes: {outcome.verdict}")
    record = record_of(found, outcome, environment, limits.seconds)
    title = record.title or title_of(found.case, outcome, record.attribution, record.blame, limits)
    return msgspec.structs.replace(record, title=title)


def _test(folder: Path, found: Found, record: Record) -> list[Path]:
    about = found.entry or f"{operators(found.case)} {found.case.identifier[:8]}"
    name = "test_" + re.sub(r"\W+", "_", about).strip("_").lower()
    path = folder / f"{name}.py"
    what = reproduced(found.case, record)
    path.write_text(pytest_text(what, f"[Bug][Relax] {record.title}", record.environment, name))
    return [path]


def _folder(folder: Path, found: Found, record: Record) -> list[Path]:
    for name, text in rendered(found.case, record).items():
        (folder / name).write_text(text)
    write(found.case, folder / CASE)
    (folder / FINDING).write_bytes(record_text(record))
    return sorted(folder / name for name in FILES)


def _rewritten(wanted: str | None) -> Iterator[Path]:
    """Write what has changed of the rendered files of ``wanted``, or of the whole corpus."""
    folders = [one.folder for one in entries()]
    if wanted is not None:
        place = entry_folder(wanted) or Path(wanted)
        folders = [place] if is_entry(place) else [one.folder for one in entries(place)]
    if not folders:
        raise CaseError(f"{wanted}: no folder with {CASE} and {FINDING}, nor one of such")
    for folder in folders:
        for name, text in rendered(read(folder / CASE), read_record(folder)).items():
            path = folder / name
            try:
                if not path.is_file() or path.read_text() != text:
                    path.write_text(text)
                    yield path
            except OSError as error:
                raise CaseError(f"cannot write to {path}: {error.strerror}") from error
