"""The regressions of the fixes among PyTorch programs, for a terminal."""

from collections.abc import Collection, Iterator

from rich.table import Table as RichTable

from relaxcheck.harness.torch.table.counting import ENDINGS
from relaxcheck.harness.torch.table.regressing import Comparison, Ended


def summary(found: Comparison) -> RichTable:
    """The number of programs by ending, a row for each release, form and side."""
    shown = RichTable(title="samples of PyTorch", title_justify="left")
    for name in ("apache-tvm", "imported", "fixes"):
        shown.add_column(name, no_wrap=True)
    for name in ENDINGS:
        shown.add_column(name, justify="right")
    for (release, form, side), counts in found.totals().items():
        shown.add_row(release, form, side, *(str(counts.get(name, 0)) for name in ENDINGS))
    return shown


def lines(found: Comparison, known: Collection[str] = ()) -> Iterator[str]:
    """A line for each regression, and each fault of relaxcheck's own.

    New regressions come first; those at ``known`` places are marked.
    """
    for each in sorted(found.regressions, key=lambda each: each.place in known):
        mark = "known: " if each.place in known else ""
        ends = f"passes without the fixes; with them {each.on}: {each.message_on}"
        yield f"{mark}{_of(each)}: {ends}"
    for each in found.faults:
        yield f"a fault of relaxcheck itself: {_of(each)}: {each.message_off or each.message_on}"


def _of(each: Ended) -> str:
    return f"{each.entry} ({each.label}), {each.form}, TVM {each.release}, case {each.case}"
