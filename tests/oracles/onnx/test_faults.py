"""Each declared fault of an oracle is still there, and has an example."""

import numpy as np
import pytest
from numpy.lib.introspect import opt_func_info

from relaxcheck.generators.onnx.schemas import schema
from relaxcheck.oracles.answer import Unsupported
from relaxcheck.oracles.onnx.answers import OUTSIDE, Question, answer
from relaxcheck.oracles.onnx.faults import FAULTS, fault
from relaxcheck.oracles.onnx.faults.fault import Fault, Seen
from relaxcheck.oracles.onnx.reference.evaluate import trace
from relaxcheck.oracles.outside import difference
from relaxcheck.oracles.reference.estimate import Estimate
from tests.oracles.onnx.fault_examples import EXAMPLES, Example

NAMES = [f"{example.name}-{at}" for at, example in enumerate(EXAMPLES)]


@pytest.mark.parametrize(
    "example",
    [example for example in EXAMPLES if not example.by_chance],
    ids=[name for name, each in zip(NAMES, EXAMPLES, strict=True) if not each.by_chance],
)
def test_the_oracle_is_still_wrong(example: Example) -> None:
    if (example.oracle, example.model.nodes[-1].operator) == ("evaluator", "Asin"):
        kernel = opt_func_info(func_name="^arcsin$")["arcsin"]["ff"]["current"]
        if "baseline" in kernel:
            pytest.skip("NumPy has the fault in its kernel for AVX-512, which is not used here")
    traced = trace(example.model, example.arrays)
    assert traced.outputs is not None, traced.reason
    assert fault(example.oracle, example.model, traced.values)
    try:
        given = OUTSIDE[example.oracle](example.model, example.arrays)
    except Unsupported as reason:
        pytest.fail(f"{example.oracle} has no answer: {reason}")
    assert any(difference(value, held) for value, held in zip(given, traced.outputs, strict=True))


@pytest.mark.parametrize("example", EXAMPLES, ids=NAMES)
def test_its_answer_is_left_out(example: Example) -> None:
    found = answer(Question(example.model, example.arrays))
    assert found.agreeing[0] == "reference"
    assert example.oracle in found.unsupported
    assert example.oracle not in found.splits


def _shown(each: Fault, example: Example) -> bool:
    values = trace(example.model, example.arrays).values
    for node in example.model.nodes:
        version = schema(node.operator, example.model.opset)
        known = [values.get(name) for name in node.inputs]
        operands = tuple(x if isinstance(x, Estimate) else None for x in known)
        if version is not None and node.operator in each.operators:
            with np.errstate(all="ignore"):
                if each.holds(Seen(node, version, operands)):
                    return True
    return False


@pytest.mark.parametrize("each", FAULTS, ids=[f"{x.oracle}-{x.operators[0]}" for x in FAULTS])
def test_every_fault_has_an_example(each: Fault) -> None:
    own = [example for example in EXAMPLES if example.oracle == each.oracle]
    assert any(_shown(each, example) for example in own), each.evidence
