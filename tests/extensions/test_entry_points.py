"""Entry points: read once, imported late, refused in one line."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from relaxcheck.extensions import entry_points
from relaxcheck.extensions.entry_points import (
    FIXES,
    OPERATORS,
    PIPELINES,
    broken,
    folders,
    registered,
    require,
    sources,
    usable,
    warning,
)
from relaxcheck.extensions.naming import ExtensionError
from relaxcheck.extensions.pipelines import named
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


def test_of_two_packages_with_one_name_neither_is_used(folder: Path) -> None:
    distribution(folder, "first", {PIPELINES: {"own": "a:b", "other": "a:c"}})
    distribution(folder, "second", {PIPELINES: {"own": "c:d"}})
    assert set(registered(PIPELINES)) == {"other"}
    assert named("other") == "a:c"
    with pytest.raises(ExtensionError, match=r"own of second 1\.0 .*: first 1\.0 has one of that"):
        named("own")


@pytest.mark.parametrize("value", ["a_module", "a:b.c"])
def test_a_value_of_another_form_is_left_out(folder: Path, value: str) -> None:
    distribution(folder, "odd", {PIPELINES: {"own": value, "good": "a:b"}})
    assert set(registered(PIPELINES)) == {"good"}
    (entry,) = broken()
    assert (entry.group, entry.name, entry.distribution) == (PIPELINES, "own", "odd 1.0")
    assert "is not of the form module:object" in entry.message


def test_what_cannot_be_used_stops_those_that_need_it_alone(folder: Path) -> None:
    (folder / "good.py").write_text("text = 'a'\nnumber = 1\n")
    values = {"a": "good:text", "b": "good:number", "c": "gone:text", "d": "good:nothing"}
    distribution(folder, "half", {FIXES: {**values, "e": "good:text"}})
    require(FIXES)
    usable_ones = [(each.name, made) for each, made in usable(FIXES, str, taken=("e",))]
    assert usable_ones == [("a", "a")]
    assert [(each.name, each.spare) for each in broken()] == [
        ("b", False),
        ("c", False),
        ("d", False),
        ("e", True),
    ]
    require(PIPELINES, OPERATORS)
    require(FIXES, names=("a",))
    with pytest.raises(
        ExtensionError, match=r"^d of half 1\.0 .*good\.py defines no nothing \(rel"
    ):
        require(FIXES, names=("a", "d"))
    with pytest.raises(ExtensionError, match=r"^b of half .* \(3 more cannot be used: relaxcheck "):
        require(FIXES)
    line = warning(broken())
    assert line.startswith("left out: b of half 1.0 (relaxcheck.fixes): good:number is a int, and")
    assert line.endswith("(3 more cannot be used: relaxcheck releases doctor lists all)")


def test_the_folders_of_all_are_found_and_a_missing_one_is_left_out(folder: Path) -> None:
    (folder / "lazily.py").write_text("raise RuntimeError\n")
    distribution(folder, "lazy", {PIPELINES: {"own": "lazily:passes"}, FIXES: {"a": "lazily:b"}})
    assert folders() == (str(folder),)
    distribution(folder, "lost", {PIPELINES: {"other": "nowhere_at_all:passes"}})
    entry_points._registered.cache_clear()
    assert folders() == (str(folder),)
    with pytest.raises(ExtensionError, match=r"^other of lost 1\.0 \(relaxcheck\.pipeli"):
        require(PIPELINES)


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
