"""NaN, infinities, overflow and signed zeros: what is certain, and where there is room."""

import numpy as np
import pytest

from relaxcheck.generators.core.program import Input
from relaxcheck.oracles.answer import Bounded
from relaxcheck.oracles.compare import within
from relaxcheck.oracles.independent import ORACLES
from relaxcheck.oracles.reference import bounds
from relaxcheck.oracles.reference.estimate import Estimate, exact
from relaxcheck.oracles.reference.evaluate import Numerics, evaluate
from tests.oracles import programs

NAN, INF = np.nan, np.inf
LARGEST = float(np.finfo(np.float32).max)
SMALLEST = float(np.finfo(np.float32).smallest_subnormal)


def _matmul(a: list[float], b: list[float], dtype: str = "float32") -> Bounded:
    program = programs.one_node(
        "matmul", [Input("a", (1, len(a)), dtype), Input("b", (len(b), 1), dtype)]
    )
    values = {"a": np.array([a], dtype), "b": np.array([b], dtype).T}
    (reference,) = evaluate(program, values)
    return reference


def _is(reference: Bounded, index: int, expected: float | None) -> bool:
    """True if the element is exactly ``expected``, or unconstrained where that is None."""
    value, bound = reference.value.flat[index], reference.bound.flat[index]
    if expected is None:
        return bool(np.isinf(bound))
    return bool(bound == 0 and np.array_equal(value, expected, equal_nan=True))


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ([1, NAN], [1, 1], NAN),
        ([1, INF], [1, 0], NAN),
        ([1, INF], [1, -0.0], NAN),
        ([INF, INF], [1, -1], NAN),
        ([INF, -INF], [1, -1], INF),
        ([INF, 5], [-SMALLEST, 1], -INF),
        ([LARGEST, LARGEST], [1, 1], INF),
        ([LARGEST, LARGEST], [-1, -1], -INF),
        ([LARGEST, 1], [2, 1], INF),
        ([INF, LARGEST], [1, 1], INF),
        # On the way, or not, as the order is.
        ([LARGEST, LARGEST, LARGEST], [1, 1, -1], None),
        ([INF, LARGEST, LARGEST], [1, -1, -1], None),
        ([NAN, LARGEST, LARGEST], [1, 1, -1], NAN),
    ],
)
def test_a_sum_of_products(a: list[float], b: list[float], expected: float | None) -> None:
    assert _is(_matmul(a, b), 0, expected)


def test_the_largest_number_itself_is_no_overflow() -> None:
    reference = _matmul([LARGEST, 0], [-1, 1])
    assert reference.value.item() == -LARGEST
    assert reference.bound.item() == 0


@pytest.mark.parametrize(
    ("operator", "a", "b", "expected"),
    [
        ("add", INF, -INF, NAN),
        ("add", INF, -LARGEST, INF),
        ("add", LARGEST, LARGEST, INF),
        ("add", LARGEST, 1.0, LARGEST),
        ("multiply", INF, 0.0, NAN),
        ("multiply", -INF, SMALLEST, -INF),
        ("multiply", LARGEST, -2.0, -INF),
        ("multiply", SMALLEST, 0.5, 0.0),
        ("nn.relu", -INF, None, 0.0),
        ("nn.relu", INF, None, INF),
        ("nn.relu", NAN, None, None),
    ],
)
def test_single_operations(operator: str, a: float, b: float | None, expected: float) -> None:
    names = "ab" if b is not None else "a"
    program = programs.one_node(operator, [Input(name, (1,), "float32") for name in names])
    arrays = {n: np.array([v], np.float32) for n, v in zip(names, (a, b), strict=False)}
    (reference,) = evaluate(program, arrays)
    if expected is None or not np.isfinite(expected):
        assert _is(reference, 0, expected)
    else:
        assert within(np.array([expected], np.float32), reference).ok
        assert not within(np.array([NAN], np.float32), reference).ok


