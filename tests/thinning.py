"""Which combinations of parameters run in ``make test``."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from zlib import crc32

import pytest

FEW = 4
"""A test with no more combinations than this keeps all of them."""


def by_file(items: Iterable[pytest.Item]) -> dict[Path, list[pytest.Item]]:
    """``items`` by their files: tens of thousands of paths take seconds to compare."""
    files: dict[Path, list[pytest.Item]] = {}
    for item in items:
        files.setdefault(item.path, []).append(item)
    return files


def at(place: Path, files: Mapping[Path, list[pytest.Item]]) -> Iterator[pytest.Item]:
    """The items of ``files`` in the file or the folder ``place`` that are not slow."""
    for path, items in files.items():
        if path.is_relative_to(place):
            yield from (item for item in items if item.get_closest_marker("slow") is None)


def thin(
    items: Iterable[pytest.Item],
    kept: int,
    mark: pytest.MarkDecorator = pytest.mark.slow,
    few: int = FEW,
) -> None:
    """Put ``mark`` on all but one in ``kept`` of the combinations of each of ``items``' tests.

    A test of no more than ``few`` combinations keeps all.

    The first combination of a test stays. A hash chooses the others: a stride would keep the same
    value of an axis whose length it divides.
    """
    items = list(items)
    counts = Counter(map(_name, items))
    seen = set()
    for item in items:
        name = _name(item)
        if name in seen and counts[name] > few and crc32(item.nodeid.encode()) % kept:
            item.add_marker(mark)
        seen.add(name)


def _name(item: pytest.Item) -> str:
    return item.nodeid.split("[", 1)[0]
