"""The reference's bounds hold what ONNX's own node suite expects of each operator."""

from collections import Counter

import ml_dtypes
import numpy as np
import pytest

from relaxcheck.generators.onnx.model import Model, Node, Tensor
from relaxcheck.generators.onnx.reading import Unreadable
from relaxcheck.oracles.answer import Unsupported
from relaxcheck.oracles.onnx.answers import Question, answer
from relaxcheck.oracles.onnx.reference.evaluate import missing_operators, outputs, trace
from relaxcheck.oracles.outside import difference
from tests.generators.onnx.node_suite import NodeCase, node_cases

LEAST_HELD = 1769
"""Cases of the suite whose outputs lie within the bounds, at least."""

MOST_REFUSED = 14
"""Cases whose operators the reference has, and refuses: undefined, or of text or sequences."""

DIGITS = "the outputs are written out with four digits, or three"

SUITE_FAULTS = {
    "test_averagepool_2d_ceil_last_window_starts_on_pad": DIGITS,
    "test_gridsample_bicubic": DIGITS,
    "test_roialign_aligned_false": DIGITS,
    "test_roialign_aligned_true": DIGITS,
    "test_nllloss_NCd1d2d3_none_no_weight_negative_ii_expanded": (
        "an ignored element is 0 by the operator, and -0 by the definition, which the suite does "
        "not tell apart"
    ),
}
"""Cases whose expected outputs are not exact, with the evidence."""


def _held(case: NodeCase) -> tuple[str, str]:
    """The outcome, and how the suite's outputs lie outside of the bounds, or why it is refused."""
    try:
        model, arrays = case.read()
    except Unreadable as reason:
        return "unreadable", str(reason)
    if missing := missing_operators(model):
        return "missing", ", ".join(missing)
    try:
        bounded = outputs(model, arrays)
    except Unsupported as reason:
        return "refused", str(reason)
    differences = (
        difference(np.asarray(wanted), each)
        for wanted, each in zip(case.outputs, bounded, strict=True)
    )
    outside = "; ".join(filter(None, differences))
    return ("outside", outside) if outside else ("held", "")


def test_the_node_suite_lies_within_the_bounds() -> None:
    outcomes = {case.name: _held(case) for case in node_cases()}
    counts = Counter(outcome for outcome, _ in outcomes.values())
    outside = {name: why for name, (outcome, why) in outcomes.items() if outcome == "outside"}
    refused = {name: why for name, (outcome, why) in outcomes.items() if outcome == "refused"}
    assert set(outside) == set(SUITE_FAULTS), outside
    assert counts["held"] >= LEAST_HELD, counts
    assert len(refused) <= MOST_REFUSED, refused


def _one(operator: str, opset: int, *operands: np.ndarray, **attributes: object) -> Model:  # type: ignore[type-arg]
    names = tuple(f"x{at}" for at in range(len(operands)))
    tensors = tuple(
        Tensor(name, array.shape, array.dtype.name)
        for name, array in zip(names, operands, strict=True)
    )
    return Model(opset, tensors, (Node(operator, names, ("y",), attributes),), ("y",))  # type: ignore[arg-type]


def _value(operator: str, opset: int, *operands: object, **attributes: object) -> object:
    arrays = [np.asarray(each) for each in operands]
    model = _one(operator, opset, *arrays, **attributes)
    (output,) = outputs(model, {f"x{at}": each for at, each in enumerate(arrays)})
    return np.where(np.isinf(output.bound), np.nan, output.value).tolist()


_F32 = np.float32


