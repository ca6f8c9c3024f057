"""Kinds of cases of installed packages join relaxcheck's own."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from relaxcheck.extensions.entry_points import KINDS, RENDERINGS, broken
from relaxcheck.generators.core.case import CaseError, encode
from relaxcheck.harness import kinds
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.reports import kinds as renderings
from relaxcheck.reports.plain import Plain
from tests.extensions.packages import distribution, reachable
from tests.harness.toy_kind import RENDERING, Numbers

MODULE = """
from tests.harness.toy_kind import Additions

class Rival(Additions):
    name = "rival"

class Endless(Additions):
    name = "endless"
    formats = {91: object}
    along_axes = False
    steps = ()

RIVAL, ENDLESS = Rival(), Endless()
"""
CACHES = (kinds._by_name, kinds._formats, kinds._families, renderings._own)
TOY = "tests.harness.toy_kind"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    (tmp_path / "own_kinds.py").write_text(MODULE)
    with reachable(tmp_path, monkeypatch):
        for each in CACHES:
            each.cache_clear()
        yield tmp_path
    for each in CACHES:
        each.cache_clear()


def test_its_cases_are_read_drawn_and_shown(folder: Path) -> None:
    distribution(folder, "sums", {KINDS: {"numbers": f"{TOY}:KIND"}})
    case = Numbers("lists", (1, 2))
    assert kinds.every()[-1].name == "numbers"
    assert kinds.decode(encode(case)) == case
    assert kinds.family("lists").name == "lists"
    assert "lists" in {family.name for family in kinds.usual_families()}
    shown = renderings.rendering(case)
    assert isinstance(shown, Plain)
    assert '"numbers"' in shown.text(case)
    assert shown.text(case).endswith("# from left to right")
    wrong = Outcome(Verdict.WRONG_VALUE, "add", "sum", "2 instead of 3")
    assert shown.title(case, wrong, None, {}) == "sum: wrong-value: 2 instead of 3"
    with pytest.raises(CaseError, match=r"no entry point in relaxcheck\.renderings"):
        renderings.rendering(case).pasted(case, wrong, "", None)  # type: ignore[arg-type]
    assert not broken()


def test_its_rendering_is_used_and_a_broken_one_is_not(folder: Path) -> None:
    points = {KINDS: {"numbers": f"{TOY}:KIND"}, RENDERINGS: {"numbers": f"{TOY}:RENDERING"}}
    distribution(folder, "sums", points)
    assert renderings.rendering(Numbers("lists", (1, 2))) is RENDERING
    renderings._own.cache_clear()
    distribution(folder, "again", {RENDERINGS: {"rival": "own_kinds:NOTHING"}})
    from relaxcheck.extensions import entry_points

    entry_points._registered.cache_clear()
    assert isinstance(renderings._own("rival"), Plain)
    assert [each.name for each in broken()] == ["rival"]


def test_one_that_cannot_join_is_left_out(folder: Path) -> None:
    points = {"numbers": f"{TOY}:KIND", "rival": "own_kinds:RIVAL", "endless": "own_kinds:ENDLESS"}
    distribution(folder, "sums", {KINDS: {**points, "onnx": f"{TOY}:KIND"}})
    assert "numbers" in {kind.name for kind in kinds.every()}
    messages = {each.name: each.message.partition("): ")[2] for each in broken()}
    assert messages == {
        "endless": "own_kinds:ENDLESS: no failure can be reduced: neither along axes nor by steps",
        "onnx": "relaxcheck has one of that name itself",
        "rival": "rival: format 90 belongs to another kind",
    }
