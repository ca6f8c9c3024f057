"""The answer to a model: by the reference, else by the outside oracles that agree."""

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from relaxcheck.generators.core.values import Array, numpy_dtype
from relaxcheck.generators.onnx.model import Attribute, Model, Node, SparseValue, Tensor
from relaxcheck.oracles.onnx import runtime
from relaxcheck.oracles.onnx.answers import OUTSIDE, Question, answer
from relaxcheck.oracles.outside import NoAnswer


def _question(
    operator: str, opset: int, *operands: Any, domain: str = "", **attributes: Attribute
) -> Question:
    arrays: dict[str, Array] = {f"x{at}": np.asarray(each) for at, each in enumerate(operands)}
    tensors = tuple(Tensor(name, each.shape, each.dtype.name) for name, each in arrays.items())
    node = Node(operator, tuple(arrays), ("y",), attributes, domain)
    return Question(Model(opset, tensors, (node,), ("y",)), arrays)


def test_the_reference_answers_and_others_agree() -> None:
    found = answer(_question("Exp", 13, np.array([0, 1], np.float32)))
    assert found.agreeing == ("reference", "onnxruntime", "evaluator")
    (output,) = found.outputs
    np.testing.assert_allclose(output.value, [1, np.e], rtol=1e-15)
    assert (output.bound < 1e-6).all()
    assert not (found.weak)
    assert not (found.splits)
    assert not (found.unsupported)


def test_outside_oracles_answer_where_the_reference_has_no_function() -> None:
    words = np.array([[1, 2, 1, 5]])
    found = answer(
        _question(
            "TfIdfVectorizer", 9, words, mode="TF", min_gram_length=1, max_gram_length=1,
            max_skip_count=0, ngram_counts=(0,), ngram_indexes=(0, 1), pool_int64s=(1, 5),
        )
    )  # fmt: skip
    assert set(found.agreeing) == {"onnxruntime", "evaluator"}
    assert found.unsupported == {"reference": "reference: no operator TfIdfVectorizer"}
    np.testing.assert_array_equal(found.outputs[0].value, [[2, 1]])
    assert not found.weak


def test_a_sparse_constant_is_a_dense_tensor() -> None:
    sparse = SparseValue("float32", (2, 3), (1, 5), (2, 3))
    nodes = (Node("Constant", (), ("c",), {"sparse_value": sparse}), Node("Neg", ("c",), ("y",)))
    found = answer(Question(Model(13, (), nodes, ("y",)), {}))
    assert found.agreeing[:2] == ("reference", "onnxruntime")
    assert found.outputs[0].value.tolist() == [[0, -2, 0], [0, 0, -3]]


def test_the_verdict_of_a_single_outside_oracle_is_weak() -> None:
    x = np.array([[1, 2]], np.float32)
    found = answer(_question("QuickGelu", 18, x, domain="com.microsoft", alpha=1.5))
    assert found.agreeing == ("onnxruntime",)
    assert found.weak
    assert set(found.unsupported) == {"reference", "evaluator"}


