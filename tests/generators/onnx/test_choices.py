"""Axes that hints share: the values that each version and rank allows."""

from relaxcheck.generators.core.axes import Axis, Point
from relaxcheck.generators.core.case import Value
from relaxcheck.generators.onnx.choices import (
    axes_choice,
    axis_choice,
    dtype_choice,
    input_dtype,
    listed,
    place,
    places,
    unsigned,
)
from relaxcheck.generators.onnx.model import INITIALIZER
from relaxcheck.generators.onnx.schemas import schema
from relaxcheck.generators.onnx.sketch import Sketch


def _values(axis: Axis, **point: Value) -> tuple[Value, ...]:
    return axis.choices(point)


def _sketch(operator: str, opset: int, **point: Value) -> Sketch:
    version = schema(operator, opset)
    assert version is not None
    whole: Point = {"opset": opset, "held": "initializer", **point}
    return Sketch(version, whole)


def test_an_axis_lies_in_the_rank_and_counts_from_the_end_in_later_versions() -> None:
    axis = axis_choice("ArgMax")
    assert _values(axis, opset=18, rank=2) == (None, 0, 1, -1, -2)
    assert _values(axis, opset=7, rank=2) == (None, 0, 1)


def test_a_default_that_lies_beyond_the_rank_is_stated() -> None:
    # The default is 1 before opset 13, and -1 from then on.
    axis = axis_choice("Softmax")
    assert _values(axis, opset=7, rank=1) == (0,)
    assert _values(axis, opset=18, rank=1) == (None, 0, -1)


def test_a_required_axis_is_always_there() -> None:
    assert None not in _values(axis_choice("Concat"), opset=18, rank=3)


def test_an_axis_of_the_result_reaches_further() -> None:
    axis = axis_choice("OneHot", (0, 1, -1, -2, 2), counted=9, above=1, below=1)
    assert _values(axis, opset=18, rank=1) == (None, 0, 1, -1, -2)


def test_axes_name_each_dimension_at_most_once() -> None:
    axis = axes_choice("ReduceSum", ("0", "0, 1", "-1, 0", ""))
    assert _values(axis, opset=18, rank=1) == (None, "0", "")
    assert _values(axis, opset=18, rank=2) == (None, "0", "0, 1", "-1, 0", "")
    # As an attribute they do not count from the end yet, and are not empty.
    assert _values(axis, opset=7, rank=2) == (None, "0", "0, 1")


def test_added_axes_are_those_of_the_result() -> None:
    axis = axes_choice("Unsqueeze", ("0", "1", "-1", "0, 2"), added=True, required=True)
    assert _values(axis, opset=18, rank=1) == ("0", "1", "-1", "0, 2")
    assert _values(axis, opset=18, rank=0) == ("0", "-1")


def test_dtypes_of_an_attribute_are_those_of_the_version() -> None:
    axis = dtype_choice("RandomNormal", "dtype", "T")
    assert _values(axis, opset=18) == (None, "float16", "float32", "float64")
    assert "bfloat16" in _values(axis, opset=22)


def test_places_are_counted_from_the_first() -> None:
    assert place(_sketch("ArgMax", 18, rank=3, axis=-1)) == 2
    assert place(_sketch("Softmax", 7, rank=3, axis=None)) == 1
    assert places(_sketch("ReduceSum", 18, rank=3, axes="-1, 0")) == (2, 0)
    assert places(_sketch("ReduceSum", 18, rank=3, axes=None)) is None


def test_a_list_is_an_attribute_or_an_input_as_the_version_has_it() -> None:
    early, late = _sketch("ReduceSum", 7), _sketch("ReduceSum", 18)
    assert listed(early, "axes", [1]) == ("", (1,))
    assert early.tensors == []
    assert listed(late, "axes", [1]) == ("axes", None)
    assert [(t.name, t.dtype, t.held) for t in late.tensors] == [("axes", "int64", INITIALIZER)]
    assert listed(late, "axes", None) == ("", None)


def test_the_dtype_of_an_input_is_a_parameter_or_its_own() -> None:
    assert input_dtype(_sketch("QuantizeLinear", 13), "y_scale") == "float32"
    assert input_dtype(_sketch("QuantizeLinear", 21, T1="float16"), "y_scale") == "float16"


def test_only_casts_from_floats_to_unsigned_integers_need_magnitudes() -> None:
    assert unsigned("uint8", "float32") is not None
    assert unsigned("uint8", "bfloat16") is not None
    assert unsigned("uint8", "int32") is None
    assert unsigned("uint8", "bool") is None
    assert unsigned("int8", "float32") is None