def test_a_kernel_that_is_not_finite_leaves_room_where_zeros_may_have_been_put_in() -> None:
    program = programs.one_node(
        "nn.conv1d_transpose",
        [Input("x", (1, 1, 3), "float32"), Input("w", (1, 2, 2), "float32")],
        strides=(2,),
        padding=(0, 0),
    )
    x, w = np.array([[[1, 2, -1]]], np.float32), np.array([[[INF, 3], [1, 1]]], np.float32)
    (reference,) = evaluate(program, {"x": x, "w": w})
    # Every second output meets the infinite tap; the others would meet it times zero.
    assert [_is(reference, at, None) for at in range(6)] == [False, True] * 3
    assert reference.value[0, 0, ::2].tolist() == [INF, INF, -INF]
    assert np.isfinite(reference.bound[0, 1]).all()


def test_an_infinite_input_of_a_transposed_convolution_leaves_no_room() -> None:
    program = programs.one_node(
        "nn.conv1d_transpose",
        [Input("x", (1, 1, 3), "float32"), Input("w", (1, 1, 2), "float32")],
        strides=(2,),
    )
    x, w = np.array([[[1, -INF, NAN]]], np.float32), np.array([[[2, 3]]], np.float32)
    (reference,) = evaluate(program, {"x": x, "w": w})
    assert np.array_equal(reference.value[0, 0], [2, 3, -INF, -INF, NAN, NAN], equal_nan=True)
    assert not reference.bound.any()


def _attention(
    scores: list[float], values: list[float], bias: list[float] | None = None, **attributes: object
) -> tuple[Bounded, dict[str, np.ndarray]]:
    """One query of 1, keys that are the scores, a value of one number each."""
    keys = len(scores)
    inputs = [Input("q", (1, 1, 1, 1), "float32")]
    inputs += [Input(name, (1, keys, 1, 1), "float32") for name in "kv"]
    arrays = {"q": np.ones((1, 1, 1, 1), np.float32)}
    for name, column in (("k", scores), ("v", values)):
        arrays[name] = np.array(column, np.float32).reshape(1, keys, 1, 1)
    if bias is not None:
        inputs.append(Input("bias", (1, 1, 1, keys), "float32"))
        arrays["bias"] = np.array(bias, np.float32).reshape(1, 1, 1, keys)
    program = programs.one_node("nn.attention", inputs, scale=1.0, **attributes)
    (reference,) = evaluate(program, arrays)
    for oracle in ORACLES.values():
        assert within(oracle(program, arrays)[0], reference).ok
    return reference, arrays


@pytest.mark.parametrize(
    ("scores", "values", "bias", "expected"),
    [
        ([0, NAN], [1, 1], None, NAN),
        ([0, INF], [1, 1], None, NAN),
        ([0, -INF], [3, 1], None, 3),
        ([-INF, -INF], [1, 1], None, None),
        ([0, 0], [1, INF], None, INF),
        ([0, 0], [-INF, INF], None, NAN),
        ([0, 0], [NAN, INF], None, NAN),
        ([0, -INF], [1, INF], None, None),
        ([0, -LARGEST / 4], [1, INF], None, None),
        ([0, 0], [LARGEST, LARGEST], None, None),
        ([0, NAN], [3, 1], [0, -INF], None),
        ([0, 0], [3, 1], [0, -INF], 3),
        ([0, 0], [3, 1], [0, -LARGEST], 3),
        ([0, 0], [3, 1], [-LARGEST, -LARGEST], None),
    ],
)
def test_attention(
    scores: list[float], values: list[float], bias: list[float] | None, expected: float | None
) -> None:
    reference, _ = _attention(scores, values, bias)
    assert _is(reference, 0, expected)


