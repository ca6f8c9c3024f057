"""Elementwise operators: the three agree within bounds, at every regime and dtype."""

from typing import Any

import numpy as np
import pytest

from relaxcheck.generators.core.fills.kinds import Literal
from relaxcheck.oracles.reference.estimate import Estimate
from relaxcheck.oracles.reference.functions import tame
from relaxcheck.oracles.reference.operators import elementwise
from tests.oracles.agreeing import agree, program_of, wrong_is_seen
from tests.oracles.declared import declared_in

FLOATS = ("float16", "bfloat16", "float32", "float64")
UNARY = ("negative", "abs", "exp", "log", "sqrt", "rsqrt", "sigmoid", "tanh")
GATED = ("nn.silu", "nn.gelu", "nn.gelu_tanh")
BINARY = ("subtract", "divide", "maximum", "minimum", "power")
COMPARED = ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal")
WHOLE = ("floor_divide", "floor_mod")
ATTRIBUTES: dict[str, dict[str, Any]] = {
    "nn.leakyrelu": {"alpha": 0.2},
    "clip": {"min": -1, "max": 1.5},
}
PAIRS = (((7, 9), (7, 9)), ((4, 1), (1, 5)), ((0, 3), (1,)), ((), (2, 1)))


@pytest.mark.parametrize("operator", [*UNARY, *GATED, *ATTRIBUTES])
def test_of_one_operand(operator: str) -> None:
    for dtype in FLOATS:
        for shape in ((7, 30), (0,), ()):
            for regime in ("normal", "exact", "moderate", "boundary", "special"):
                program = program_of(operator, [shape], dtype, **ATTRIBUTES.get(operator, {}))
                reference = agree(program, regime, oracles=1)
                if regime == "normal" and operator not in ("log", "sqrt", "rsqrt"):
                    assert np.isfinite(reference.bound).all()
                    wrong_is_seen(reference)
                elif regime == "normal" and shape:
                    assert np.isinf(reference.bound).sum() <= 0.6 * reference.bound.size


@pytest.mark.parametrize("operator", [*BINARY, *COMPARED])
def test_of_two_operands(operator: str) -> None:
    for dtype in FLOATS:
        for pair in PAIRS:
            for regime in ("normal", "exact", "moderate", "boundary", "special"):
                reference = agree(program_of(operator, pair, dtype), regime)
                if operator in ("subtract", "maximum", *COMPARED) and regime in ("normal", "exact"):
                    wrong_is_seen(reference)
                    if regime == "exact":
                        assert not reference.bound.any()


@pytest.mark.parametrize("operator", [*WHOLE, "subtract", "maximum", "minimum", "less"])
@pytest.mark.parametrize("dtype", ["int32", "int8", "uint8"])
def test_of_integers(operator: str, dtype: str) -> None:
    for pair in PAIRS:
        for regime in ("normal", "special"):
            reference = agree(program_of(operator, pair, dtype), regime)
            if reference.bound.size > 9:
                assert np.isfinite(reference.bound).mean() > 0.5


