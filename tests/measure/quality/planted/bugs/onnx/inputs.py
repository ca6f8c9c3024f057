"""Plants in how the importer reads inputs, versions and dtypes."""

from relaxcheck.harness.outcomes.outcome import Verdict
from tests.measure.quality.planted.bugs.onnx.changes import (
    first_input_twice,
    first_inputs,
    folded_symbols,
    kept_dtype,
    of_opset,
    rounded_up,
    swapped,
    without_input,
)
from tests.measure.quality.planted.conversion import Misconversion

_SHAPE = (
    *(Verdict.WRONG_SHAPE, Verdict.WRONG_VALUE),
    *(Verdict.OPAQUE_CRASH, Verdict.UNSUPPORTED),
)

PLANTS = (
    Misconversion(
        "onnx-sub-swaps-its-inputs",
        "Sub subtracts its first input from the second",
        "Sub",
        swapped(0, 1),
    ),
    Misconversion(
        "onnx-where-swaps-its-values",
        "Where takes the values of each other's condition",
        "Where",
        swapped(1, 2),
    ),
    Misconversion(
        "onnx-max-is-of-two",
        "Max reads its first two inputs",
        "Max",
        first_inputs(2),
        _SHAPE,
    ),
    Misconversion(
        "onnx-clip-has-no-upper-limit",
        "Clip does not read its input max",
        "Clip",
        without_input(2),
    ),
    Misconversion(
        "onnx-pad-with-zeros",
        "Pad does not read its input constant_value",
        "Pad",
        without_input(2),
    ),
    Misconversion(
        "onnx-slice-ignores-steps",
        "Slice does not read its input steps",
        "Slice",
        without_input(4),
        _SHAPE,
    ),
    Misconversion(
        "onnx-squeeze-takes-every-axis",
        "Squeeze does not read its input axes",
        "Squeeze",
        without_input(1),
        _SHAPE,
    ),
    Misconversion(
        "onnx-quantize-around-zero",
        "QuantizeLinear does not read its zero point",
        "QuantizeLinear",
        without_input(2),
        (Verdict.WRONG_VALUE, Verdict.WRONG_DTYPE),
    ),
    Misconversion(
        "onnx-matmul-integer-ignores-one-zero-point",
        "MatMulInteger does not read the zero point of its second matrix",
        "MatMulInteger",
        without_input(3),
    ),
    Misconversion(
        "onnx-lstm-without-peepholes",
        "LSTM does not read its peepholes",
        "LSTM",
        without_input(7),
    ),
    Misconversion(
        "onnx-hardmax-of-one-axis",
        "Hardmax is of one axis in every opset",
        "Hardmax",
        of_opset(13),
    ),
    Misconversion(
        "onnx-isnan-keeps-the-dtype",
        "IsNaN gives numbers of its input's dtype",
        "IsNaN",
        kept_dtype,
        (Verdict.WRONG_DTYPE,),
    ),
    Misconversion(
        "onnx-expand-folds-symbols",
        "Expand takes each symbol of its shape for 1",
        "Expand",
        folded_symbols(1),
        _SHAPE,
    ),
    Misconversion(
        "onnx-round-half-up",
        "Round takes a half up, not to even",
        "Round",
        rounded_up,
    ),
    Misconversion(
        "onnx-fast-gelu-without-its-bias",
        "ONNX Runtime's FastGelu does not read its bias",
        "FastGelu",
        without_input(1),
        domain="com.microsoft",
    ),
    Misconversion(
        "onnx-skip-layer-normalization-skips-nothing",
        "ONNX Runtime's SkipLayerNormalization takes its data for what it adds to them",
        "SkipLayerNormalization",
        first_input_twice,
        domain="com.microsoft",
    ),
)
