"""Fixes are off before and after every test of this room."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from relaxcheck import fixes
from relaxcheck.fixes.framework import installation
from relaxcheck.fixes.frontends.onnx.recurrent import importing as onnx_rnn
from tests.thinning import at, by_file, thin

_THINNED = {
    "frontends": 40,
    "lowerings": 40,
    "upstream/test_export.py": 16,
    "upstream/test_for_tvm.py": 4,
}
"""Tests that go through many shapes, dtypes and attributes of one operator, or through all fixes,
of which others make the patches together and ask the probes with all of them on. One in so many of
their combinations is not slow."""

_SPARED = {
    "bucketing": 3,
    "framework/test_installation.py": 8,
    "framework/test_probes_truth.py": 48,
    "frontends": 3,
    "lowerings": 3,
    "upstream/test_for_tvm.py": 8,
}
"""Of the combinations that are not slow, even of few, all but one in so many are thorough: who
changes a fix runs all of its tests (``pytest tests/fixes -k NAME``)."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    files, room = by_file(items), Path(__file__).parent
    for place, kept in _THINNED.items():
        thin(at(room / place, files), kept)
    for place, kept in _SPARED.items():
        thin(at(room / place, files), kept, pytest.mark.thorough, few=1)


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
