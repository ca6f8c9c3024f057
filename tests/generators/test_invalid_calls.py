"""The reference refuses each kind of invalid call: what a campaign calls invalid is so."""

from itertools import islice

import pytest

from relaxcheck.generators.core.axes import Family
from relaxcheck.generators.core.case import Invalid, Mismatch
from relaxcheck.harness.campaign.drawing import invalid_calls
from relaxcheck.harness.programs.vetting import validate
from tests.generators.drawn import FAMILIES

EACH = 3
"""Calls of each kind of fault."""

WITH_FAULTS = tuple(family for family in FAMILIES if family.invalid)


@pytest.mark.parametrize("family", WITH_FAULTS, ids=lambda family: family.name)
def test_the_reference_refuses_it(family: Family) -> None:
    drawn = islice(invalid_calls(family, "refused"), EACH * len(family.invalid))
    accepted = []
    for case in drawn:
        assert isinstance(case.expect, Invalid)
        if isinstance(case.expect, Mismatch):
            continue
        _, contradiction = validate(case, lambda stage: None)
        if contradiction:
            accepted.append((case.expect.fault[0], case.program))
    assert not accepted
