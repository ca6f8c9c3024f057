"""Packages of a user's own for tests: modules, and distributions with entry points."""

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from relaxcheck.extensions import entry_points, naming, pipelines


@contextmanager
def reachable(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Have Python import from ``folder``; nothing of it stays imported, known or allowed."""
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.delenv(pipelines.NAMES_VARIABLE, raising=False)
    monkeypatch.delenv(naming.FOLDERS_VARIABLE, raising=False)
    before, path = set(sys.modules), list(sys.path)
    _forget()
    try:
        yield
    finally:
        for name in set(sys.modules) - before:
            if str(folder) in str(getattr(sys.modules[name], "__file__", "")):
                del sys.modules[name]
        sys.path[:] = path
        # In a test's own process, what it allowed stays nowhere.
        monkeypatch.delenv(pipelines.NAMES_VARIABLE, raising=False)
        monkeypatch.delenv(naming.FOLDERS_VARIABLE, raising=False)
        _forget()


def _forget() -> None:
    pipelines.function.cache_clear()
    entry_points._registered.cache_clear()
    entry_points._broken.clear()


def distribution(folder: Path, name: str, groups: Mapping[str, Mapping[str, str]]) -> None:
    """Write the metadata of an installed package ``name`` with entry points, by group and name."""
    about = folder / f"{name}-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    lines = []
    for group, points in groups.items():
        lines += [f"[{group}]", *(f"{point} = {value}" for point, value in points.items())]
    (about / "entry_points.txt").write_text("\n".join(lines) + "\n")
