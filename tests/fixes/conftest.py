"""Fixes are off before and after every test of this room."""

from collections.abc import Iterator

import pytest

import fixes
from fixes import installation, onnx_rnn


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


@pytest.fixture
def importing(fixes_off: None) -> Iterator[None]:
    """The importer takes LSTM, GRU and RNN; no other fix is on."""
    with installation.install([onnx_rnn.FIX]) as on:
        assert on.fixes == (onnx_rnn.FIX,)
        yield
