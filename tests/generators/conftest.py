"""Each test that takes a family runs on every family."""

import pytest

from relaxcheck.generators.core.axes import Family
from tests.generators.drawn import FAMILIES


@pytest.fixture(params=FAMILIES, ids=lambda family: family.name)
def family(request: pytest.FixtureRequest) -> Family:
    """Each family in turn."""
    parameter: Family = request.param
    return parameter
