"""The bounds hold for computations in the dtype itself, and are tight enough to catch a fault."""

from dataclasses import replace

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relaxcheck.generators.core.program import Case, Input, Node, Program
from relaxcheck.generators.core.values import arrays, numpy_dtype
from relaxcheck.oracles.answer import Bounded
from relaxcheck.oracles.compare import within
from relaxcheck.oracles.reference import bounds, estimate
from relaxcheck.oracles.reference.evaluate import Numerics, evaluate
from tests.oracles import in_dtype, programs

EXAMPLES = settings(max_examples=80, deadline=None)

NARROW = ("float16", "bfloat16", "float32")


@pytest.mark.parametrize("name", sorted(estimate.FORMATS))
def test_formats_are_those_of_the_dtypes(name: str) -> None:
    info = ml_dtypes.finfo(numpy_dtype(name))
    ours = estimate.FORMATS[name]
    assert ours.unit == float(info.eps) / 2
    assert ours.largest == float(info.max)
    assert ours.smallest == float(info.smallest_subnormal)


@given(st.lists(st.floats(width=32, allow_nan=False, allow_infinity=False), min_size=1))
def test_nearest_rounds_as_a_cast_does(values: list[float]) -> None:
    wide = np.array(values)
    for name in ("float16", "bfloat16"):
        target = estimate.FORMATS[name]
        inside = wide[np.abs(wide) <= target.largest]
        ours = bounds.nearest(inside.astype(np.longdouble), target)
        cast = inside.astype(np.float32).astype(numpy_dtype(name))
        assert np.array_equal(ours.astype(np.float64), cast.astype(np.float64))


