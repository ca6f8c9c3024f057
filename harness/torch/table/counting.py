"""The rows of the support table: what becomes of each one's programs on each release."""

from collections import Counter
from collections.abc import Callable, Sequence

import msgspec
import torch

from relaxcheck.harness.matrix import matrix
from relaxcheck.harness.outcomes.outcome import Verdict
from relaxcheck.harness.releases.releases import ReleaseError
from relaxcheck.harness.torch.table.selecting import CORE, FORMS, Subject, core
from relaxcheck.harness.workers.jobs import Limits

PASSES, WRONG, CRASHES, UNSUPPORTED = "pass", "wrong", "crash", "unsupported"
ENDINGS = (PASSES, WRONG, CRASHES, UNSUPPORTED)
"""The ways for a program to end that the table counts, best first."""

OFF, ON = matrix.SIDES[False], matrix.SIDES[True]

Counts = dict[str, int]
"""Numbers of programs by ending."""


class Row(msgspec.Struct, frozen=True):
    """An operator of core ATen, or a layer; ``cells`` are by form, then release, then side."""

    kind: str
    name: str
    cells: dict[str, dict[str, dict[str, Counts]]]


class Table(msgspec.Struct, frozen=True):
    """All rows; ``torch`` is PyTorch's release, ``unsampled`` are operators without a program.

    ``versions`` are those of apache-tvm by release, the oldest first. ``faults`` are runs in which
    relaxcheck itself failed.
    """

    torch: str
    versions: dict[str, str]
    rows: tuple[Row, ...]
    unsampled: tuple[str, ...]
    faults: tuple[str, ...] = ()


def ending(verdict: Verdict) -> str:
    """The ending that ``verdict`` counts as; "" where it says nothing about TVM."""
    match verdict:
        case Verdict.PASS:
            return PASSES
        case Verdict.WRONG_VALUE | Verdict.WRONG_SHAPE | Verdict.WRONG_DTYPE:
            return WRONG
        case Verdict.UNSUPPORTED:
            return UNSUPPORTED
    return CRASHES if verdict.is_failure else ""


def counted(
    subjects: Sequence[Subject],
    releases: Sequence[str],
    workers: int,
    limits: Limits,
    show: Callable[[str, int, int], None],
) -> Table:
    """The table of ``subjects``, each program run once on each release and side.

    Raises:
        ReleaseError: a release is not installed, or does not start.
    """
    cases = {
        case.identifier: case
        for subject in subjects
        for form in FORMS
        for case in subject.cases[form]
    }
    wanted = [matrix.subject_of(name, case) for name, case in cases.items()]
    found = matrix.run(wanted, releases, workers, limits, show)
    for column in found.columns:
        if column.missing:
            raise ReleaseError(f"TVM {column.release}: {column.missing}")
    cells = {row.name: row.cells for row in found.rows}
    rows = tuple(
        Row(
            subject.kind,
            subject.name,
            {
                form: {
                    name: {
                        side: _counts(
                            [cells[case.identifier][name][side] for case in subject.cases[form]]
                        )
                        for side in (OFF, ON)
                    }
                    for name in releases
                }
                for form in FORMS
            },
        )
        for subject in subjects
    )
    sampled = {subject.name for subject in subjects if subject.kind == CORE}
    return Table(
        str(torch.__version__).split("+")[0],
        {column.release: column.environment["apache-tvm"] for column in found.columns},
        rows,
        tuple(sorted(core() - sampled)),
        tuple(
            f"{row.title} on {name}, fixes {side}: {cell.message}"
            for row in found.rows
            for name, sides in row.cells.items()
            for side, cell in sides.items()
            if cell.verdict is Verdict.HARNESS_ERROR
        ),
    )


def _counts(cells: Sequence[matrix.Cell]) -> Counts:
    counts = Counter(ending(cell.verdict) for cell in cells)
    return {name: counts[name] for name in ENDINGS if counts[name]}
