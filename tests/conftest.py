"""Options of the project's own tests."""

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--faults-full", action="store_true", help="every repetition of every fault, some with TVM"
    )
    parser.addoption(
        "--repros-full", action="store_true", help="the script of every entry of the corpus"
    )
