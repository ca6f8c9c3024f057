"""Fixes are off before and after every test of this room."""

from collections.abc import Iterator

import pytest

import fixes


@pytest.fixture(autouse=True)
def fixes_off() -> Iterator[None]:
    # A test of another room may have run before in this process, and have put them on.
    fixes.uninstall()
    assert fixes.installed() == ()
    yield
    fixes.uninstall()


@pytest.fixture
def fixes_on(fixes_off: None) -> None:
    fixes.install()
