"""Errors that are clear refusals, and errors that are not."""

import pytest
from msgspec.structs import replace

from relaxcheck.generators.core.case import Invalid
from relaxcheck.harness.onnx.refusals import classified, names_none
from relaxcheck.harness.outcomes.outcome import Verdict
from tests.harness.onnx.models import chain, of, softmax


@pytest.mark.parametrize(
    ("message", "operator"),
    [
        ("OpNotImplemented: The following operators are not supported: MatMul", "MatMul"),
        ("ValueError: Relu of float8 is not supported", "Relu"),
        ("ValueError: ReduceSum: keepdims has to be 1", "ReduceSum"),
        ("OpNotImplemented: relax.nn.conv2d cannot be lowered with dtype=float8", "conv2d"),
    ],
)
def test_a_clear_refusal_names_what_it_is_about(message: str, operator: str) -> None:
    assert classified(chain(), "import", message) == (Verdict.UNSUPPORTED, operator)


@pytest.mark.parametrize(
    "message",
    [
        "ValueError: Node  cannot handle ShapeExpr inputs.",
        "KeyError: 'num_heads'",
        "AttributeError: 'Var' object has no attribute 'value'",
    ],
)
def test_other_errors_are_opaque(message: str) -> None:
    assert classified(softmax(), "import", message) == (Verdict.OPAQUE_CRASH, "Softmax")


@pytest.mark.parametrize(
    "message",
    [
        "TypeError: Unsupported output datatype attribute for operation: bfloat16",
        "InternalError: Data type T.bfloat16 not supported for finiteness ops. Skipping it...",
        "ValueError: Dynamic pads are not supported yet.",
        "AssertionError: Only constant axes currently supported",
        "AssertionError: rotary position embedding is not currently supported",
    ],
)
def test_a_refusal_that_names_no_operator_is_told_apart(message: str) -> None:
    assert classified(softmax(), "import", message) == (Verdict.UNSUPPORTED, "Softmax")
    assert classified(chain(), "import", message) == (Verdict.UNSUPPORTED, None)
    assert names_none(softmax(), message)
    assert not names_none(softmax(), f"{message} Softmax")
    invalid = replace(of("Elu"), expect=Invalid("Elu", ("alpha",)))
    assert classified(invalid, "import", message) == (Verdict.OPAQUE_CRASH, "Elu")
    assert not names_none(invalid, message)


@pytest.mark.parametrize(
    "message",
    [
        "TypeError: unsupported operand type(s) for *: 'float' and 'Var'",
        "TypeError: '<' not supported between instances of 'Var' and 'int'",
        "TypeError: ufunc 'isfinite' not supported for the input types",
        "ValueError: Type <class 'NoneType'> for size is currently unsupported.",
        "ValueError: IntImm supports only int or uint or bool type, but float32 was supplied.",
    ],
)
def test_an_accident_of_python_s_or_numpy_s_refuses_nothing(message: str) -> None:
    assert classified(softmax(), "import", message) == (Verdict.OPAQUE_CRASH, "Softmax")
    assert not names_none(softmax(), message)


def test_an_invalid_model_is_rejected_by_its_fault_before_it_runs() -> None:
    case = replace(of("Elu"), expect=Invalid("Elu", ("alpha",)))
    message = "ValueError: alpha has to be a number"
    assert classified(case, "import", message) == (Verdict.REJECTED, "Elu")
    assert classified(case, "run", message) == (Verdict.OPAQUE_CRASH, "Elu")


@pytest.mark.parametrize(
    "message",
    [
        "AttributeError: 'NoneType' object has no attribute 'ty'",
        "TypeError: from_onnx() missing 1 required positional argument: 'x'",
        "TypeError: unsupported operand type(s) for *: 'float' and 'NoneType'",
        "KeyError: 'attribute'",
    ],
)
def test_an_error_of_python_s_own_is_no_refusal_of_an_invalid_model(message: str) -> None:
    fault = ("attribute", "required", "missing", "operand", "argument")
    case = replace(of("Elu"), expect=Invalid("Elu", fault))
    assert classified(case, "import", message) == (Verdict.OPAQUE_CRASH, "Elu")
    clear = "TypeError: Elu of NoneType: the operand is missing"
    assert classified(case, "import", clear) == (Verdict.REJECTED, "Elu")


@pytest.mark.parametrize(
    ("operator", "message"),
    [
        ("Not", "TypeError: '<' not supported between instances of 'Var' and 'int'"),
        ("Constant", "InternalError: Check failed: (value.defined()) is false: constant value"),
        ("Shape", "InternalError: Check failed: (shape.defined()) is false: the shape of data"),
        ("Range", "InternalError: Check failed: (start < limit) is false: empty range"),
        ("Relu", "AttributeError: Relu: 'NoneType' object has no attribute 'X'"),
        ("Relu", "TypeError: unsupported operand type(s) for +: 'Relu' and 'int'"),
    ],
)
def test_words_of_other_errors_name_no_operator(operator: str, message: str) -> None:
    assert classified(of(operator), "import", message) == (Verdict.OPAQUE_CRASH, operator)


@pytest.mark.parametrize("operator", ["Not", "Constant"])
def test_an_operator_that_is_a_word_is_named_as_it_is_spelled(operator: str) -> None:
    message = f"OpNotImplemented: Operators that are not supported: {operator}"
    assert classified(of(operator), "import", message) == (Verdict.UNSUPPORTED, operator)


def test_a_refusal_that_repeats_words_of_python_s_is_one() -> None:
    message = "OpNotImplemented: Relu (a): Type <class 'NoneType'> is currently unsupported."
    assert classified(of("Relu"), "import", message) == (Verdict.UNSUPPORTED, "Relu")
