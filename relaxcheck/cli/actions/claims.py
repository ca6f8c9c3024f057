"""``relaxcheck claims``: runs every check and writes the page."""

from collections.abc import Sequence
from pathlib import Path

from relaxcheck.cli.actions.matrix import shown
from relaxcheck.cli.exit_codes import BAD_INPUT, FAULT
from relaxcheck.cli.terminal import console
from relaxcheck.generators.core.case import CaseError
from relaxcheck.harness.matrix import claims as running
from relaxcheck.harness.outcomes.outcome import Verdict
from relaxcheck.harness.paths import CHECKOUT
from relaxcheck.harness.releases.releases import known
from relaxcheck.harness.workers.jobs import Limits
from relaxcheck.reports.tables import claims_page

PAGE = CHECKOUT / "docs" / "claims.md" if CHECKOUT else None


def claims(
    tvm: Sequence[str] | None, out: Path | None, *, workers: int, case_seconds: float
) -> int:
    """Run every check, print surprises, write the page; the exit code.

    Raises:
        CaseError: the claims or a release cannot be used, or the page cannot be written.
    """
    screen = console()
    wanted = running.read()
    with shown(screen) as show:
        limits = Limits(seconds=case_seconds)
        answers = running.run(wanted, tvm or known(), workers, limits, show)
    for column in answers.columns:
        if column.missing:
            screen.print(f"{column.release}: {column.missing}", highlight=False)
    surprises = claims_page.surprises(answers)
    for line in surprises:
        screen.print(line, highlight=False, markup=False, soft_wrap=True)
    complete = not any(column.missing for column in answers.columns)
    page = PAGE if out is None and not tvm and complete else out
    if page is not None:
        try:
            page.write_text(claims_page.markdown(answers))
        except OSError as error:
            raise CaseError(f"cannot write to {page}: {error.strerror}") from error
        screen.print(f"Written to {page}", highlight=False, soft_wrap=True)
    return _exit_code(answers, bool(surprises))


def _exit_code(answers: running.Answers, surprising: bool) -> int:
    cells = (
        cell
        for answer in answers.answers
        for line in answer.lines
        for sides in line.cells.values()
        for cell in sides.values()
    )
    if any(cell.verdict is Verdict.HARNESS_ERROR for cell in cells):
        return FAULT
    if all(column.missing for column in answers.columns):
        return BAD_INPUT
    return int(surprising)
