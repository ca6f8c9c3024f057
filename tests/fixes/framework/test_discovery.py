"""The fixes are found in their modules, and ordered by what they come after."""

from types import ModuleType

import pytest

from relaxcheck import fixes
from relaxcheck.fixes import frontends, lowerings, passes, shapes
from relaxcheck.fixes.framework.discovery import discovered, ordered
from relaxcheck.fixes.framework.fix import FaultPart, Fix


def fix(name: str, after: str | None = None) -> Fix:
    return Fix(name, (), "", None, (FaultPart("", lambda: True),), after=after)


def names(*fixes_listed: Fix) -> list[str]:
    return [fix.name for fix in ordered(fixes_listed)]


def test_a_fix_stands_right_behind_the_one_that_it_names() -> None:
    chain = fix("a"), fix("b", "a"), fix("c", "b")
    assert names(*chain) == names(*reversed(chain)) == ["a", "b", "c"]


def test_of_several_followers_the_one_with_fewer_behind_it_comes_first() -> None:
    chain = fix("a"), fix("b", "a"), fix("c", "b")
    assert names(*chain, fix("x", "a")) == ["a", "x", "b", "c"]
    assert names(*chain, fix("x", "c")) == ["a", "b", "c", "x"]
    assert names(*chain, fix("x", "a"), fix("y", "a")) == ["a", "x", "y", "b", "c"]


@pytest.mark.parametrize(
    ("fixes_listed", "message"),
    [
        ((), "one fix must come first, without after; got none"),
        ((fix("a"), fix("b")), "without after; got a, b"),
        ((fix("a"), fix("a")), "two fixes are called a"),
        ((fix("a"), fix("b", "c")), "b comes after c, which is no fix"),
        ((fix("a"), fix("b", "c"), fix("c", "b")), "come after each other: b, c"),
    ],
)
def test_a_cycle_of_fixes_is_an_error(fixes_listed: tuple[Fix, ...], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ordered(fixes_listed)


def test_all_is_what_the_rooms_define() -> None:
    assert discovered((lowerings, passes, shapes, frontends)) == fixes.ALL
    assert len(fixes.ALL) >= 40


def test_only_a_fix_of_one_fault_tells_the_cause_of_what_it_cures() -> None:
    by_name = {each.name: each for each in fixes.ALL}
    for each in fixes.ALL:
        assert set(each.single) <= set(each.operators), each.name
        assert not (each.single and each.mends_one_fault), each.name
    # Each of these mends faults that have nothing in common, some of one operator.
    for name in ("attention", "tables", "special_values", "invalid_arguments"):
        assert by_name[name].mends_one_fault_of == ()
    assert by_name["softplus"].mends_one_fault_of == by_name["softplus"].operators


def test_a_room_without_fixes_is_empty() -> None:
    room = ModuleType("room")
    room.__path__ = []
    with pytest.raises(ValueError, match="got none"):
        discovered([room])


@pytest.mark.parametrize(
    ("before", "after"),
    [
        # The shape passes complete shapes, then check them, then solve for derived symbols.
        ("known_rank", "known_results"),
        ("known_results", "dynamic_broadcast"),
        ("dynamic_broadcast", "shape_guard"),
        ("shape_guard", "derived_shapes"),
        # The rest of circular indices may count down.
        ("circular_indices", "falling_indices"),
    ],
)
def test_passes_that_depend_on_each_other_keep_their_order(before: str, after: str) -> None:
    order = [fix.name for fix in fixes.ALL]
    assert order.index(before) < order.index(after)
