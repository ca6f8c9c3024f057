"""A call of a function that nobody can make is bad input."""

from typing import Any

import pytest

from relaxcheck.generators.core.called.meanings import DPS_PACKED, TIR_INPLACE
from relaxcheck.generators.core.case import CaseError
from relaxcheck.generators.core.program import Case, Input, Node, Program, ShapeValue
from relaxcheck.harness.programs.vetting import reference
from relaxcheck.harness.programs.wellformed import check

OWN: dict[str, Any] = {"function": "clipped", "of": ShapeValue((2, 3)), "dtype": "float32"}
BOUNDS = {"low": -1, "high": 2}
DIFFERENCE = {**OWN, "function": "difference", "inplace_indices": (0,)}


def case(operator: str, attributes: dict[str, Any], *arguments: str) -> Case:
    inputs = tuple(Input(name, (2, 3), "float32") for name in "xy")
    copy = Node("v", "maximum", ("x", "x"))
    node = Node("r", operator, arguments or ("v",), attributes)
    return Case("none", Program(inputs, (copy, node), ("r",)))


@pytest.mark.parametrize(
    ("operator", "attributes", "arguments"),
    [(DPS_PACKED, {**OWN, **BOUNDS}, ("v",)), (TIR_INPLACE, DIFFERENCE, ("v", "y"))],
)
def test_a_call_with_all_that_the_function_takes_is_one(
    operator: str, attributes: dict[str, Any], arguments: tuple[str, ...]
) -> None:
    check(case(operator, attributes, *arguments))
    assert not reference(case(operator, attributes, *arguments)).refused


@pytest.mark.parametrize(
    ("operator", "attributes", "arguments", "why"),
    [
        (DPS_PACKED, {**OWN, **BOUNDS, "function": "mean"}, ("v",), "no function is called so"),
        (DPS_PACKED, {**OWN, "low": -1}, ("v",), "no attribute high"),
        (DPS_PACKED, {**OWN, **BOUNDS}, ("v", "y"), "1 arguments and 1 results"),
        (DPS_PACKED, {**OWN, **BOUNDS, "item": 0}, ("v",), "1 arguments and 1 results"),
        (DPS_PACKED, {**OWN, "function": "opposites"}, ("v", "y"), "2 arguments and 2 results"),
        (DPS_PACKED, {**OWN, "function": "opposites", "item": 2}, ("v", "y"), "and 2 results"),
        (TIR_INPLACE, {**OWN, "function": "difference"}, ("v", "y"), "attribute inplace_indices"),
        (TIR_INPLACE, DIFFERENCE, ("v",), "2 arguments and 1 results"),
    ],
)
def test_another_call_is_bad_input(
    operator: str, attributes: dict[str, Any], arguments: tuple[str, ...], why: str
) -> None:
    with pytest.raises(CaseError, match=why):
        check(case(operator, attributes, *arguments))


def test_the_reference_refuses_to_overwrite_an_input() -> None:
    wrong = case(TIR_INPLACE, DIFFERENCE, "x", "y")
    check(wrong)
    assert "overwrites x, whose memory others have" in reference(wrong).refused
