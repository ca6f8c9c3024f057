"""Which combinations of parameters are slow."""

import pytest

from tests.thinning import FEW, thin


class _Item(pytest.Item):
    def runtest(self) -> None:
        raise AssertionError("only collected")


def _items(request: pytest.FixtureRequest, name: str, count: int) -> list[pytest.Item]:
    names = [f"{name}[{number}-x]" for number in range(count)]
    return [_Item.from_parent(request.node.parent, name=each) for each in names]


def _kept(items: list[pytest.Item]) -> list[str]:
    return [item.name for item in items if item.get_closest_marker("slow") is None]


def test_a_test_with_few_combinations_keeps_all(request: pytest.FixtureRequest) -> None:
    items = _items(request, "test_few", FEW)
    thin(items, 16)
    assert len(_kept(items)) == FEW


def test_of_many_about_a_sixteenth_stays_and_the_first(request: pytest.FixtureRequest) -> None:
    items = _items(request, "test_many", 200)
    thin(items, 16)
    kept = _kept(items)
    assert kept[0] == "test_many[0-x]"
    assert 5 < len(kept) < 25


def test_the_same_stay_whatever_else_is_collected(request: pytest.FixtureRequest) -> None:
    alone, beside = (_items(request, "test_many", 40) for _ in range(2))
    thin(alone, 16)
    thin([*_items(request, "test_other", 9), *beside], 16)
    assert _kept(beside) == _kept(alone)
