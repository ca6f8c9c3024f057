"""The lists of thorough tests name tests that are there."""

from collections.abc import Iterator

from tests.thorough import ROOMS, SINGLE, TESTS


def _kept() -> Iterator[tuple[str, str]]:
    for room, names in ROOMS.items():
        yield from ((room, name) for name in names)


def test_every_single_test_is_there() -> None:
    for each in SINGLE:
        place, _, name = each.partition("::")
        assert f"def {name}(" in (TESTS / place).read_text(), each
        assert not any(place.startswith(f"{room}/") for room in ROOMS), each


def test_every_room_has_tests_and_those_that_it_keeps() -> None:
    for room in ROOMS:
        assert any((TESTS / room).rglob("test_*.py")), room
    for room, name in _kept():
        texts = [path.read_text() for path in (TESTS / room).rglob("test_*.py")]
        assert any(f"def {name}(" in text for text in texts), name