@EXAMPLES
@given(st.sampled_from(NARROW), st.integers(1, 200), st.integers(-8, 3), st.integers(0, 2**32 - 1))
def test_a_sum_of_products_in_any_order(dtype: str, n: int, exponent: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    kind = numpy_dtype(dtype)
    a, b = ((rng.normal(size=s) * 2.0**exponent).astype(kind) for s in ((1, n), (n, 1)))
    summed = bounds.sum_of_products(
        estimate.exact(a, dtype), estimate.exact(b, dtype), np.matmul, dtype
    )
    reference = estimate.finished(summed)
    for name, order in in_dtype.ORDERS.items():
        assert within(order(in_dtype.matmul_terms(a, b)), reference).ok, name


def test_a_long_sum_in_a_short_format_is_bounded_still() -> None:
    program = programs.one_node(
        "matmul", [Input("a", (1, 1000), "bfloat16"), Input("b", (1000, 1), "bfloat16")]
    )
    (reference,) = evaluate(program, arrays(Case("long", program), 0))
    assert np.isfinite(reference.bound).all()


def test_the_bound_of_a_product_is_nearly_reached() -> None:
    rng = np.random.default_rng(0)
    a, b = (rng.uniform(1, 2, (1, 500)).astype(np.float16) for _ in range(2))
    left, right = estimate.exact(a, "float16"), estimate.exact(b, "float16")
    product = bounds.multiplied(left, right, "float16")
    compared = within(a * b, estimate.finished(product))
    assert compared.ok
    assert compared.ratio > 0.99


@EXAMPLES
@given(programs.cases(programs.conv_transposes(programs.FLOATS)))
def test_small_integers_leave_no_room(case: Case) -> None:
    case = replace_regime(case, "exact")
    (reference,) = evaluate(case.program, arrays(case, 0))
    # bfloat16 holds integers up to 256 only, which large sums here can pass.
    if reference.dtype != "bfloat16":
        assert not reference.bound.any()


def replace_regime(case: Case, regime: str) -> Case:
    return Case(case.family, case.program, regime=regime, seed=case.seed)


PLANTED: dict[str, tuple[tuple[int, ...], ...]] = {
    "nn.attention": ((2, 5, 2, 8), (2, 5, 2, 8), (2, 5, 2, 8)),
    "nn.conv1d_transpose": ((2, 3, 5), (3, 2, 3)),
    "matmul": ((2, 5, 9), (9, 4)),
}


@pytest.mark.parametrize("operator", sorted(PLANTED))
@pytest.mark.parametrize("dtype", programs.FLOATS)
def test_an_error_of_twice_the_bound_is_caught(operator: str, dtype: str) -> None:
    inputs = [Input(f"x{i}", shape, dtype) for i, shape in enumerate(PLANTED[operator])]
    program = programs.one_node(operator, inputs)
    (reference,) = evaluate(program, arrays(Case("planted", program, seed=1), 0))
    exact = replace(reference, dtype="float64")
    assert within(reference.value + 0.5 * reference.bound, exact).ok
    for sign in (-1, 1):
        planted = reference.value.copy()
        # Where the bound is 0, no error is small enough.
        planted.flat[3] += sign * max(2 * reference.bound.flat[3], 1e-12)
        compared = within(planted, exact)
        assert not compared.ok
        assert compared.outside == 1
        assert compared.worst is not None
        assert np.ravel_multi_index(compared.worst, planted.shape) == 3


def _mixed_chain() -> Program:
    return Program(
        (
            Input("x", (2, 3, 5), "float32"),
            Input("w", (3, 2, 3), "float32", constant=True),
            Input("c", (2, 1), "float32", constant=True),
        ),
        (
            Node("y", "nn.conv1d_transpose", ("x", "w"), {"strides": (2,)}),
            Node("z", "add", ("y", "c")),
            Node("r", "nn.relu", ("z",)),
        ),
        ("r",),
    )


@pytest.mark.parametrize("seed", range(20))
def test_mixed_precision_through_a_chain(seed: int) -> None:
    program = _mixed_chain()
    values = arrays(Case("mixed", program, seed=seed), 0)
    half = {name: in_dtype.narrowed(each, "float16") for name, each in values.items()}
    wide = {name: each.astype(np.float32) for name, each in half.items()}
    convolved = Program(program.inputs, program.nodes[:1], ("y",))
    (y,) = evaluate(convolved, wide)
    stored = y.value.astype(np.float32).astype(np.float16)
    actual = np.maximum(stored + half["c"], np.float16(0)).astype(np.float32)
    (mixed,) = evaluate(program, values, Numerics.MIXED_FLOAT16)
    assert within(actual, mixed).ok
    (own,) = evaluate(program, values)
    assert within(own.value.astype(np.float32), mixed).ok
    assert not within(actual, own).ok


def test_mixed_precision_leaves_exact_values_exact() -> None:
    program = _mixed_chain()
    values = arrays(Case("mixed", program, regime="exact"), 0)
    (mixed,) = evaluate(program, values, Numerics.MIXED_FLOAT16)
    assert not mixed.bound.any()


@pytest.mark.parametrize("dtype", ["float16", "float64", "int8"])
def test_mixed_precision_concerns_float32_only(dtype: str) -> None:
    program = programs.one_node("matmul", [Input("a", (3, 4), dtype), Input("b", (4, 3), dtype)])
    values = arrays(Case("mixed", program), 0)
    (own,) = evaluate(program, values)
    (mixed,) = evaluate(program, values, Numerics.MIXED_FLOAT16)
    assert np.array_equal(own.bound, mixed.bound)


def test_one_operation_that_overflows_gives_infinity() -> None:
    program = programs.one_node("multiply", [Input(n, (3,), "float16") for n in "ab"])
    values = {
        "a": np.array([300, 200, 1], np.float16),
        "b": np.array([300, -300, 1], np.float16),
    }
    (reference,) = evaluate(program, values)
    assert reference.value.tolist() == [np.inf, -60000, 1]
    with np.errstate(over="ignore"):
        actual = values["a"] * values["b"]
    assert within(actual, reference).ok
    actual[0] = 65504
    assert not within(actual, reference).ok


def test_a_sum_that_overflows_whatever_the_order_gives_infinity() -> None:
    program = programs.one_node(
        "matmul", [Input("a", (1, 3), "float16"), Input("b", (3, 3), "float16")]
    )
    values = {
        "a": np.array([[300, 300, 1]], np.float16),
        # Below the range; the same less what fits it; in it in the end, though not on the way.
        "b": np.array([[-300, -300, 300], [-1, 50, 0], [0, 0, -30000]], np.float16),
    }
    (reference,) = evaluate(program, values)
    assert reference.value[0, :2].tolist() == [-np.inf, -np.inf]
    assert reference.bound[0].tolist() == [0, 0, np.inf]


def test_sums_of_cancelling_overflows_are_unbounded() -> None:
    program = programs.one_node(
        "matmul", [Input("a", (1, 2), "float16"), Input("b", (2, 1), "float16")]
    )
    values = {
        "a": np.array([[300, 300]], np.float16),
        "b": np.array([[300], [-300]], np.float16),
    }
    (reference,) = evaluate(program, values)
    assert reference.value.item() == 0
    assert np.isinf(reference.bound).all()


def test_float64_outputs_are_referenced_beyond_float64() -> None:
    program = programs.one_node("add", [Input(n, (1,), "float64") for n in "ab"])
    values = {"a": np.array([1.0]), "b": np.array([2.0**-53])}
    (reference,) = evaluate(program, values)
    assert within(np.array([1.0]), reference).ok
    assert reference.bound.item() <= 2.0**-52 * 1.001


def test_gamma() -> None:
    assert bounds.gamma(0, 2.0**-11) == 0
    assert bounds.gamma(1, 0.25) == pytest.approx(1 / 3)
    assert np.isinf(bounds.gamma(2048, 2.0**-11))


def test_a_single_visible_key_gives_its_value_exactly() -> None:
    program = programs.one_node(
        "nn.attention", [Input(n, (1, 3, 1, 4), "float16") for n in "qkv"], causal_mask="TopLeft"
    )
    (reference,) = evaluate(program, arrays(Case("single", program), 0))
    assert not reference.bound[0, 0].any()
    assert reference.bound[0, 1:].all()


def test_a_single_visible_key_may_lose_a_subnormal_value() -> None:
    """Products of bfloat16 by vector instructions flush subnormal operands to zero."""
    program = programs.one_node("nn.attention", [Input(n, (1, 1, 1, 2), "float32") for n in "qkv"])
    values = {n: np.ones((1, 1, 1, 2), np.float32) for n in "qk"}
    values["v"] = np.array([2.0**-127, 2.0**-126], np.float32).reshape(1, 1, 1, 2)
    (reference,) = evaluate(program, values)
    kept, flushed = values["v"], np.where(values["v"] < 2.0**-126, 0, values["v"])
    assert within(kept, reference).ok
    assert within(flushed.astype(np.float32), reference).ok
    assert reference.bound[0, 0, 0, 1] == 0


def test_integers_are_bounded_by_zero() -> None:
    reference = Bounded(np.array([3]), np.zeros(1), "int32")
    assert within(np.array([3], np.int32), reference).ok
    assert not within(np.array([4], np.int32), reference).ok


@pytest.mark.parametrize("operator", ["add", "subtract", "multiply", "negative", "abs", "astype"])
def test_integers_made_of_unconstrained_ones_are_unconstrained(operator: str) -> None:
    """A cast of infinity to an integer is; what is computed of it is too."""
    count = 2 if operator in ("add", "subtract", "multiply") else 1
    attributes: dict[str, object] = {"dtype": "int8"} if operator == "astype" else {}
    program = Program(
        (Input("x", (2,), "float32"),),
        (
            Node("i", "astype", ("x",), {"dtype": "int32"}),
            Node("y", operator, ("i",) * count, attributes),  # type: ignore[arg-type]
            Node("s", "sum", ("y",), {"axis": (0,)}),
            Node("p", "prod", ("y",), {"axis": (0,)}),
            Node("c", "cumprod", ("y",), {"axis": 0}),
        ),
        ("y", "s", "p", "c"),
    )
    bounded = evaluate(program, {"x": np.array([1, np.inf], np.float32)})
    assert [np.isinf(each.bound).tolist() for each in bounded] == [
        [False, True], True, True, [False, True],
    ]  # fmt: skip


def _whole(values: list[list[int]], unknown: list[list[bool]]) -> estimate.Estimate:
    return estimate.Estimate(np.array(values), np.where(unknown, np.inf, 0.0), "int32")


def test_a_product_of_integers_is_unconstrained_where_either_factor_is() -> None:
    known = _whole([[1, 2]], [[False, False]])
    half = _whole([[3, 0]], [[False, True]])
    for a, b in ((known, half), (half, known), (half, half)):
        assert np.isinf(bounds.multiplied(a, b, "int32").error).tolist() == [[False, True]]


def test_a_sum_of_integers_is_unconstrained_where_a_term_of_either_operand_is() -> None:
    a = _whole([[1, 0], [2, 3]], [[False, True], [False, False]])
    b = _whole([[1, 2], [0, 4]], [[False, False], [True, False]])
    result = bounds.sum_of_products(a, b, np.matmul, "int32")
    # Of the first row and column both operands have one, of the last neither.
    assert np.isinf(result.error).tolist() == [[True, True], [True, False]]
    assert result.value[1, 1] == 2 * 2 + 3 * 4


def _float32_sum(terms: np.ndarray) -> estimate.Estimate:
    row = estimate.exact(terms.astype(np.float32).reshape(1, -1), "float32")
    ones = estimate.exact(np.ones((terms.size, 1), np.float32), "float32")
    return bounds.sum_of_products(row, ones, np.matmul, "float32")


def test_a_sum_just_below_the_largest_number_may_overflow_on_the_way() -> None:
    largest = estimate.FORMATS["float32"].largest
    terms = np.full(100, largest / 100 * (1 - 1e-6), np.float32)
    assert float(terms.astype(np.float64).sum()) < largest
    assert np.isinf(_float32_sum(terms).error).all()
    assert np.isfinite(_float32_sum(terms / 2).error).all()


def test_a_sum_far_beyond_the_largest_number_is_infinite_in_any_order() -> None:
    largest = estimate.FORMATS["float32"].largest
    result = _float32_sum(np.array([largest, largest, -0.75 * largest]))
    assert result.value.item() == np.inf
    assert result.error.item() == 0
    # Beyond the range by less than what comes off again in another order.
    assert np.isinf(_float32_sum(np.array([largest] * 3 + [-largest] * 2)).error).all()


def test_a_function_beyond_the_range_of_every_format_is_infinite() -> None:
    beyond = np.array([np.inf, -np.inf, np.inf], np.longdouble)
    unsure = np.array([False, False, True])
    result = bounds.computed(
        "float64", beyond, np.zeros(3), 1, unconstrained=unsure, overflows=True
    )
    assert result.value.tolist() == [np.inf, -np.inf, 0]
    assert result.error.tolist() == [0, 0, np.inf]


def test_a_scaled_number_may_just_reach_the_largest() -> None:
    target = estimate.FORMATS["float16"]
    most = np.array([target.largest - target.floor, target.largest], np.longdouble)
    result = bounds.scaled(estimate.Estimate(most, np.zeros(2), "float16"), 1.0, "float16", 0)
    assert np.isinf(result.error).tolist() == [False, True]


def test_infinity_scaled_by_nothing_is_nan() -> None:
    infinite = estimate.exact(np.array([np.inf, -np.inf, 2.0]), "float32")
    result = estimate.finished(bounds.scaled(infinite, 0.0, "float32", 1))
    assert np.isnan(result.value).tolist() == [True, True, False]
    result = estimate.finished(bounds.scaled(infinite, -2.0, "float32", 1))
    assert result.value.tolist() == [-np.inf, np.inf, -4.0]
