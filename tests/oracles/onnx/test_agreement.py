"""The oracles agree about drawn models, as far as faults are declared.

A new draw may show a fault of ONNX Runtime or of ONNX's evaluator that is not: then the other one
agrees with the reference.
"""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relaxcheck.generators.core.axes import cases
from relaxcheck.generators.core.values import arrays
from relaxcheck.generators.onnx.family import OnnxFamily, families
from relaxcheck.oracles.onnx.answers import OUTSIDE, REFERENCE, Question, answer
from relaxcheck.oracles.outside import NoAnswer

FAMILIES = families(("build",))


@pytest.mark.parametrize("family", FAMILIES, ids=[family.hint.operator for family in FAMILIES])
@settings(max_examples=8)
@given(data=st.data())
def test_the_outside_oracles_do_not_both_differ_from_the_reference(
    family: OnnxFamily, data: st.DataObject
) -> None:
    case = data.draw(cases(family))
    for at in range(len(case.bindings)):
        try:
            found = answer(Question(case.model, arrays(case, at)))
        except NoAnswer:
            continue
        if REFERENCE in found.agreeing:
            assert set(found.splits) != set(OUTSIDE), found.splits
