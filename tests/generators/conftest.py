"""Each test that takes a family runs on every family."""

import pytest

from generators.axes import Family
from tests.generators.drawn import FAMILIES


@pytest.fixture(params=FAMILIES, ids=lambda family: family.name)
def family(request: pytest.FixtureRequest) -> Family:
    """Each family in turn."""
    found: Family = request.param
    return found