@pytest.mark.parametrize(
    ("operator", "opset", "operands", "attributes", "wanted"),
    [
        # Values worked out by hand: what versions of an operator mean differently.
        ("Softmax", 11, ([[[0, 0], [0, 0]]],), {"axis": 1}, [[[0.25, 0.25], [0.25, 0.25]]]),
        ("Softmax", 13, ([[[0, 0], [0, 0]]],), {"axis": 1}, [[[0.5, 0.5], [0.5, 0.5]]]),
        ("Softmax", 13, ([0, -np.inf],), {"axis": 0}, [1, 0]),
        ("Softmax", 13, ([-2e38, -np.inf],), {"axis": 0}, [1, 0]),
        ("Hardmax", 13, ([3, 5, 5],), {"axis": 0}, [0, 1, 0]),
        ("ArgMin", 13, (np.array([3, -(2**63)]),), {"axis": 0}, [1]),
        ("TopK", 11, (np.array([3, -(2**63), 5]), np.array([2])), {}, [5, 3]),
        ("Resize", 11, ([1, 2, 3, 4, 5], np.zeros(0, np.float32), np.array([0.6], np.float32)),
         {"mode": "nearest", "coordinate_transformation_mode": "asymmetric",
          "nearest_mode": "floor"}, [1, 2, 4]),
        ("Clip", 6, ([-3, 3],), {"min": -1.0}, [-1, 3]),
        ("Gemm", 13, ([[1, 2]], [[3], [4]], [10]), {"alpha": 2.0, "beta": 0.5}, [[27]]),
        ("Slice", 13, ([1, 2, 3], np.array([-9]), np.array([-9]), np.array([0]), np.array([-1])),
         {}, [1]),
        ("LRN", 13, ([[[2]], [[0]]],), {"size": 1, "alpha": 1.0, "beta": 1.0}, [[[0.4]], [[0]]]),
        ("Mod", 13, (np.array([-7, 7]), np.array([3, -3])), {}, [2, -2]),
        ("Mod", 13, (np.array([-7, 7]), np.array([3, -3])), {"fmod": 1}, [-1, 1]),
        ("Div", 14, (np.array([-7, 7]), np.array([2, -2])), {}, [-3, -3]),
        ("BitShift", 28, (np.array([-4], np.int32), np.array([40], np.int32)),
         {"direction": "RIGHT"}, [-1]),
        ("MaxPool", 12, ([[[1, 3, 2]]],), {"kernel_shape": (2,)}, [[[3, 3]]]),
        ("AveragePool", 19, ([[[2, 4]]],),
         {"kernel_shape": (2,), "pads": (1, 1), "count_include_pad": 1}, [[[1, 3, 2]]]),
        ("AveragePool", 19, ([[[2, 4]]],), {"kernel_shape": (2,), "pads": (1, 1)}, [[[2, 3, 4]]]),
        ("ReduceMax", 20, (np.zeros((2, 0), np.int8), np.array([1])), {"keepdims": 0},
         [-128, -128]),
        ("ReduceSum", 13, ([[1, 2]], np.array([], np.int64)), {"noop_with_empty_axes": 1},
         [[1, 2]]),
        ("ArgMax", 13, ([1, 7, 7],), {"axis": 0, "keepdims": 0, "select_last_index": 1}, 2),
        ("QuantizeLinear", 13, ([2.5, 3.5, 999, -999], _F32(1), np.int8(0)), {},
         [2, 4, 127, -128]),
        ("DequantizeLinear", 13, (np.array([3], np.uint8), _F32(0.5), np.uint8(1)), {}, [1]),
        ("Resize", 19, ([[[1, 2]]], np.zeros(0, np.float32), np.array([1, 1, 2], np.float32)),
         {"mode": "nearest", "coordinate_transformation_mode": "asymmetric",
          "nearest_mode": "floor"}, [[[1, 1, 2, 2]]]),
        ("DFT", 20, ([[[1], [0]]], np.array(2), np.array(1)), {}, [[[1, 0], [1, 0]]]),
        ("Trilu", 14, ([[1, 2], [3, 4]],), {"upper": 0}, [[1, 0], [3, 4]]),
        ("NonZero", 13, (np.float32(3),), {}, []),
        ("CumSum", 14, ([1, 2, 3], np.array(0)), {"exclusive": 1, "reverse": 1}, [5, 3, 0]),
        ("DepthToSpace", 13, ([[[[1]], [[2]], [[3]], [[4]]]],), {"blocksize": 2},
         [[[[1, 2], [3, 4]]]]),
    ],
)  # fmt: skip
def test_values_by_hand(
    operator: str, opset: int, operands: tuple[object, ...], attributes: dict[str, object],
    wanted: object,
) -> None:  # fmt: skip
    arrays = [np.asarray(each, np.float32) if isinstance(each, list) else each for each in operands]
    np.testing.assert_allclose(_value(operator, opset, *arrays, **attributes), wanted, rtol=1e-6)


@pytest.mark.parametrize(
    ("operator", "opset", "operands", "attributes"),
    [
        ("Cast", 13, (np.array([np.nan, 300], np.float32),), {"to": 2}),
        ("ScatterElements", 18, (np.zeros(1, np.float32), np.array([0, 0]), np.ones(2, _F32)), {}),
        ("BitShift", 11, (np.array([4], np.uint8), np.array([9], np.uint8)), {"direction": "LEFT"}),
        ("Div", 14, (np.array([1]), np.array([0])), {}),
        ("ReduceMean", 18, (np.zeros((1, 0), np.float32), np.array([1])), {"keepdims": 0}),
        ("ReduceMax", 13, (np.zeros((1, 0), np.float32),), {"axes": (1,), "keepdims": 0}),
        ("ReduceMean", 13, (np.array([-(2**63), -4]),), {}),
        ("Max", 13, (np.array([np.nan], np.float32), np.array([1], np.float32)), {}),
        ("RandomUniform", 22, (), {"shape": (2,)}),
        ("Pad", 18, (np.ones(2, np.float32), np.array([-2, 1])), {"mode": "wrap"}),
        (
            "RoiAlign",
            10,
            (np.ones((1, 1, 2, 2), _F32), np.array([[0, 0, 1, 1]], _F32), np.array([0])),
            {"mode": "max"},
        ),
        (
            "MaxRoiPool",
            22,
            (np.ones((1, 1, 2, 2), _F32), np.array([[0, 0.5, 0, 1, 1]], _F32)),
            {"pooled_shape": (1, 1)},
        ),
    ],
)
def test_what_is_not_defined_is_unconstrained(
    operator: str, opset: int, operands: tuple[np.ndarray, ...],  # type: ignore[type-arg]
    attributes: dict[str, object],
) -> None:  # fmt: skip
    model = _one(operator, opset, *operands, **attributes)
    (output,) = outputs(model, {f"x{at}": each for at, each in enumerate(operands)})
    assert output.bound.size
    assert np.isinf(output.bound).all()


