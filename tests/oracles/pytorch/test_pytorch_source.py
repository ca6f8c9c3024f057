"""Texts of PyTorch for scripts."""

from relaxcheck.oracles.pytorch.evaluate import OPERATORS
from relaxcheck.oracles.pytorch.source import SOURCES


def test_every_text_is_of_an_operator_of_the_oracle() -> None:
    assert SOURCES.keys() <= OPERATORS.keys()
