"""``relaxcheck fixes``: lists fixes by need, and writes them as patches."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec
from rich.table import Table

from relaxcheck.cli.exit_codes import FAILED
from relaxcheck.cli.options import ResultFormat
from relaxcheck.cli.terminal import console, error_console
from relaxcheck.generators.core.case import CaseError
from relaxcheck.harness.releases.patching import TOGETHER, patches, write
from relaxcheck.harness.releases.releases import known, own, release, state
from relaxcheck.harness.releases.surveying import Survey, Surveyed, survey
from relaxcheck.reports.sections import with_section

COMMAND = "relaxcheck fixes --tvm all --out docs/fixes.md"
"""Writes the table of ``docs/fixes.md``."""


def check_options(tvm: str | None, form: ResultFormat | None, page: Path | None) -> None:
    """Check that none precedes ``export``. Raises ``CaseError``."""
    if tvm is not None or form is not None or page is not None:
        raise CaseError("give --tvm after export; --format and --out are for the list alone")


def show(tvm: str | None, form: ResultFormat | None, page: Path | None) -> None:
    """Print the fixes and how much of each a release needs, or write the table of ``page``.

    Raises:
        CaseError: the page cannot be written, or there is a format for it.
        ReleaseError: a release does not start.
    """
    if form is not None and page is not None:
        raise CaseError("--out writes Markdown; --format is for standard output")
    surveys = []
    wanted = _wanted(tvm)
    for name in wanted:
        with _waiting(f"probing TVM {name}", lines=len(wanted) > 1):
            surveys.append(survey(release(name)))
    if page is not None:
        _write_table(page, surveys)
    elif form is ResultFormat.JSON:
        sys.stdout.write(msgspec.json.encode(surveys).decode() + "\n")
    else:
        console().print(_by_release(surveys) if len(surveys) > 1 else _of_one(surveys[0]))


def export(to: Path, names: Sequence[str], tvm: str | None) -> int:
    """Write patches to the folder ``to`` and print each; the exit code.

    Raises:
        CaseError: the folder cannot be written.
        ReleaseError: there is no such fix, or the release does not start.
    """
    name = tvm or own().name
    with _waiting(f"reading the sources of TVM {name}"):
        patched = patches(release(name), tuple(dict.fromkeys(names)))
    out = console()
    try:
        earlier = write(patched, to, every=not names)
    except OSError as error:
        raise CaseError(f"cannot write to {to}: {error.strerror}") from error
    lines = []
    for patch in patched.patches:
        above = "; above C++, which it leaves as it is" if patch.over_cpp else ""
        path = f"{to / patch.name}.patch{above}"
        lines.append(path if patch.text else f"{patch.name}: {patch.why}")
    if patched.together:
        lines.append(f"{to / TOGETHER}.patch: all of them, each helper once")
    for old in earlier:
        action = "removed" if old.removed else "left as it is"
        lines.append(f"{old.path}: from an earlier export, for apache-tvm {old.tvm}; {action}")
    for line in lines:
        out.print(line, markup=False, highlight=False, soft_wrap=True)
    return FAILED if any(patch.failed for patch in patched.patches) else 0


def _wanted(tvm: str | None) -> list[str]:
    if tvm == "all":
        return [name for name in known() if state(name).usable]
    return [tvm or own().name]


@contextmanager
def _waiting(text: str, *, lines: bool = False) -> Iterator[None]:
    errors = error_console()
    if errors.is_terminal:
        with errors.status(text):
            yield
        return
    if lines:
        errors.print(f"{text} …", markup=False, highlight=False, soft_wrap=True)
    yield


def _patch(fix: Surveyed) -> str:
    return "a pass" if fix.passes else "above C++" if fix.over_cpp else "in place"


def _of_one(survey: Survey) -> Table:
    table = Table(title=f"TVM {survey.tvm}", title_justify="left", box=None, pad_edge=False)
    for column in ("fix", "need", "parts of the fault that are there", "patch"):
        table.add_column(column, overflow="fold")
    table.add_column("issue", no_wrap=True)
    for fix in survey.fixes:
        parts = ", ".join(
            f"{part.name} (signal {part.signal})" if part.signal else part.name
            for part in fix.parts
            if part.present
        )
        table.add_row(fix.name, fix.need, parts, _patch(fix), fix.issue or "")
    return table


def _by_release(surveys: list[Survey]) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column("fix", no_wrap=True)
    for each in surveys:
        table.add_column(f"TVM {each.release}", no_wrap=True)
    for rows in zip(*(each.fixes for each in surveys), strict=True):
        table.add_row(rows[0].name, *(fix.need for fix in rows))
    return table


def _write_table(page: Path, surveys: list[Survey]) -> None:
    try:
        text = page.read_text() if page.exists() else ""
        page.write_text(with_section(text, COMMAND, markdown(surveys)))
    except OSError as error:
        raise CaseError(f"cannot write to {page}: {error.strerror}") from error


def markdown(surveys: list[Survey]) -> str:
    """A table in Markdown: each fix with its fault, its patch, and its need by release."""
    names = [f"TVM {surveyed.release}" for surveyed in surveys]
    lines = [_row("fix", "what was wrong", "patch", *names), "|" + "---|" * (3 + len(names))]
    for rows in zip(*(surveyed.fixes for surveyed in surveys), strict=True):
        fix = rows[0]
        fault = f"{fix.fault} ({fix.issue})" if fix.issue else fix.fault
        lines.append(_row(f"`{fix.name}`", fault, _patch(fix), *(each.need for each in rows)))
    return "\n".join(lines) + "\n"


def _row(*cells: str) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"
