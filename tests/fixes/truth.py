"""Collects ``PROGRAMS`` and ``CURES`` of the fixes from their tests."""

import re
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType

from tests.fixes.whole_programs import Run

ROOM = Path(__file__).parent
_DEFINES = re.compile(r"^(PROGRAMS: whole\.Programs|CURES: whole\.Cures) = ", re.MULTILINE)


@cache
def _modules() -> tuple[ModuleType, ...]:
    paths = (path for path in sorted(ROOM.rglob("test_*.py")) if _DEFINES.search(path.read_text()))
    names = (path.relative_to(ROOM).with_suffix("").parts for path in paths)
    return tuple(import_module(".".join(("tests", "fixes", *parts))) for parts in names)


def programs() -> dict[str, dict[str, tuple[Run, ...]]]:
    """Whole programs by fix, then by part.

    Raises:
        ValueError: two modules have programs of one fix.
    """
    collected: dict[str, dict[str, tuple[Run, ...]]] = {}
    for module in _modules():
        for fix, by_part in getattr(module, "PROGRAMS", {}).items():
            if fix in collected:
                raise ValueError(f"{module.__name__}: {fix} has programs in another module too")
            collected[fix] = dict(by_part)
    return collected


def cures() -> dict[str, tuple[tuple[str, str], ...]]:
    """By entry of the corpus the pairs of fix and part any of which makes it fail."""
    collected: dict[str, tuple[tuple[str, str], ...]] = {}
    for module in _modules():
        for entry, parts in getattr(module, "CURES", {}).items():
            collected[entry] = (*collected.get(entry, ()), *parts)
    return collected
