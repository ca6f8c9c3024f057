"""``relaxcheck export``."""

import re
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from generators.program import CaseError, write
from harness.cli.lookup import Found, look_up
from harness.cli.terminal import console, one_line_errors
from harness.finding import operators
from harness.jobs import Job, Limits
from harness.outcome import Verdict
from harness.pool import Pool
from harness.releases import own, release
from harness.reproduction import Reproduction, reproduction
from reports.issue import attribution, issue_text, title_text
from reports.repro import pytest_text, repro_text

EPILOG = "\n\n".join(
    (
        "A folder has four files. repro.py is a script that needs only tvm, numpy and, for wrong "
        "values, torch; it exits with 1 while the bug is there and with 0 once it is gone. "
        "issue.md is TVM's bug-report template filled in, its first line the title. case.json is "
        "the case, for relaxcheck replay. finding.json is all that is known. Where no outcome is "
        "recorded, the case runs once, in a fresh process, without the fixes, on the TVM release "
        "of its campaign, or of this environment.",
        "Examples:",
        "  relaxcheck export 3f2a9c1b",
        "  relaxcheck export CORPUS-ENTRY --pytest --out tests/python/relax",
        "Exit codes: 0 written; 2 bad input, the case does not fail, or the workers cannot start; "
        "3 a fault of relaxcheck itself; 130 interrupted.",
    )
)


def export(
    case: Annotated[
        str, typer.Argument(help="A case file, a folder of one, a corpus entry, or a case's id.")
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            help="The folder to write to (default: one named after it; with --pytest, here)."
        ),
    ] = None,
    pytest: Annotated[
        bool,
        typer.Option(
            "--pytest",
            help="Write one test as in TVM's tests/python/relax, marked as an expected failure.",
        ),
    ] = False,
    directory: Annotated[
        Path | None, typer.Option("--dir", help="The campaign to look in (default: all in runs/).")
    ] = None,
    case_seconds: Annotated[float, typer.Option(min=0.1, help="Deadline of the case.")] = 60,
) -> None:
    """Write a failure as a script and an issue that can be pasted, or as a test for TVM."""
    voice = console()
    with one_line_errors():
        found = _without_fixes(look_up(case, directory))
        limits = Limits(seconds=case_seconds)
        if found.outcome is None:
            found = _run(case, found, limits)
        outcome = found.outcome
        assert outcome is not None
        if outcome.verdict is Verdict.HARNESS_ERROR:
            voice.print(f"harness-error: {outcome.message}", markup=False)
            raise typer.Exit(3)
        if not outcome.verdict.is_failure:
            raise CaseError(f"{case} does not fail without the fixes: {outcome.verdict}")
        what = reproduction(found.case, outcome, limits)
        folder = out or Path("" if pytest else found.entry or found.case.identifier)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            written = _test(folder, found, what) if pytest else _folder(folder, found, what)
        except OSError as error:
            raise CaseError(f"cannot write to {folder}: {error.strerror}") from error
    for path in written:
        voice.print(str(path), markup=False, highlight=False, soft_wrap=True)


def _without_fixes(found: Found) -> Found:
    """``found`` as a maintainer sees it; what came of it with the fixes says nothing then."""
    if not found.case.fixes:
        return found
    return Found(
        msgspec.structs.replace(found.case, fixes=False),
        environment=found.environment,
        entry=found.entry,
        expected=found.expected,
    )


def _run(called: str, found: Found, limits: Limits) -> Found:
    name = found.environment.get("release", own().name)
    with Pool(1, limits, release=release(name)) as pool:
        pool.submit(Job(found.case, fresh=True))
        ((_, outcome),) = pool.drain()
        if outcome.verdict is Verdict.HARNESS_ERROR and outcome.stage == "read":
            raise CaseError(f"{called}: {outcome.message}")
        return Found(
            found.case, outcome, found.finding, pool.environment, found.entry, found.expected
        )


def _title(found: Found, what: Reproduction) -> str:
    return title_text(what, found.finding, found.expected.title if found.expected else None)


def _test(folder: Path, found: Found, what: Reproduction) -> list[Path]:
    about = found.entry or f"{operators(found.case)} {found.case.identifier[:8]}"
    name = "test_" + re.sub(r"\W+", "_", about).strip("_").lower()
    path = folder / f"{name}.py"
    path.write_text(pytest_text(what, _title(found, what), found.environment, name))
    return [path]


def _folder(folder: Path, found: Found, what: Reproduction) -> list[Path]:
    title = _title(found, what)
    script = repro_text(what, title, found.environment)
    issue = issue_text(
        what,
        title,
        script,
        found.environment,
        blamed=attribution(found.finding) if found.finding else "",
        known=found.expected.issue if found.expected else None,
    )
    record = found.finding or what.outcome
    paths = [folder / name for name in ("repro.py", "issue.md", "case.json", "finding.json")]
    paths[0].write_text(script)
    paths[1].write_text(issue)
    write(found.case, paths[2])
    paths[3].write_bytes(msgspec.json.format(msgspec.json.encode(record), indent=1) + b"\n")
    return paths
