"""The lists of thorough tests name tests that are there."""

from tests.thorough import ROOMS, SINGLE, TESTS, THINNED, is_in_a_room


def test_every_single_test_is_there() -> None:
    for each in SINGLE:
        place, _, name = each.partition("::")
        assert f"def {name}(" in (TESTS / place).read_text(), each
        assert not is_in_a_room(TESTS / place), each


def test_every_place_has_tests() -> None:
    for place in (*ROOMS, *THINNED):
        path = TESTS / place
        assert path.is_file() or any(path.rglob("test_*.py")), place
