"""Which cells of the axes were met, and with what verdict, as compact data for the page.

The page crosses any of the axes itself: a case is one letter a column, which stands for the value.
"""

import string
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from harness.finding import Finding
from harness.outcome import Verdict
from reports.html.records import FIXES, SHAPES, Ran, family_of

LETTERS = string.digits + string.ascii_letters
"""The letters of the first values; more values than that get letters beyond ASCII."""

_BEYOND = 0x100

_WANTED = ("data_layout", "dilation", "out_layout", SHAPES)
"""What is crossed to begin with, where a family has it all: rows, within those, columns, within."""


@dataclass(frozen=True, slots=True)
class Axis:
    """An axis of the map: its values as text, in the order in which they are declared."""

    name: str
    values: tuple[str, ...]
    default: str


@dataclass(frozen=True, slots=True)
class Coverage:
    """The cases of one family: ``columns`` has for each axis a letter a case, its value.

    ``verdicts`` is the same for the verdict, by its place in the enumeration. ``shown`` are the
    axes to begin with: of rows, within those, of columns, within those; empty where there is none.
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

    What ``findings`` blame most is crossed to begin with, where nothing else is wanted.
    """
    by_family: dict[str, list[Ran]] = {}
    for one in ran:
        if one.cells:
            by_family.setdefault(one.family, []).append(one)
    blamed = {
        name: Counter(axis for one in findings if one.case.family == name for axis in one.blame)
        for name in by_family
    }
    return tuple(_of(name, cases, blamed[name]) for name, cases in sorted(by_family.items()))


def _of(name: str, cases: Sequence[Ran], blamed: Counter[str]) -> Coverage:
    axes = _axes(name, cases)
    places = {axis.name: {v: letter(n) for n, v in enumerate(axis.values)} for axis in axes}
    columns = tuple(
        "".join(places[axis.name][one.cells[axis.name]] for one in cases) for axis in axes
    )
    numbers = {verdict: letter(number) for number, verdict in enumerate(Verdict)}
    verdicts = "".join(numbers[one.verdict] for one in cases)
    return Coverage(name, axes, columns, verdicts, shown(axes, blamed))


def _axes(name: str, cases: Sequence[Ran]) -> tuple[Axis, ...]:
    family = family_of(name)
    assert family is not None, "cases without a family lie on no axis"
    found = []
    for axis in family.axes:
        values = tuple(dict.fromkeys(str(axis.cell(value)) for value in axis.values))
        if len(values) > 1:
            found.append(Axis(axis.name, values, str(axis.cell(axis.default))))
    if all(SHAPES in one.cells for one in cases):
        found.append(Axis(SHAPES, ("static", "symbolic"), "static"))
    if len({one.cells[FIXES] for one in cases}) > 1:
        found.append(Axis(FIXES, ("off", "on"), "off"))
    return tuple(found)


def shown(axes: Sequence[Axis], blamed: Counter[str]) -> tuple[str, str, str, str]:
    """The axes to begin with: those wanted where all are there, else the two most ``blamed``."""
    by_name = {axis.name.partition(".")[0]: axis.name for axis in axes[::-1]}
    names = [by_name.get(wanted, "") for wanted in _WANTED]
    if all(names):
        return names[0], names[1], names[2], names[3]
    there = [axis.name for axis in axes]
    first = [name for name, _ in blamed.most_common() if name in there]
    rows, columns = [*first, *(name for name in there if name not in first)][:2]
    return rows, "", columns, ""
