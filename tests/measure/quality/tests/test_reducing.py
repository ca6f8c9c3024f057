"""Planted bugs are reduced: one is hunted and reduced here, and the figures cover all."""

from typing import Any

import msgspec
import pytest

from relaxcheck.generators.core.program import decode
from tests.measure.quality import reducing
from tests.measure.quality.reducing import Simplest, attributes_off, largest


@pytest.mark.slow
@pytest.mark.tvm
def test_the_first_failure_of_a_plant_is_reduced() -> None:
    smallest = reducing.simplest("conv-bails-for-one-dilation")
    case = decode(smallest.case.encode(), "reduced")
    (node,) = case.program.nodes
    assert set(node.attributes) == {"dilation"}
    assert (
        (smallest.attributes, smallest.largest) == (attributes_off(case), largest(case)) == (1, 3)
    )
    assert smallest.minimal
    assert smallest.again
    assert smallest.drawn_attributes is not None
    assert smallest.drawn_largest is not None
    assert smallest.drawn_attributes > 1 < smallest.drawn_largest


def figures(*plants: Simplest) -> Any:
    each = [msgspec.to_builtins(plant) for plant in plants]
    return {"share": 1, "seed": 1, "tries": 500, "seconds": 180.0, "plants": each}


def simplest(attributes: int, size: int, **more: Any) -> Simplest:
    held = {"minimal": True, "again": True} | more
    return Simplest(f"plant-{attributes}-{size}", 6, 16, attributes, size, 1, **held)


def test_the_medians_are_what_is_judged() -> None:
    assert reducing.missed(figures(simplest(1, 2), simplest(2, 3), simplest(7, 9))) == []
    assert reducing.missed(figures(simplest(3, 1), simplest(3, 1), simplest(0, 1))) == [
        "the median reduced case has 3 attributes away from default"
    ]
    assert reducing.missed(figures(simplest(0, 4), simplest(0, 5))) == [
        "the largest size of the median reduced case is 4.5"
    ]
    assert reducing.missed(figures(simplest(0, 1, minimal=False, why="180 s are over"))) == [
        "plant-0-1: a simpler case may be left (180 s are over)"
    ]
    assert reducing.missed(figures(simplest(0, 1, again=False))) == [
        "plant-0-1: the reduced case did not come again"
    ]
    assert reducing.missed(figures(Simplest("never"))) == ["never: no failure to reduce"]


def test_the_page_lists_what_is_above_the_target() -> None:
    page = reducing.markdown(
        figures(simplest(1, 2), simplest(4, 2, minimal=False, again=False, why="180 s are over"))
    )
    assert "| attributes away from default, median | 6 | 2.5 | <= 2 |" in page
    assert "| largest size, median | 16 | 2 | <= 3 |" in page
    assert "1 of 2 reached" in page
    assert "| plant-4-2 | 4 | 2 | 1 | 180 s are over |" in page
    assert "plant-1-2" not in page
