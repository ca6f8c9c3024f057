"""Steered against uniform drawing: what is hunted, what is kept, what is made of it."""

from pathlib import Path
from typing import Any

import pytest

from tests.measure.quality import steering
from tests.measure.quality.planted import results
from tests.measure.quality.planted.hunt import MOST_CASES, Hunted

PLANT = "conv-bails-for-one-dilation"


def hunted(cases: int, seed: int = 1) -> Hunted:
    return Hunted(PLANT, seed, cases, cases, 0.5)


def figures(steered: list[int | None], uniform: list[int | None], share: float = 1) -> Any:
    hunts = {"steered": {"a": steered}, "uniform": {"a": uniform}}
    return {"share": share, "seeds": [1, 20], "most_cases": 2000, "hunts": hunts}


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(steering, "RESULTS", tmp_path / "planted.jsonl")
    return tmp_path


@pytest.fixture(scope="module")
def both_ways(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Results of a hunt, both ways."""
    folder = tmp_path_factory.mktemp("hunts")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(steering, "RESULTS", folder / "planted.jsonl")
        # One pool for both, though what the first hunt found is still being looked into at its end.
        for way in steering.WAYS:
            steering._hunt_all(PLANT, (1,), way, "state")
    return folder


@pytest.mark.slow
@pytest.mark.tvm
@pytest.mark.parametrize("way", steering.WAYS)
def test_hunts_are_made_and_kept(
    way: str, both_ways: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(steering, "RESULTS", both_ways / "planted.jsonl")
    known = steering._known(way, "state")
    assert set(known) == {(PLANT, 1)}
    for hunted in known.values():
        assert hunted.cases is not None
        assert 0 < hunted.cases == hunted.drawn
    assert {path.name for path in both_ways.iterdir()} == {f"{way}.jsonl" for way in steering.WAYS}
    assert steering._known(way, "other state") == {}


@pytest.mark.slow
@pytest.mark.tvm
def test_the_two_ways_draw_differently(both_ways: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(steering, "RESULTS", both_ways / "planted.jsonl")
    steered, uniform = (steering._known(way, "state")[PLANT, 1] for way in steering.WAYS)
    assert bytes(steered.case) != bytes(uniform.case)


def test_steered_hunts_of_the_planted_bugs_are_not_made_again(kept: Path) -> None:
    results.append(kept / "planted.jsonl", "state", MOST_CASES, hunted(7))
    assert steering._known("steered", "state")[PLANT, 1].cases == 7
    assert steering._known("uniform", "state") == {}


def test_a_hunt_that_found_nothing_counts_as_all_its_cases() -> None:
    assert steering.missed(figures([10, 1993], [4, None])) == []
    (line,) = steering.missed(figures([10, None], [15, 1995]))
    assert line == "steered hunts drew 2,010 cases, uniform ones 2,010: steering is to go"
    assert steering.missed(figures([10, None], [1, 2], share=0.5)) == []


def test_each_seed_and_all_have_a_row() -> None:
    rows = steering.markdown(figures([10, 30], [5, None])).splitlines()[-3:]
    assert rows == [
        "| 1 | 10 | 10 | 10 | 0 | 5 | 5 | 5 | 0 |",
        "| 20 | 30 | 30 | 30 | 0 | inf | 2,000 | > 2000 | 1 |",
        "| all | 20 | 40 | 30 | 0 | inf | 2,005 | > 2000 | 1 |",
    ]
