"""PyTorch programs as a strategy."""

import pytest
from hypothesis import HealthCheck, given, settings

from relaxcheck import strategies
from relaxcheck.generators.torch.case import TorchCase


@settings(max_examples=4, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(strategies.torch_programs(["neg", "Linear"], fixes=True))
def test_programs_of_the_named_entries_are_right(case: TorchCase) -> None:
    assert case.family in ("torch-neg", "torch-Linear")
    assert case.fixes
    strategies.check(case)


@pytest.mark.parametrize("name", ["Nothing", "view_as_real"])
def test_an_entry_without_programs(name: str) -> None:
    with pytest.raises(ValueError, match=f"no PyTorch programs of {name}"):
        strategies.torch_programs([name])
