"""Functions that a model defines itself."""

import numpy as np
import pytest

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.frontends.onnx.graph.local_functions import without_functions
from tests.fixes import onnx_texts
from tests.fixes import whole_programs as whole
from tests.fixes.onnx_texts import agrees, floats

SCALED = """f (float[n] x) => (float[n] y, float[n] z) {
    y = local.Scaled <factor = 2.0> (x)
    z = local.Scaled (y)
}
<domain: "local", opset_import: ["" : OPSET]>
Scaled <factor: float = 3.0> (a) => (b) {
    number = Constant <value_float: float = @factor> ()
    b = Mul (a, number)
}"""


def test_attributes_and_their_defaults(fixes_on: None) -> None:
    agrees(SCALED.replace("OPSET", "18"), [floats(3)])


def test_within_a_branch(fixes_on: None) -> None:
    text = """f (bool c, float[2] x) => (float[2] y) {
        y = If (c) <
            then_branch = g () => (float[2] t) { t = local.Twice (x) },
            else_branch = h () => (float[2] e) { e = Neg (x) }
        >
    }
    <domain: "local", opset_import: ["" : 18]>
    Twice (a) => (b) { b = Add (a, a) }"""
    agrees(text, [np.array(True), floats(2)], [np.array(False), floats(2)])


def test_a_function_that_is_not_defined_is_refused(fixes_on: None) -> None:
    model = onnx_texts.model_of(
        SCALED.replace("OPSET", "18").replace("z = local.Scaled", "z = local.Gone")
    )
    with pytest.raises(tvm_api.OpNotImplemented, match=r"local\.Gone \(node of z\)"):
        onnx_texts.imported(model)


def test_a_model_without_functions_stays_the_same() -> None:
    model = onnx_texts.model_of("f (float[2] x) => (float[2] y) { y = Neg (x) }")
    assert without_functions(model) is model


PROGRAMS: whole.Programs = {
    "onnx_local_functions": {
        "a function": (
            whole.upstream("onnx_local_functions", "a_function_that_calls_another"),
            lambda: agrees(SCALED.replace("OPSET", "18"), [floats(2)]),
        ),
    },
}
