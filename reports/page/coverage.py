"""The covered cells of the axes and their verdicts, as compact data for the page.

The page crosses any axes itself: in each column a case is one letter, which stands for its value.
"""

import string
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from relaxcheck.generators.core.axes import PIPELINE
from relaxcheck.generators.core.preconditions import PRECONDITIONS, Precondition
from relaxcheck.harness.outcomes.outcome import Verdict
from relaxcheck.harness.triage.finding import Finding
from relaxcheck.reports.page.records import FIXES, Ran, family_of
from relaxcheck.reports.rendering import SHAPES

LETTERS = string.digits + string.ascii_letters
"""The letters of the first values; further values get letters beyond ASCII."""

_BEYOND = 0x100

_WANTED = ("data_layout", "dilation", "out_layout", SHAPES)
"""The axes crossed at first, if a family has them all: rows, within, columns, within."""


@dataclass(frozen=True, slots=True)
class Axis:
    """An axis of the map: its values as text, in the order in which they are declared."""

    name: str
    values: tuple[str, ...]
    default: str


@dataclass(frozen=True, slots=True)
class Coverage:
    """The cases of one family: for each axis ``columns`` has one letter per case, its value.

    ``verdicts`` has one letter per case too, by the verdict's place in the enumeration. ``shown``
    are the axes at first: rows, within rows, columns, within columns; empty for none.
    """

    family: str
    axes: tuple[Axis, ...]
    columns: tuple[str, ...]
    verdicts: str
    shown: tuple[str, str, str, str]


def letter(number: int) -> str:
    """The letter of the value or verdict ``number``, from 0."""
    return LETTERS[number] if number < len(LETTERS) else chr(_BEYOND + number)


def coverage(ran: Iterable[Ran], findings: Sequence[Finding] = ()) -> tuple[Coverage, ...]:
    """The coverage of each family that has cases on its axes, by name.

    The axes that ``findings`` blame most are crossed at first, unless the usual ones are there.
    """
    by_family: dict[str, list[Ran]] = {}
    for case in ran:
        if case.cells:
            by_family.setdefault(case.family, []).append(case)
    blamed = {
        name: Counter(
            axis for finding in findings if finding.case.family == name for axis in finding.blame
        )
        for name in by_family
    }
    return tuple(_of(name, cases, blamed[name]) for name, cases in sorted(by_family.items()))


def _of(name: str, cases: Sequence[Ran], blamed: Counter[str]) -> Coverage:
    axes = _axes(name, cases)
    places = {axis.name: {v: letter(n) for n, v in enumerate(axis.values)} for axis in axes}
    columns = tuple(
        "".join(places[axis.name][case.cells[axis.name]] for case in cases) for axis in axes
    )
    numbers = {verdict: letter(number) for number, verdict in enumerate(Verdict)}
    verdicts = "".join(numbers[case.verdict] for case in cases)
    return Coverage(name, axes, columns, verdicts, shown(axes, blamed))


def _axes(name: str, cases: Sequence[Ran]) -> tuple[Axis, ...]:
    family = family_of(name)
    assert family is not None, "cases without a family lie on no axis"
    axes = []
    for axis in family.axes:
        values = tuple(dict.fromkeys(str(axis.cell(value)) for value in axis.values))
        if len(values) > 1:
            axes.append(Axis(axis.name, values, str(axis.cell(axis.default))))
    if all(SHAPES in case.cells for case in cases):
        axes.append(Axis(SHAPES, ("static", "symbolic"), "static"))
    if len({case.cells[FIXES] for case in cases}) > 1:
        axes.append(Axis(FIXES, ("off", "on"), "off"))
    return tuple(axes)


def shown(axes: Sequence[Axis], blamed: Counter[str]) -> tuple[str, str, str, str]:
    """The axes at first: the wanted ones if all are there, else the two most ``blamed``."""
    by_name = {axis.name.partition(".")[0]: axis.name for axis in axes[::-1]}
    names = [by_name.get(wanted, "") for wanted in _WANTED]
    if all(names):
        return names[0], names[1], names[2], names[3]
    there = [axis.name for axis in axes]
    first = [name for name, _ in blamed.most_common() if name in there]
    rows, columns = [*first, *(name for name in there if name not in first)][:2]
    return rows, "", columns, ""


def preconditions(maps: Sequence[Coverage]) -> tuple[Precondition, ...]:
    """The preconditions of the pipelines that the families of ``maps`` have."""
    pipelines = {
        value
        for each in maps
        for axis in each.axes
        if axis.name == PIPELINE
        for value in axis.values
    }
    return tuple(each for each in PRECONDITIONS if each.pipeline in pipelines)