def test_an_overflow_inside_a_definition_may_be_none_in_a_wider_dtype() -> None:
    large = np.full((1, 2), 1e30, np.float32)
    model = _one("Gemm", 13, large, np.full((2, 1), 1e10, np.float32), alpha=1e-10)
    (output,) = outputs(model, {"x0": large, "x1": np.full((2, 1), 1e10, np.float32)})
    assert np.isinf(output.bound).all()


def test_a_quotient_is_rounded_to_its_precision_first() -> None:
    """1.0626 is nearest to 1.125 of the multiples of 1/8; in bfloat16 it is between two of them."""
    zero = np.array(0, ml_dtypes.float8_e4m3fn)
    operands = (np.array([1.0626, 3], np.float32), np.float32(1), zero)
    for attributes, bound in (({}, [0, 0]), ({"precision": 16}, [0.125, 0])):
        model = _one("QuantizeLinear", 23, *operands, **attributes)
        (output,) = outputs(model, {f"x{at}": np.asarray(each) for at, each in enumerate(operands)})
        assert output.value.tolist() == [1.125, 3]
        np.testing.assert_allclose(output.bound, bound, rtol=1e-6)


def test_what_is_left_of_a_cut_is_certain() -> None:
    model = _one("Pad", 18, np.zeros(3, np.float32), np.array([-1, 2]), mode="edge")
    arrays = {"x0": np.array([1, 2, 3], np.float32), "x1": np.array([-1, 2])}
    (output,) = outputs(model, arrays)
    assert np.where(np.isinf(output.bound), np.nan, output.value)[:2].tolist() == [2, 3]
    assert np.isinf(output.bound).tolist() == [False, False, True, True]


def test_an_unknown_operator_is_named() -> None:
    model = _one("TfIdfVectorizer", 9, np.zeros(2, np.int64), mode="TF")
    with pytest.raises(Unsupported, match="no operator TfIdfVectorizer"):
        outputs(model, {"x0": np.zeros(2, np.int64)})


def test_the_smallest_of_no_uint64_is_beyond_the_reference() -> None:
    """It is 2**64 - 1, which int64 cannot hold: half of it would be a false alarm."""
    node = Node("ReduceMin", ("x", "axes"), ("y",))
    tensors = (Tensor("x", (0,), "uint64"), Tensor("axes", (1,), "int64"))
    arrays = {"x": np.zeros(0, np.uint64), "axes": np.array([0])}
    model = Model(20, tensors, (node,), ("y",))
    assert trace(model, arrays).outputs is None
    (found,) = answer(Question(model, arrays)).outputs
    largest = np.iinfo(np.uint64).max
    assert not difference(np.array([largest], np.uint64), found)
    assert difference(np.array([largest // 2], np.uint64), found)


def test_a_normalization_of_two_halves_is_rounded_to_that_of_the_data() -> None:
    """8e-19 is a number of bfloat16, in which scale and bias are, and 0 in float16."""
    halves = [np.array([value], np.float16) for value in (1, 0, 1)]
    wide = [np.array([value], ml_dtypes.bfloat16) for value in (6e-19, 8e-19)]
    operands = [halves[0].reshape(1, 1), *wide, *halves[1:]]
    model = _one("BatchNormalization", 15, *operands)
    (output,) = outputs(model, {f"x{at}": each for at, each in enumerate(operands)})
    assert not difference(np.zeros((1, 1), np.float16), output)


def test_nothing_is_cropped_and_resized() -> None:
    operands = (np.zeros((0, 2), np.float32), np.float32([0, 0.5, 1, 1.5]), np.float32([1, 2]))
    how = {"coordinate_transformation_mode": "tf_crop_and_resize"}
    model = _one("Resize", 13, *operands, **how)
    (output,) = outputs(model, {f"x{at}": np.asarray(each) for at, each in enumerate(operands)})
    assert output.value.shape == (0, 4)
