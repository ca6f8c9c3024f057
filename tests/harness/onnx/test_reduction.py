"""Failing models made simpler."""

from msgspec.structs import replace

from relaxcheck.generators.onnx.case import Importing, OnnxCase
from relaxcheck.generators.onnx.walk import operators_of
from relaxcheck.harness.onnx.inferred import types_of
from relaxcheck.harness.onnx.kind import KIND
from relaxcheck.harness.onnx.reduction import ending_with, measure
from relaxcheck.harness.onnx.vetting import validate
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from tests.harness.onnx.models import chain, softmax

FAILED = Outcome(Verdict.OPAQUE_CRASH, "import", None, "TypeError: …")


def smaller(case: OnnxCase) -> list[OnnxCase]:
    return [each for step in KIND.steps for each in step(case, FAILED)]


def test_every_candidate_is_simpler() -> None:
    case = chain(importing=Importing(opset=True), pipeline="default-pipeline", opt_level=3)
    candidates = smaller(case)
    assert candidates
    assert all(measure(each) < measure(case) for each in candidates)


def test_the_one_node_at_fault_is_reached() -> None:
    """Whatever holds a Relu fails: it is left, with an input of the shape that it had."""
    case = chain()
    while True:
        failing = (each for each in smaller(case) if "Relu" in operators_of(each.model))
        valid = (each for each in failing if not validate(each, lambda stage: None)[1])
        simpler = next(valid, None)
        if simpler is None:
            break
        case = simpler
    assert operators_of(case.model) == ("Relu",)
    assert not case.model.symbols
    assert len(case.model.tensors) == 1


def test_types_of_values_are_inferred_with_their_symbols() -> None:
    types = types_of(chain())
    assert types["product"] == ("float32", ("B", 2))
    assert types["y"] == ("float32", ())


def test_an_ending_needs_no_later_node() -> None:
    case = chain()
    ending = ending_with(case, case.model.nodes[0])
    assert [node.operator for node in ending.model.nodes] == ["MatMul"]
    assert ending.model.outputs == ("product",)
    assert [name for name, _, _ in KIND.endings(case)] == ["product", "positive", "y"]


def test_an_invalid_model_is_seen() -> None:
    case = softmax()
    node = replace(case.model.nodes[0], attributes={"axis": 7})
    broken = replace(case, model=replace(case.model, nodes=(node,)))
    reference, contradiction = validate(broken, lambda stage: None)
    assert reference.refused
    assert "the model is invalid" in contradiction
    assert validate(case, lambda stage: None) == (type(reference)(""), "")