def test_a_single_outside_oracle_says_nothing_where_the_reference_declines(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    boxes = np.array([[[0, 0, 1, 1], [3, 3, 4, 4]]], np.float32)
    scores = np.array([[[0.5, 0.5]]], np.float32)
    numbers = (np.array([2]), np.array([0.5], np.float32), np.array([0.1], np.float32))
    tie = _question("NonMaxSuppression", 11, boxes, scores, *numbers)
    agreed = answer(tie)
    assert agreed.agreeing == ("onnxruntime", "evaluator")
    assert agreed.unsupported == {"reference": "reference: NonMaxSuppression: equal scores"}
    assert not agreed.weak
    alone = {"onnxruntime": OUTSIDE["onnxruntime"]}
    monkeypatch.setattr("relaxcheck.oracles.onnx.answers.OUTSIDE", alone)
    with pytest.raises(NoAnswer, match=r"equal scores; onnxruntime alone, where ONNX leaves"):
        answer(tie)


def test_outside_oracles_that_differ_say_nothing_where_the_reference_declines() -> None:
    """ONNX's text has another number of windows than its inference of shapes."""
    x = np.zeros((1, 1, 7, 6), np.float32)
    how: Any = {"kernel_shape": (3, 3), "strides": (2, 2), "auto_pad": "VALID", "ceil_mode": 1}
    with pytest.raises(NoAnswer, match=r"auto_pad VALID.*; output y: shape"):
        answer(_question("MaxPool", 12, x, **how))


def test_a_single_outside_oracle_says_nothing_of_nan() -> None:
    x = np.array([[1, np.nan]], np.float32)
    with pytest.raises(NoAnswer, match="onnxruntime alone, of NaN or infinities"):
        answer(_question("QuickGelu", 18, x, domain="com.microsoft", alpha=1.5))


def test_a_single_outside_oracle_says_nothing_of_what_overflows() -> None:
    """Sums of infinities of both signs are NaN, or not, by their order."""
    data, weights = np.full((1, 1, 1, 2), 1e200), np.full((1, 1, 1, 1), 1e200)
    data[..., 1] = 2
    offsets = np.zeros((1, 2, 1, 2))
    found = answer(_question("DeformConv", 19, data, weights, offsets))
    assert len(found.agreeing) == 1
    (output,) = found.outputs
    assert np.isinf(output.bound).ravel().tolist() == [True, False]


def test_without_an_answer_every_oracle_says_why() -> None:
    with pytest.raises(NoAnswer, match=r"evaluator.*reference"):
        answer(_question("NoSuchOperator", 18, np.zeros(1, np.float32), domain="nobody"))


def test_disagreement_is_a_split(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = {**OUTSIDE, "evaluator": lambda model, arrays: (np.zeros(2, np.float32),)}
    monkeypatch.setattr("relaxcheck.oracles.onnx.answers.OUTSIDE", wrong)
    found = answer(_question("Exp", 13, np.array([0, 1], np.float32)))
    assert found.agreeing[0] == "reference"
    assert found.splits == {"evaluator": "output y: 2 of 2 elements outside the bound"}


def test_elements_of_less_than_a_byte_reach_onnx_runtime() -> None:
    x = np.array([-3, 7, 1], ml_dtypes.int4)
    question = _question("Cast", 21, x, to=1)
    (value,) = runtime.outputs(question.model, question.arrays)
    assert value.tolist() == [-3, 7, 1]


def test_a_symbolic_input_of_less_than_a_byte_has_its_own_size() -> None:
    x = np.array([1, 2, 3], ml_dtypes.uint4)
    model = Model(21, (Tensor("x", ("n",), "uint4"),), (Node("Cast", ("x",), ("y",), {"to": 1}),),
                  ("y",))  # fmt: skip
    (value,) = runtime.outputs(model, {"x": x})
    assert value.tolist() == [1, 2, 3]


def test_an_output_that_is_an_input_outlives_the_session() -> None:
    """ONNX Runtime returns the memory of the input, which ends with the call."""
    model = Model(18, (Tensor("x", (300,), "float32"),), (Node("Relu", ("x",), ("y",)),), ("x",))
    value = np.arange(300, dtype=np.float32)
    found, junk = [], []
    for _ in range(5):
        found += runtime.outputs(model, {"x": value})
        junk.append(np.full(300, 7, np.float32))
    assert all(np.array_equal(each, value) for each in found)


def test_optimizations_leave_the_answer() -> None:
    nodes = (Node("Relu", ("x",), ("r",)), Node("Relu", ("r",), ("y",)))
    model = Model(18, (Tensor("x", (3,), "float32"),), nodes, ("y",))
    arrays = {"x": np.array([-1, 0, 2], np.float32)}
    (plain,), (optimized,) = (
        runtime.outputs(model, arrays, optimized=choice) for choice in (False, True)
    )
    assert np.array_equal(plain, optimized)


@pytest.mark.parametrize("element", [np.inf, -np.inf, np.nan])
def test_a_range_that_is_not_finite_has_no_scale(element: float) -> None:
    """ONNX Runtime and the evaluator differ on what comes of it."""
    nodes = (Node("DynamicQuantizeLinear", ("x",), ("y", "scale", "zero")),)
    model = Model(18, (Tensor("x", (2,), "float32"),), nodes, ("y", "scale", "zero"))
    found = answer(Question(model, {"x": np.array([1, element], np.float32)}))
    assert [each.value.shape for each in found.outputs] == [(2,), (), ()]
    assert all(np.isinf(each.bound).all() for each in found.outputs)
    assert not found.splits


@pytest.mark.parametrize(
    ("dtype", "agreeing"), [("float32", ("onnxruntime",)), ("bfloat16", ("evaluator",))]
)
def test_the_evaluator_is_asked_what_takes_it_seconds_where_no_other_answers(
    dtype: str, agreeing: tuple[str, ...]
) -> None:
    shapes = {"x": (1, 1, 2, 2), "w": (1, 1, 1, 1), "o": (1, 2, 2, 2)}
    model = Model(
        22,
        tuple(Tensor(name, shape, dtype) for name, shape in shapes.items()),
        (Node("DeformConv", ("x", "w", "o"), ("y",), {"kernel_shape": (1, 1)}),),
        ("y",),
    )
    arrays = {
        name: np.full(shape, name != "o", numpy_dtype(dtype)) for name, shape in shapes.items()
    }
    found = answer(Question(model, arrays))
    assert found.agreeing == agreeing
    # Float64 is asked of ONNX Runtime, the evaluator being slow.
    assert found.weak == (dtype == "float32")
    (output,) = found.outputs
    assert np.array_equal(output.value, np.ones((1, 1, 2, 2)))
