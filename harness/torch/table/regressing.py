"""Regressions of the fixes: programs of PyTorch's samples that pass without the fixes alone."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import msgspec

from relaxcheck.generators.core.axes import complete
from relaxcheck.generators.torch.case import TorchCase
from relaxcheck.generators.torch.family import SAMPLE, TorchFamily
from relaxcheck.generators.torch.running import EXPORT, IMPORT
from relaxcheck.harness.matrix import matrix
from relaxcheck.harness.outcomes.keeping import Kept
from relaxcheck.harness.outcomes.outcome import Verdict
from relaxcheck.harness.releases.releases import ReleaseError
from relaxcheck.harness.torch.table.counting import OFF, ON, Counts, ending
from relaxcheck.harness.workers.jobs import Limits

FORMS = {
    "decomposed": {EXPORT: "decomposed"},
    "undecomposed": {EXPORT: "undecomposed"},
    "from_fx": {IMPORT: "fx"},
    "relax_dynamo": {IMPORT: "dynamo"},
}
"""The ways in which each sample is imported: the values of the axes that name them."""

_SEED = 0


@dataclass(frozen=True, slots=True)
class Subject:
    """A sample of an entry, ``label``, imported in ``form``."""

    entry: str
    label: str
    form: str
    case: TorchCase


class Ended(msgspec.Struct, frozen=True):
    """The verdicts on a program on a release, without the fixes and with them; TVM's messages."""

    entry: str
    label: str
    form: str
    release: str
    case: str
    off: Verdict
    on: Verdict
    message_off: str = ""
    message_on: str = ""

    @property
    def place(self) -> str:
        """Its release and its case, which name it among all."""
        return f"{self.release}/{self.case}"

    @property
    def regresses(self) -> bool:
        """True if it passes without the fixes, and fails with them."""
        return self.off is Verdict.PASS and self.on.is_failure


class Comparison(msgspec.Struct, frozen=True):
    """All programs, and the ``regressions`` among them that came again alone."""

    versions: dict[str, str]
    ended: tuple[Ended, ...]
    regressions: tuple[Ended, ...]

    @property
    def faults(self) -> Iterator[Ended]:
        """The programs at which relaxcheck itself failed."""
        return (each for each in self.ended if Verdict.HARNESS_ERROR in (each.off, each.on))

    def totals(self) -> dict[tuple[str, str, str], Counts]:
        """The numbers of programs by release, form and side."""
        found: dict[tuple[str, str, str], Counter[str]] = {}
        for each in self.ended:
            for side, verdict in ((OFF, each.off), (ON, each.on)):
                found.setdefault((each.release, each.form, side), Counter())[ending(verdict)] += 1
        return {place: dict(counts) for place, counts in found.items()}


def subjects(families: Sequence[TorchFamily], most: int) -> Iterator[Subject]:
    """The first ``most`` samples of each of ``families``, in each form and the own dtype."""
    for family in families:
        for label in tuple(family.samples)[:most]:
            for form, chosen in FORMS.items():
                try:
                    point = complete(family.axes, {SAMPLE: label} | chosen)
                except ValueError:
                    # No way of importing this sample.
                    continue
                yield Subject(family.entry.name, label, form, family.build(point, _SEED))


def compared(
    wanted: Sequence[Subject],
    releases: Sequence[str],
    workers: int,
    limits: Limits,
    show: Callable[[str, int, int], None],
    kept: Kept[matrix.Cell] | None = None,
) -> Comparison:
    """The outcomes of ``wanted`` on each of ``releases``, and what regresses, which runs again.

    Outcomes that are ``kept`` stand.

    Raises:
        ReleaseError: a release is not installed, or does not start.
    """
    versions, ended = _ended(wanted, releases, workers, limits, show, kept)
    suspects = {each.case for each in ended if each.regresses}
    again: list[Ended] = []
    if suspects:
        few = [each for each in wanted if each.case.identifier in suspects]
        # What a program does beside others is no regression of its own.
        _, again = _ended(few, releases, workers, replace(limits, together=1), show, None)
    return Comparison(versions, tuple(ended), tuple(each for each in again if each.regresses))


def _ended(
    wanted: Sequence[Subject],
    releases: Sequence[str],
    workers: int,
    limits: Limits,
    show: Callable[[str, int, int], None],
    kept: Kept[matrix.Cell] | None,
) -> tuple[dict[str, str], list[Ended]]:
    rows = [matrix.subject_of(each.case.identifier, each.case) for each in wanted]
    found = matrix.run(rows, releases, workers, limits, show, kept)
    versions = {}
    for column in found.columns:
        if column.missing:
            raise ReleaseError(f"TVM {column.release}: {column.missing}")
        versions[column.release] = column.environment["apache-tvm"]
    return versions, [
        Ended(
            subject.entry,
            subject.label,
            subject.form,
            release,
            subject.case.identifier,
            *(row.cells[release][side].verdict for side in (OFF, ON)),
            *(row.cells[release][side].message for side in (OFF, ON)),
        )
        for subject, row in zip(wanted, found.rows, strict=True)
        for release in releases
    ]
