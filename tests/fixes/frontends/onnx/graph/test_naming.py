"""Errors of a conversion say which node it is of."""

from typing import Any, NoReturn

import onnx
import pytest
from tvm.relax.frontend.onnx import onnx_frontend

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.frontends.onnx.graph.naming import naming
from tests.fixes import onnx_texts

TEXT = "f (float[2] x) => (float[2] y) { [first] a = Neg (x) y = Relu (a) }"


def raising(monkeypatch: pytest.MonkeyPatch, error: Exception) -> pytest.ExceptionInfo[Exception]:
    """The error of the import of ``TEXT`` where the conversion of Relu raises ``error``."""

    class Raising(onnx_frontend.OnnxOpConverter):  # type: ignore[misc]
        @classmethod
        def get_converter(cls, opset: int) -> Any:
            def convert(*arguments: Any) -> NoReturn:
                raise error

            return convert

    table = onnx_frontend._get_convert_map() | {"Relu": Raising}
    monkeypatch.setattr(onnx_frontend, "_get_convert_map", lambda: table)
    with pytest.raises((type(error), tvm_api.OpNotImplemented)) as caught:
        onnx_texts.imported(onnx_texts.model_of(TEXT))
    return caught


def test_a_refusal_names_the_operator_and_the_node(
    monkeypatch: pytest.MonkeyPatch, fixes_on: None
) -> None:
    error = AssertionError("Only constant slopes currently supported")
    caught = raising(monkeypatch, error)
    assert caught.type is tvm_api.OpNotImplemented
    assert str(caught.value) == "Relu (node of y): Only constant slopes currently supported"
    assert caught.value.__cause__ is error


@pytest.mark.parametrize(
    "error",
    [
        ValueError("Relu of bfloat16 is not supported"),
        TypeError("unsupported operand type(s) for *: 'float' and 'Var'"),
        KeyError("axis"),
    ],
)
def test_any_other_error_stays_and_has_a_note(
    error: Exception, monkeypatch: pytest.MonkeyPatch, fixes_on: None
) -> None:
    caught = raising(monkeypatch, error)
    assert caught.value is error
    assert error.__notes__ == ["in the conversion of Relu (node of y)"]


def test_a_name_that_is_no_pattern_is_a_name() -> None:
    node = onnx.helper.make_node("C++(", ["x"], ["y"])
    with (
        pytest.raises(tvm_api.OpNotImplemented, match=r"^C\+\+\( \(node of y\): not supported$"),
        naming(node),
    ):
        raise ValueError("not supported")
