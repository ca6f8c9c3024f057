"""The fixes that cure a piece are found by trying them."""

from pathlib import Path

import pytest

from relaxcheck.harness.models.explaining import curing
from relaxcheck.harness.models.explaining.curing import cure_of
from relaxcheck.harness.models.report import Cure
from relaxcheck.harness.outcomes.outcome import Verdict

CURE = "log_add_exp"


@pytest.fixture
def _all_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Probes take seconds; these tests run no TVM."""
    monkeypatch.setattr(curing, "needed_of", lambda every: every)


@pytest.mark.usefixtures("_all_needed")
def test_a_likely_fix_is_tried_first() -> None:
    tried: list[tuple[str, ...]] = []

    def right(names: tuple[str, ...]) -> bool:
        tried.append(names)
        return CURE in names

    cure = cure_of(right, [], likely=("softplus", CURE), whole=lambda names: names == (CURE,))
    assert (cure.fixes, cure.whole) == ((CURE,), True)
    assert tried == [("softplus",), (CURE,)]


@pytest.mark.usefixtures("_all_needed")
def test_a_cure_of_two_fixes_is_found_among_all() -> None:
    cure = cure_of(lambda names: {CURE, "softplus"} <= {*names}, ["add"])
    assert set(cure.fixes) == {CURE, "softplus"}
    assert cure.whole is None


@pytest.mark.usefixtures("_all_needed")
def test_nothing_is_named_where_all_fixes_do_not_cure_it(tmp_path: Path) -> None:
    assert cure_of(lambda names: False, ["add"], corpus=tmp_path) == Cure()


@pytest.mark.usefixtures("_all_needed")
def test_entries_of_the_corpus_with_this_cure_are_named() -> None:
    cure = cure_of(lambda names: CURE in names, [CURE], likely=(CURE,), verdict=Verdict.WRONG_VALUE)
    assert "log-add-exp-overflow" in cure.entries
    assert cure.faults[0].startswith("log_add_exp is infinite")
