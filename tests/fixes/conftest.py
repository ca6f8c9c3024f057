"""Fixes are off before and after every test of this room."""

from collections.abc import Iterator

import pytest

from relaxcheck import fixes
from relaxcheck.fixes.framework import installation
from relaxcheck.fixes.frontends.onnx.recurrent import importing as onnx_rnn


@pytest.fixture(autouse=True)
def fixes_off() -> Iterator[None]:
    # A test of another room may have put them on in this process.
    fixes.uninstall()
    assert fixes.installed() == ()
    yield
    fixes.uninstall()


@pytest.fixture
def fixes_on(fixes_off: None) -> None:
    fixes.install()


@pytest.fixture
def importing(fixes_off: None) -> Iterator[None]:
    """The importer supports LSTM, GRU and RNN; no other fix is on."""
    with installation.install([onnx_rnn.FIX]) as on:
        assert on.fixes == (onnx_rnn.FIX,)
        yield