@pytest.mark.parametrize(("score", "value"), [(0, NAN), (0, INF), (NAN, 1), (INF, 1)])
def test_a_key_that_is_not_visible_leaves_room_where_it_is_not_finite(
    score: float, value: float
) -> None:
    reference, _ = _attention([0, score], [3, value], causal_mask="TopLeft")
    assert _is(reference, 0, None)
    reference, _ = _attention([0, -INF], [3, 1], causal_mask="TopLeft")
    assert _is(reference, 0, 3)


def test_mixed_precision_leaves_room_beyond_its_range() -> None:
    program = programs.one_node(
        "matmul", [Input("a", (1, 1), "float32"), Input("b", (1, 3), "float32")]
    )
    values = {"a": np.ones((1, 1), np.float32), "b": np.array([[1e5, NAN, INF]], np.float32)}
    (reference,) = evaluate(program, values, Numerics.MIXED_FLOAT16)
    assert _is(reference, 0, None)
    assert _is(reference, 1, NAN)
    assert _is(reference, 2, INF)


def test_the_sign_of_zero_is_held_where_it_is_copied_and_not_where_it_is_summed() -> None:
    zeros = np.array([[0.0, -0.0]], np.float32)
    permuted = programs.one_node("permute_dims", [Input("x", (1, 2), "float32")])
    (reference,) = evaluate(permuted, {"x": zeros})
    assert within(zeros.T, reference).ok
    assert within(-zeros.T, reference).outside == 2
    rectified = programs.one_node("nn.relu", [Input("x", (1, 2), "float32")])
    (reference,) = evaluate(rectified, {"x": zeros})
    assert within(zeros, reference).ok
    assert within(-zeros, reference).ok
    assert within(-np.zeros((1, 1), np.float32), _matmul([0], [1])).ok


@pytest.mark.parametrize("wrong", [-INF, NAN, LARGEST, 0.0])
def test_an_infinity_must_match_exactly(wrong: float) -> None:
    reference = Bounded(np.array([INF]), np.zeros(1), "float32")
    assert within(np.array([INF], np.float32), reference).ok
    compared = within(np.array([wrong], np.float32), reference)
    assert not compared.ok
    assert compared.ratio == INF


@pytest.mark.parametrize("wrong", [-INF, INF, 0.0])
def test_nan_must_match_exactly(wrong: float) -> None:
    reference = Bounded(np.array([NAN, 1.0]), np.array([0.0, INF]), "float32")
    assert within(np.array([NAN, 5], np.float32), reference).ok
    assert within(np.array([-NAN, NAN], np.float32), reference).unconstrained == 1
    assert not within(np.array([wrong, 1], np.float32), reference).ok


def test_infinity_times_what_may_be_zero_has_room() -> None:
    infinite = exact(np.array([INF, INF, INF]), "float32")
    doubtful = Estimate(np.array([0.5, 2.0, 0.0], np.longdouble), np.array([1.0, 1, 0]), "float32")
    for a, b in ((infinite, doubtful), (doubtful, infinite)):
        result = bounds.multiplied(a, b, "float32")
        np.testing.assert_array_equal(result.value, [0, INF, NAN])
        assert result.error.tolist() == [np.inf, 0, 0]


def test_a_convolution_has_room_only_where_padding_may_meet_what_is_not_finite() -> None:
    x, w = np.ones((1, 1, 4), np.float32), np.ones((2, 1, 3), np.float32)
    w[0, 0, 0] = INF
    inputs = [Input("x", x.shape, "float32"), Input("w", w.shape, "float32")]
    (padded,) = evaluate(programs.one_node("nn.conv1d", inputs, padding=(1, 1)), {"x": x, "w": w})
    assert np.isinf(padded.bound[0, 0]).all()
    assert padded.value[0, 1].tolist() == [2, 3, 3, 2]
    assert not padded.bound[0, 1].any()
    (plain,) = evaluate(programs.one_node("nn.conv1d", inputs), {"x": x, "w": w})
    assert plain.value[0].tolist() == [[INF, INF], [3, 3]]
    assert not plain.bound.any()
