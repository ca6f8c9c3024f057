"""Definitions go into a patch under new names, and no local name changes its meaning by that."""

import ast
from pathlib import Path

import pytest

from relaxcheck.fixes.upstream import slices
from relaxcheck.fixes.upstream.slices import Slices
from relaxcheck.fixes.upstream.source import PatchError, local_names

OTHER = "def show(value):\n    return value\n"
HEAD = "from relaxcheck.fixes.other import show\n\n\ndef helper(x):\n    return x\n\n\n"


@pytest.fixture
def room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(slices, "ROOM", tmp_path)
    (tmp_path / "other.py").write_text(OTHER)
    return tmp_path


def inlined(room: Path, function: str) -> str:
    """The text of ``function``, with a private name for each definition of ours."""
    (room / "own.py").write_text(HEAD + function)
    wanted = Slices()
    wanted.ask([("own", "wanted")])
    (*_, text) = wanted.text("own", lambda piece: f"_{piece[1]}", imported=True)
    return text


def test_definitions_of_ours_are_renamed(room: Path) -> None:
    text = inlined(room, "def wanted(y):\n    return show(helper(y)), y.show, dict(show=1)\n")
    assert text == "def _wanted(y):\n    return _show(_helper(y)), y.show, dict(show=1)"


@pytest.mark.parametrize(
    "function",
    [
        "def wanted(show):\n    return show\n",
        "def wanted():\n    show = 1\n    return show\n",
        "def wanted():\n    return [show for show in (1, 2)]\n",
        "def wanted():\n    return {show: 1 for show in (1, 2)}\n",
        "def wanted():\n    return lambda show: show\n",
        "def wanted():\n    from os import path as show\n    return show\n",
        "def wanted():\n    def show():\n        return 1\n    return show\n",
        "def wanted(x):\n    match x:\n        case [show]:\n            return show\n",
        "class wanted:\n    def method(self, show):\n        return show\n",
        "def wanted(helper):\n    return helper\n",
    ],
)
def test_a_local_of_the_name_of_a_definition_is_refused(room: Path, function: str) -> None:
    with pytest.raises(PatchError, match=r"own\.wanted has local names that its module has: "):
        inlined(room, function)


def test_a_local_that_would_hide_a_new_name_is_refused(room: Path) -> None:
    with pytest.raises(PatchError, match=r"own has local names that a patch needs: \['_show'\]"):
        inlined(room, "def wanted(_show):\n    return show(_show)\n")


def test_a_local_may_hide_the_new_name_of_its_function(room: Path) -> None:
    text = inlined(
        room, "def wanted(y):\n    def _wanted():\n        return y\n    return _wanted\n"
    )
    assert text.startswith("def _wanted(y):\n    def _wanted():")


def test_attributes_of_a_class_are_not_local() -> None:
    tree = ast.parse("class A:\n    b = 1\n    def c(self, d):\n        e = d\n")
    assert local_names(tree) == {"self", "d", "e"}
