"""ONNX's losses agree with ONNX's evaluator."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from onnx.reference import ReferenceEvaluator

from relaxcheck.fixes.framework import installation
from relaxcheck.fixes.frontends.onnx.reducing.losses import FIX
from tests.fixes import whole_programs as whole
from tests.fixes.onnx_nodes import NodeCase, check, programs

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

RANDOM = np.random.default_rng(0)


SHAPES = [(4, 3), (2, 3, 4), (2, 3, 2, 2)]


def loss(
    operator: str, shape: tuple[int, ...], weight: bool, outputs: int = 1, **settings: object
) -> NodeCase:
    labels = RANDOM.integers(0, shape[1], (shape[0], *shape[2:]))
    inputs = {
        "input": -RANDOM.random(shape).astype(np.float32),
        "target": labels,
    }
    if weight:
        inputs["weight"] = RANDOM.random(shape[1]).astype(np.float32)
    return NodeCase(operator, 13, inputs, settings, outputs=outputs)


def evaluated(case: NodeCase) -> NodeCase:
    values = ReferenceEvaluator(case.model).run(None, case.data)
    return replace(case, expected=tuple(np.asarray(value) for value in values))


LIKELIHOOD, ENTROPY = "NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss"

PROGRAMS: whole.Programs = {
    FIX.name: {
        "likelihood": programs(evaluated(loss(LIKELIHOOD, (4, 3), True))),
        "entropy": programs(evaluated(loss(ENTROPY, (4, 3), False, 2))),
    }
}


@pytest.fixture(autouse=True)
def importing(fixes_off: None) -> Iterator[None]:
    with installation.install([FIX]):
        yield


@pytest.mark.parametrize("operator", [LIKELIHOOD, ENTROPY])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("reduction", ["none", "sum", "mean"])
@pytest.mark.parametrize("weight", [False, True])
def test_reductions(operator: str, shape: tuple[int, ...], reduction: str, weight: bool) -> None:
    check(evaluated(loss(operator, shape, weight, reduction=reduction)))
    check(evaluated(loss(operator, shape, weight, reduction=reduction, ignore_index=1)))


def test_log_probabilities_of_a_symbolic_batch() -> None:
    case = evaluated(loss(ENTROPY, (4, 3), True, 2))
    check(case)
    shapes = {"input": ("B", 3), "target": ("B",)}
    check(replace(case, shapes=shapes))


def test_a_label_that_is_no_class_may_be_ignored() -> None:
    data = -RANDOM.random((3, 2)).astype(np.float32)
    labels = np.array([0, -1, 1], np.int64)
    expected = np.array(-(data[0, 0] + data[2, 1]) / 2)
    inputs = {"input": data, "target": labels}
    check(NodeCase(LIKELIHOOD, 13, inputs, {"ignore_index": -1}, expected=(expected,)))


def test_errors_name_operator_and_attribute() -> None:
    with pytest.raises(
        ValueError, match=r"SoftmaxCrossEntropyLoss is invalid with reduction='max'"
    ):
        check(loss(ENTROPY, (4, 3), False, reduction="max"))
