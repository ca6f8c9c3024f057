"""ONNX models as a strategy."""

import pytest
from hypothesis import HealthCheck, given, settings

from relaxcheck import strategies
from relaxcheck.generators.onnx.case import OnnxCase


@settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(strategies.models(["Neg", "Abs"], fixes=True))
def test_models_of_the_named_operators_are_right(case: OnnxCase) -> None:
    assert case.model.nodes[-1].operator in ("Neg", "Abs")
    assert case.fixes
    strategies.check(case)


def test_an_operator_without_models() -> None:
    with pytest.raises(ValueError, match="no models of Nothing"):
        strategies.models(["Nothing"])
