"""Fixes of installed packages join the bundled ones."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from relaxcheck import fixes
from relaxcheck.extensions.entry_points import FIXES
from relaxcheck.extensions.naming import ExtensionError
from relaxcheck.fixes import frontends, lowerings, passes, shapes
from relaxcheck.fixes.framework.discovery import discovered
from tests.extensions.packages import distribution, reachable

pytestmark = pytest.mark.tvm

MODULE = """
from relaxcheck.fixes.framework.fix import FaultPart, Fix

def made(name, after=None):
    part = FaultPart("always", lambda: True)
    return Fix(name, ("relax.exp",), "none", None, (part,), after=after)

LAST = made("own-last")
EARLIER = made("own-earlier", "BUNDLED")
LOST = made("own-lost", "no-such-fix")
"""
BUNDLED = [fix.name for fix in fixes.ALL]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    (tmp_path / "own_fixes.py").write_text(MODULE.replace("BUNDLED", BUNDLED[3]))
    with reachable(tmp_path, monkeypatch):
        yield tmp_path


def every() -> list[str]:
    return [fix.name for fix in discovered((lowerings, passes, shapes, frontends))]


def test_they_come_last_or_after_what_they_name(folder: Path) -> None:
    points = {"own-last": "own_fixes:LAST", "own-earlier": "own_fixes:EARLIER"}
    distribution(folder, "mine", {FIXES: points})
    names = every()
    assert names[-1] == "own-last"
    assert BUNDLED[3] in names[: names.index("own-earlier")]
    assert [name for name in names if name not in points] == BUNDLED


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("own-lost", "own_fixes:LOST", "cannot join the fixes: own-lost comes after no-such-fix"),
        ("another", "own_fixes:LAST", "own_fixes:LAST has another name, own-last"),
        ("own-last", "own_fixes:made", "is a function, and is to be a relaxcheck.fixes.framework"),
    ],
)
def test_one_that_does_not_fit_is_left_out_until_all_are_wanted(
    folder: Path, name: str, value: str, message: str
) -> None:
    distribution(folder, "mine", {FIXES: {name: value}})
    assert every() == BUNDLED
    with pytest.raises(ExtensionError) as caught:
        fixes.install()
    assert not fixes.installed()
    assert str(caught.value).startswith(f"{name} of mine 1.0 (relaxcheck.fixes): ")
    assert message in str(caught.value)
