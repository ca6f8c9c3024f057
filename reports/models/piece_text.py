"""The explanation of a fault in plain words: traps, nodes that fail, the piece, and the cure."""

from collections.abc import Iterator

from relaxcheck.harness.models.report import Cure, Failing, Piece, Report, Trap
from relaxcheck.harness.outcomes.outcome import Verdict
from relaxcheck.harness.wording import plural
from relaxcheck.reports.models.files import CASE, ISSUE, SCRIPT, files
from relaxcheck.reports.onnx.model_text import model_lines

_SHOWN = 10
_LINES = 12


def explanation(report: Report, folder: str = "") -> Iterator[str]:
    """Lines on why a model fails, and what to do; the files of the piece lie in ``folder``."""
    yield from _traps(report.traps)
    yield from _failing(report.failing)
    if report.piece is not None:
        yield from _piece(report, report.piece)
        yield from _cure(report, report.piece)
        yield from _next(report, report.piece, folder)


def _traps(traps: tuple[Trap, ...]) -> Iterator[str]:
    if traps:
        yield "Known to go wrong, by a look at the imported module:"
    for each in traps[:_SHOWN]:
        behind = f" ({plural(each.followers, 'binding')} follow from it)" if each.followers else ""
        yield f"  {each.node} ({each.operator}): {each.sentence}{behind}"
    if len(traps) > _SHOWN:
        yield f"  and {len(traps) - _SHOWN} more"


def _failing(failing: tuple[Failing, ...]) -> Iterator[str]:
    roots = [each for each in failing if not each.behind]
    if roots:
        yield f"{plural(len(roots), 'node')} that {_do(roots)} not compile alone:"
    for each in roots[:_SHOWN]:
        yield f"  {each.node} ({each.operator}): {each.message}"
    if len(roots) > _SHOWN:
        yield f"  and {len(roots) - _SHOWN} more"
    behind = len(failing) - len(roots)
    if behind:
        yield f"  {plural(behind, 'further node')} fail only because an earlier shape was lost"


def _do(rows: list[Failing]) -> str:
    return "does" if len(rows) == 1 else "do"


def _piece(report: Report, piece: Piece) -> Iterator[str]:
    size = plural(len(piece.nodes), "node")
    tries = f", found in {plural(piece.tries, 'try', 'tries')}" if piece.tries else ""
    least = "" if piece.minimal else "; the search ended early"
    yield f"The smallest piece that fails in this way: {size}{tries}{least}."
    if piece.case is not None:
        lines = list(model_lines(piece.case.model))
    elif piece.calls is not None:
        lines = list(piece.calls.calls)
    else:
        text = piece.module.splitlines()
        lines = [line.strip() for line in text if " = " in line]
    for line in lines[:_LINES]:
        yield f"  {line}"
    if len(lines) > _LINES:
        yield f"  and {plural(len(lines) - _LINES, 'further line')}"
    alone = piece.case is not None or piece.calls is not None
    what = (
        "" if alone or not piece.module else " (as a Relax module; its nodes alone do not fail so)"
    )
    # What an importer says that it lacks is no crash.
    verdict = Verdict.UNSUPPORTED if report.lacking else piece.fault.verdict
    yield f"  {verdict}{what}: {piece.fault.message}"


def _cure(report: Report, piece: Piece) -> Iterator[str]:
    cure = report.cure
    if cure is None:
        return
    if not cure.fixes:
        yield "No bundled fix cures it."
        return
    names = ", ".join(cure.fixes)
    yield f"Cured by {'the fix' if len(cure.fixes) == 1 else 'the fixes'} {names}."
    yield from (f"  mends: {fault}" for fault in cure.faults)
    yield from (f"  reported upstream: {issue}" for issue in cure.issues)
    if cure.entries:
        yield f"  corpus: {', '.join(cure.entries[:_SHOWN])}"
    if cure.whole is not None:
        yield f"  with {names} alone the whole model {'is right' if cure.whole else 'still fails'}"


def _next(report: Report, piece: Piece, folder: str) -> Iterator[str]:
    steps = []
    if isinstance(report.cure, Cure) and report.cure.fixes:
        steps.append("from relaxcheck import fixes; fixes.install() before the import of the model")
    elif report.cure is not None:
        steps.append("give --tvm all to see whether another installed release is right")
    names = files(report)
    if folder and SCRIPT in names:
        issue = f", and {folder}/{ISSUE} is the issue to paste" if ISSUE in names else ""
        steps.append(f"python {folder}/{SCRIPT} shows it{issue}")
    elif SCRIPT in names:
        issue = ", and an issue to paste" if ISSUE in names else ""
        steps.append(f"give --out DIR for a script that shows it{issue}")
    if folder and piece.case is not None:
        case = f"{folder}/{CASE}"
        steps.append(f"relaxcheck reduce {case} makes it smaller; replay and export take it, too")
    if steps:
        yield "What to do:"
        yield from (f"  {each}" for each in steps)
