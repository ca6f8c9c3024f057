"""The exported programs of cases: kept ones, and the others exported in groups."""

from collections.abc import Callable, Sequence

from torch.export import ExportedProgram

from relaxcheck.generators.torch.case import EXPORT, Exporting, TorchCase
from relaxcheck.harness.outcomes.clock import Clock
from relaxcheck.harness.torch.grouping import NotExported, export_alone, export_together
from relaxcheck.harness.torch.keeping import Kept

STAGE = "export"
"""The stage in which PyTorch exports."""

Exported = ExportedProgram | NotExported | None
"""A program, PyTorch's refusal, or None for a case that needs no exported program."""


def exported_alone(case: TorchCase) -> Exported:
    """The program of ``case``, exported alone, and not taken from a folder."""
    if case.importing.door != EXPORT:
        return None
    try:
        return export_alone(case)
    except NotExported as refusal:
        return refusal


def exported_together(
    cases: Sequence[TorchCase],
    clocks: Sequence[Clock],
    kept: Kept,
    progress: Callable[[int | None, str], None],
) -> list[Exported]:
    """The program of each of ``cases``; what is made is ``kept``.

    The time goes to ``clocks``, those of the cases, in equal shares within a group.
    """
    found: list[Exported] = [None] * len(cases)
    missing: dict[Exporting, list[int]] = {}
    for number, (case, clock) in enumerate(zip(cases, clocks, strict=True)):
        if case.importing.door != EXPORT:
            continue
        progress(number, STAGE)
        with clock(STAGE):
            found[number] = kept.read(case)
        if found[number] is None:
            missing.setdefault(case.exporting, []).append(number)
    for numbers in missing.values():
        progress(None if len(numbers) > 1 else numbers[0], STAGE)
        shared = Clock()
        with shared(STAGE):
            made = export_together([cases[number] for number in numbers])
            for number, each in zip(numbers, made, strict=True):
                kept.write(cases[number], each)
                found[number] = each
        for number in numbers:
            clocks[number].add(STAGE, shared.seconds[STAGE] / len(numbers))
    return found