def test_quotients_at_the_limits_of_integers() -> None:
    low, high = -(2**63), 2**63 - 1
    pair = [Literal((3, -3, low, high, high)), Literal((low, high, 2, -2, low))]
    reference = agree(program_of("floor_divide", [(5,), (5,)], "int64", pair))
    assert reference.value.tolist() == [-1, -1, low // 2, -(2**62), -1]


@pytest.mark.parametrize("operator", ["negative", "abs", "clip"])
def test_of_one_integer(operator: str) -> None:
    for dtype in ("int8", "int32"):
        attributes = {"min": -1, "max": 2} if operator == "clip" else {}
        wrong_is_seen(agree(program_of(operator, [(5, 6)], dtype, **attributes), "special"))


def test_perfect_squares_and_even_quotients_leave_no_room() -> None:
    squares = [Literal((0, 1, 4, 9))]
    assert not agree(program_of("sqrt", [(4,)], "float32", squares)).bound.any()
    pair = [Literal((6, -9, 0)), Literal((3, 3, 3))]
    assert not agree(program_of("divide", [(3,), (3,)], "float32", pair)).bound.any()


def test_the_ends_of_a_clip_are_numbers_of_the_dtype() -> None:
    for dtype in FLOATS:
        reference = agree(program_of("clip", [(60,)], dtype, min=-0.1, max=0.7))
        assert not reference.bound.any()


def test_a_quotient_beyond_the_range_of_float64_is_infinite() -> None:
    pair = [Literal((-1e308, 1.0)), Literal((1e-308, 2.0))]
    reference = agree(program_of("divide", [(2,), (2,)], "float64", pair))
    assert reference.value.tolist() == [-np.inf, 0.5]
    assert not reference.bound.any()


def test_a_quotient_next_to_the_smallest_normal_number_is_not_taken_for_exact() -> None:
    # 4 / largest is a tie but for what not even the reference's own format holds.
    largest = float(np.finfo(np.float64).max)
    pair = [Literal((4,)), Literal((largest,))]
    assert agree(program_of("divide", [(1,), (1,)], "float64", pair)).bound.all()


def test_every_operator_of_the_group_is_held_here() -> None:
    held = {*UNARY, *GATED, *ATTRIBUTES, *BINARY, *COMPARED, *WHOLE}
    assert held == declared_in(elementwise)


@pytest.mark.parametrize("operator", ["exp", "log", "sqrt", "rsqrt", "sigmoid", "tanh", "nn.silu"])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_functions_over_the_whole_range(operator: str, dtype: str) -> None:
    for seed in range(4):
        reference = agree(program_of(operator, [(60, 60)], dtype), "range", seed)
        # Only what rounds to the largest number or to infinity is open, and a negative operand.
        assert np.isinf(reference.bound).mean() < (0.6 if "s" not in operator else 0.53)


INF = float("inf")


@pytest.mark.parametrize(
    ("operator", "x", "wanted"),
    [
        # log(largest) is 88.7228; log(2**-149) is -149 log(2).
        ("exp", (88.5, 89.0, -200.0), (2.72308783e38, INF, 0.0)),
        ("log", (0.0, 2.0**-149, 1.0), (-INF, -103.27893, 0.0)),
        ("rsqrt", (0.0, -0.0, 2.0**-148), (INF, -INF, 2.0**74)),
        ("sqrt", (0.0, -0.0, 2.0**-148), (0.0, -0.0, 2.0**-74)),
        # Half of x**3 / 3 is far below a unit in the last place.
        ("tanh", (2.0**-40, -0.0, 50.0), (2.0**-40, -0.0, 1.0)),
        ("sigmoid", (-40.0, 0.0, 100.0), (4.2483543e-18, 0.5, 1.0)),
        ("nn.silu", (-40.0, 0.0, 100.0), (-1.6993417e-16, 0.0, 100.0)),
    ],
)
def test_limits_of_float32(operator: str, x: tuple[float, ...], wanted: tuple[float, ...]) -> None:
    reference = agree(program_of(operator, [(3,)], "float32", [Literal(x)]))
    finite = np.isfinite(wanted)
    np.testing.assert_array_equal(reference.value[~finite], np.array(wanted)[~finite])
    np.testing.assert_allclose(
        reference.value[finite], np.array(wanted)[finite], rtol=1e-7, atol=1e-60
    )
    bound = np.maximum(1.2e-6 * np.abs(wanted), 1.2e-38)
    assert (reference.bound[finite] <= bound[finite]).all()
    zero = np.array(wanted) == 0
    if operator in ("sqrt", "tanh"):
        assert (np.signbit(reference.value) == np.signbit(wanted))[zero].all()
        assert reference.signed_zeros
        assert not reference.bound[zero].any()


def test_small_results_of_half_precision_have_their_digits() -> None:
    """1 / (1 + exp(11.5)) is 1.013e-5, some 170 times the smallest float16."""
    for operator, wanted in (("sigmoid", 1.01300e-5), ("nn.silu", -1.16495e-4)):
        program = program_of(operator, [(1,)], "float16", [Literal((-11.5,))])
        reference = agree(program)
        np.testing.assert_allclose(reference.value, [wanted], rtol=1e-5)
        assert (reference.bound < 0.02 * abs(wanted)).all()


def test_a_tamed_operand_is_an_exact_zero_where_it_is_no_number() -> None:
    operand = Estimate(
        np.array([np.nan, np.inf, 0.0, 3.0], np.longdouble),
        np.array([0, 0, np.inf, 0.5]),
        "float32",
    )
    value, error = tame(operand)
    assert value.tolist() == [0, 0, 0, 3]
    assert error.tolist() == [0, 0, 0, 0.5]


def test_a_gate_that_is_off_counts_with_the_largest_operand() -> None:
    operand = Estimate(np.zeros(1, np.longdouble), np.ones(1), "float16")
    result = elementwise._gated(operand, np.ones_like, 1.0)
    # Steepest times the error, two roundings of the result and eight of the gate.
    assert 1 + 10 * 2.0**-11 <= result.error[0] < 1 + 11 * 2.0**-11
