"""Models that were decoded and make no sense are one clear line."""

import msgspec
import pytest
from msgspec.structs import replace

from relaxcheck.generators.core.case import CaseError, encode
from relaxcheck.generators.core.fills.kinds import Literal
from relaxcheck.generators.onnx.case import Importing, OnnxCase
from relaxcheck.generators.onnx.model import Model, Node, Tensor
from relaxcheck.harness import kinds
from relaxcheck.harness.onnx.wellformed import check
from tests.harness.onnx.models import chain, softmax


def with_tensor(**fields: object) -> OnnxCase:
    case = softmax()
    tensor = replace(case.model.tensors[0], **fields)
    return replace(case, model=replace(case.model, tensors=(tensor,)))


@pytest.mark.parametrize(
    ("case", "words"),
    [
        (softmax(pipeline="none"), "pipeline 'none' is unknown"),
        (softmax(opt_level=7), "LLVM has levels 0 to 3"),
        (softmax(seed=-1), "seed -1"),
        (replace(softmax(), family="../up"), "family '../up': a name has letters"),
        (replace(softmax(), model=replace(softmax().model, opset=999)), "opset 999"),
        (chain(importing=Importing(shapes=True)), "give one binding"),
        (with_tensor(shape=(1,) * 40), "40 dimensions"),
        (with_tensor(shape=(2**20, 2**20)), "is out of range"),
        (with_tensor(shape=(2,), fill=Literal((1,))), "1 values for shape"),
    ],
)
def test_a_case_that_makes_no_sense(case: OnnxCase, words: str) -> None:
    with pytest.raises(CaseError, match=words):
        check(case)


@pytest.mark.parametrize("case", [softmax(), chain()])
def test_a_case_survives_its_json(case: OnnxCase) -> None:
    assert kinds.decode(encode(case)) == case


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"outputs": ["z"]}, "output 'z' is not defined"),
        ({"outputs": []}, "at least one output"),
        ({"nodes": [{"operator": "Abs", "inputs": ["u"], "outputs": ["y"]}]}, "'u' is not defined"),
        (
            {"nodes": [{"operator": "Abs", "inputs": ["x"], "outputs": ["x"]}]},
            "'x' is defined twice",
        ),
    ],
)
def test_a_graph_that_makes_no_sense(change: dict[str, object], words: str) -> None:
    raw = msgspec.json.decode(encode(softmax()))
    raw["model"] |= change
    with pytest.raises(CaseError, match=words):
        kinds.decode(msgspec.json.encode(raw))


def test_a_name_that_is_no_operator() -> None:
    model = Model(18, (Tensor("x", (1,), "float32"),), (Node("../Abs", ("x",), ("y",)),), ("y",))
    with pytest.raises(CaseError, match="no operator"):
        check(OnnxCase("onnx-Abs", model))
