"""Entry points: read once, imported late, refused in one line."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from relaxcheck.extensions import entry_points
from relaxcheck.extensions.entry_points import FIXES, PIPELINES, folders, registered, sources
from relaxcheck.extensions.naming import ExtensionError
from tests.extensions.packages import distribution, reachable


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    with reachable(tmp_path, monkeypatch):
        yield tmp_path


def test_an_entry_point_is_known_before_its_module_is_imported(folder: Path) -> None:
    (folder / "lazily.py").write_text("def passes(target):\n    return 1\n")
    distribution(folder, "lazy", {PIPELINES: {"own": "lazily:passes [extra]"}})
    (own,) = registered(PIPELINES).values()
    assert (own.name, own.value, own.distribution) == ("own", "lazily:passes", "lazy 1.0")
    assert "lazily" not in sys.modules
    assert own.load()("target") == 1


def test_a_broken_one_names_its_distribution(folder: Path) -> None:
    (folder / "broken_one.py").write_text("raise RuntimeError('two\\nlines')\n")
    distribution(folder, "wreck", {PIPELINES: {"own": "broken_one:passes"}})
    with pytest.raises(ExtensionError) as caught:
        registered(PIPELINES)["own"].load()
    assert str(caught.value) == (
        "own of wreck 1.0 (relaxcheck.pipelines): importing broken_one raised RuntimeError: two "
        "lines (broken_one.py, line 1)"
    )


def test_two_packages_with_one_name_are_refused(folder: Path) -> None:
    distribution(folder, "first", {PIPELINES: {"own": "a:b"}})
    distribution(folder, "second", {PIPELINES: {"own": "c:d"}})
    with pytest.raises(ExtensionError, match=r"own of second 1\.0 .*: first 1\.0 has one of that"):
        registered(PIPELINES)


@pytest.mark.parametrize("value", ["a_module", "a:b.c"])
def test_a_value_of_another_form_is_refused(folder: Path, value: str) -> None:
    distribution(folder, "odd", {PIPELINES: {"own": value}})
    with pytest.raises(ExtensionError, match="is not of the form module:object"):
        registered(PIPELINES)


def test_the_folders_of_all_are_found_and_a_missing_one_names_its_package(folder: Path) -> None:
    (folder / "lazily.py").write_text("raise RuntimeError\n")
    distribution(folder, "lazy", {PIPELINES: {"own": "lazily:passes"}, FIXES: {"a": "lazily:b"}})
    assert folders() == (str(folder),)
    distribution(folder, "lost", {PIPELINES: {"other": "nowhere_at_all:passes"}})
    entry_points._registered.cache_clear()
    with pytest.raises(ExtensionError, match=r"^other of lost 1\.0 \(relaxcheck\.pipeli"):
        folders()


def test_a_change_of_a_package_that_brings_more_than_pipelines_is_seen(folder: Path) -> None:
    (folder / "passes_alone.py").write_text("a = 1\n")
    (folder / "with_a_fix.py").write_text("b = 1\n")
    distribution(folder, "first", {PIPELINES: {"own": "passes_alone:a"}})
    assert sources() == ""
    distribution(folder, "second", {FIXES: {"a": "with_a_fix:b"}})
    entry_points._registered.cache_clear()
    before = sources()
    (folder / "passes_alone.py").write_text("a = 2\n")
    assert sources() == before != ""
    (folder / "with_a_fix.py").write_text("b = 2\n")
    assert sources() != before
