"""Names of a user's own code, and what importing one says when it cannot."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from relaxcheck.extensions.naming import ExtensionError, digest, folder_of, imported, is_own
from tests.extensions.packages import reachable


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    (tmp_path / "bare_module.py").write_text("def passes(target):\n    return target\n")
    package = tmp_path / "some_package"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "inner.py").write_text("value = 3\n")
    (tmp_path / "raising.py").write_text("x = 1\nimport nowhere_at_all\n")
    (tmp_path / "leaving.py").write_text("import sys\nsys.exit('enough')\n")
    with reachable(tmp_path, monkeypatch):
        yield tmp_path


@pytest.mark.parametrize("name", ["mine:passes", "a.b_c.d:e", "_x:y"])
def test_a_module_and_a_function_are_a_name(name: str) -> None:
    assert is_own(name)


@pytest.mark.parametrize(
    "name",
    [
        *("build", "default-pipeline", "", ":", "a:", ":b", "a:b:c", "a:b.c", "a..b:c", ".a:b"),
        *("a b:c", "a:b\n", "a/b:c", "é:a", "1a:b", "a" * 101 + ":b", 3, None),
    ],
)
def test_nothing_else_is(name: object) -> None:
    assert not is_own(name)


def test_the_folder_is_found_without_an_import(folder: Path) -> None:
    assert folder_of("raising:x") == folder_of("some_package.inner:value") == folder


def test_a_module_in_the_working_directory_is_found(
    folder: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / "beside_me.py").write_text("")
    with pytest.raises(ExtensionError, match="there is no module beside_me"):
        folder_of("beside_me:x")
    monkeypatch.chdir(elsewhere)
    assert folder_of("beside_me:x") == elsewhere


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("nowhere_at_all:x", "nowhere_at_all:x: there is no module nowhere_at_all, neither in "),
        ("sys:exit", "sys:exit: sys is built into Python"),
    ],
)
def test_a_module_that_is_nowhere_is_one_line(name: str, message: str) -> None:
    with pytest.raises(ExtensionError) as caught:
        folder_of(name)
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("raising:x", "T: importing raising raised ModuleNotFoundError: No module named 'nowhere_"),
        ("leaving:x", "T: importing leaving raised SystemExit: enough (leaving.py, line 2)"),
        ("bare_module:other", "bare_module.py defines no other"),
        ("some_package.gone:x", "T: importing some_package.gone raised ModuleNotFoundError: "),
    ],
)
def test_an_import_that_fails_is_one_line_with_its_title(name: str, message: str) -> None:
    with pytest.raises(ExtensionError) as caught:
        imported(name, "T")
    assert message in str(caught.value)
    assert str(caught.value).startswith("T: ")
    assert "\n" not in str(caught.value)


def test_an_object_is_imported() -> None:
    assert imported("some_package.inner:value", "T") == 3
    assert imported("bare_module:passes", "T")("target") == "target"


def test_the_digest_follows_every_source_of_the_package(folder: Path) -> None:
    before = digest("some_package.inner:value")
    assert digest("some_package:anything") == before != digest("bare_module:passes")
    (folder / "some_package" / "added.py").write_text("x = 1\n")
    assert digest("some_package.inner:value") != before
    one = digest("bare_module:passes")
    (folder / "bare_module.py").write_text("passes = 1\n")
    assert digest("bare_module:passes") != one
