"""Findings of a campaign against outputs worked out by hand; ``hand_case`` describes the sample."""

from dataclasses import replace

import numpy as np
import pytest
import tvm

from relaxcheck.harness.releases.releases import within
from tests.fixes.frontends.onnx.by_hand import dtypes, empty, errors, shapes, values
from tests.fixes.frontends.onnx.by_hand.hand_case import (
    RIGHT,
    WRONG_DTYPE,
    WRONG_SHAPE,
    WRONG_VALUE,
    HandCase,
    check_model,
    ending,
    node_model,
)

MODULES = (dtypes, shapes, empty, values, errors)
CASES: tuple[HandCase, ...] = tuple(case for module in MODULES for case in module.CASES)


def test_the_sample_has_each_operator_once() -> None:
    operators = {node.op_type for case in CASES for node in case.model.graph.node}
    assert len(operators) == len({case.finding for case in CASES}) == len(CASES) == 30
    assert sum(not case.alone.partition(": ")[2] for case in CASES) == 23


def test_the_models_are_valid_and_have_outputs_of_these_types() -> None:
    for case in CASES:
        check_model(case)


@pytest.mark.skipif(not within(tvm.__version__, "0.27"), reason="the cases say how 0.27 fails")
def test_no_finding_is_refuted() -> None:
    endings = {case.name: (case.alone, ending(case)) for case in CASES}
    assert {name: pair for name, pair in endings.items() if not pair[1].startswith(pair[0])} == {}


def test_with_the_fixes_they_are_computed_or_refused_by_name(fixes_on: None) -> None:
    endings = {case.name: (case.fixed, ending(case)) for case in CASES}
    assert {name: pair for name, pair in endings.items() if not pair[1].startswith(pair[0])} == {}


X = np.array([1, -2], np.float32)
NEGATED = HandCase(
    "Neg", "", node_model("Neg", 13, {"x": X}, {"y": (np.float32, [2])}), (X,), (-X,), RIGHT
)


def test_a_right_result_is_compared_with_the_expected_outputs() -> None:
    endings = {
        RIGHT: (-X,),
        WRONG_VALUE: (-X * np.float32(1 + 2**-20),),
        WRONG_SHAPE: (-X[None],),
        WRONG_DTYPE: (-X.astype(np.float64),),
        "1 outputs": (-X, X),
    }
    for word, expected in endings.items():
        assert ending(replace(NEGATED, expected=expected)) == word
    assert "Error: " in ending(replace(NEGATED, inputs=()))
