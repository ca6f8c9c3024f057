"""The exported programs of cases: kept ones, and the others exported in groups."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeAlias

from torch.export import ExportedProgram

from relaxcheck.generators.torch.case import EXPORT, Exporting, TorchCase
from relaxcheck.generators.torch.program import Node, Program, Ref, Tensor
from relaxcheck.harness.outcomes.clock import Clock
from relaxcheck.harness.torch.grouping import NotExported, export_alone, export_together
from relaxcheck.harness.torch.keeping import Kept, read, written

STAGE = "export"
"""The stage in which PyTorch exports."""

Exported: TypeAlias = ExportedProgram | NotExported | None
"""A program, PyTorch's refusal, or None for a case that needs no exported program."""


def exported_alone(case: TorchCase) -> Exported:
    """The program of ``case``, exported alone, and not taken from a folder."""
    if case.importing.door != EXPORT:
        return None
    try:
        return export_alone(case)
    except NotExported as refusal:
        return refusal


def exported_once(case: TorchCase, kept: Kept) -> Exported:
    """The program of ``case``, taken from ``kept`` or exported alone and kept."""
    (made,) = exported_together([case], [Clock()], kept, lambda number, stage: None)
    return made


def warm() -> None:
    """Export and read a program: PyTorch imports most of what that takes at its first use."""
    program = Program((Tensor("x", ("n",)),), (Node("torch.neg", (Ref("x"),)),), ("y",))
    read(written(export_alone(TorchCase("torch-neg", program, ({"n": 2},)))))


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
        shared = Clock()
        with shared(STAGE):
            made = export_together(
                [cases[number] for number in numbers],
                partial(_report, progress, numbers),
            )
            for number, each in zip(numbers, made, strict=True):
                kept.write(cases[number], each)
                found[number] = each
        for number in numbers:
            clocks[number].add(STAGE, shared.seconds[STAGE] / len(numbers))
    return found


def _report(
    progress: Callable[[int | None, str], None], numbers: Sequence[int], at: int | None
) -> None:
    progress(None if at is None else numbers[at], STAGE)
