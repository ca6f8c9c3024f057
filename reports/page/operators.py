"""The section of the page that has the operators: how far each is covered, and how it fared."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec

from relaxcheck.generators.core.case import CaseError
from relaxcheck.harness.outcomes.outcome import Verdict
from relaxcheck.harness.programs.support.rows import LIMITED, YES, Support

COMMITTED = Path(__file__).resolve().parents[1] / "operators" / "operators.json"
"""The support table that comes with relaxcheck: every operator of the newest release."""

_MARKS = {YES: "yes", LIMITED: "limited"}
_ORACLES = ("reference", "pytorch", "onnxruntime")


@dataclass(frozen=True, slots=True)
class Line:
    """An operator with a record: its number of axes, an answer for each oracle, names of fixes.

    ``verdicts`` are the campaign's cases of its own family by verdict, and ``failing`` those among
    them that failed.
    """

    operator: str
    drawn_by: str
    axes: int
    oracles: tuple[str, ...]
    fixes: str
    verdicts: str
    failing: int


@dataclass(frozen=True, slots=True)
class Section:
    """The operators of ``release`` with a record, without for a reason, and those left open."""

    lines: tuple[Line, ...]
    undrawn: tuple[tuple[str, str], ...]
    open: tuple[str, ...]
    release: str


def last(path: Path = COMMITTED) -> Support | None:
    """The support table that was written last, None where there is none.

    Raises:
        CaseError: it cannot be read.
    """
    try:
        return msgspec.json.decode(path.read_bytes(), type=Support)
    except FileNotFoundError:
        return None
    except (OSError, msgspec.DecodeError) as error:
        raise CaseError(f"{path}: {error}; run: relaxcheck operators --docs") from error


def support_text(support: Support) -> str:
    """``support`` as the file that ``last`` reads."""
    return msgspec.json.format(msgspec.json.encode(support), indent=1).decode() + "\n"


def section(support: Support, verdicts: Mapping[str, Mapping[str, int]]) -> Section:
    """``support`` as the page shows it; ``verdicts`` are a campaign's, by operator."""
    return Section(
        tuple(
            Line(
                row.operator,
                "" if row.drawn_by == row.operator else row.drawn_by,
                row.axes,
                tuple(_MARKS.get(row.oracles[oracle], "") for oracle in _ORACLES),
                ", ".join(row.fixes),
                _counts(verdicts.get(row.drawn_by, {})),
                _failing(verdicts.get(row.drawn_by, {})),
            )
            for row in support.rows
            if row.record
        ),
        tuple(
            (row.operator, row.reason) for row in support.rows if not row.record and not row.is_open
        ),
        tuple(row.operator for row in support.rows if row.is_open),
        support.release,
    )


def _counts(verdicts: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {verdict}" for verdict, count in verdicts.items())


def _failing(verdicts: Mapping[str, int]) -> int:
    return sum(count for verdict, count in verdicts.items() if Verdict(verdict).is_failure)
