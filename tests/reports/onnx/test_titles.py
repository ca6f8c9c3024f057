"""Titles name the inputs, attributes and dtypes that a model's author sees."""

import pytest

from relaxcheck.generators.core.axes import complete
from relaxcheck.generators.core.case import Value
from relaxcheck.generators.onnx.case import OnnxCase
from relaxcheck.generators.onnx.family import families
from relaxcheck.reports.onnx.titles import title_text


def case_at(operator: str, **point: Value) -> OnnxCase:
    (family,) = (each for each in families(("build",)) if each.name == f"onnx-{operator}")
    return family.build(complete(family.axes, point), 0)


@pytest.mark.parametrize(
    ("axes", "title"),
    [
        (None, "ONNX Pad of float16 fails"),
        ("1", "ONNX Pad of float16 fails with axes of int32"),
    ],
)
def test_a_type_parameter_stands_for_the_inputs_that_have_it(axes: Value, title: str) -> None:
    case = case_at("Pad", opset=18, axes=axes, held="input")
    assert title_text(case, "fails", {"T": "float16", "Tind": "int32"}) == title


def test_the_dtype_of_a_result_is_one_of_the_operator() -> None:
    text = title_text(case_at("Cast"), "fails", {"T1": "bfloat16", "T2": "int8"})
    assert text == "ONNX Cast of bfloat16, int8 fails"


def test_ways_to_hold_tensors_are_sentences() -> None:
    text = title_text(case_at("Relu"), "fails", {"size": "none", "data": "initializer"})
    assert text == "ONNX Relu fails with a dimension of size 0, data in initializers"
