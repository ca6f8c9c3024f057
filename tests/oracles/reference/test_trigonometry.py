"""Circular and hyperbolic functions: the three agree within bounds, and at values worked out."""

from math import cos, log

import numpy as np
import pytest

from relaxcheck.generators.core.fills.kinds import Literal
from relaxcheck.generators.core.program import Input, Node, Program
from relaxcheck.oracles.reference.evaluate import evaluate
from relaxcheck.oracles.reference.operators import trigonometry
from tests.oracles.agreeing import agree, program_of, wrong_is_seen
from tests.oracles.declared import declared_in

FLOATS = ("float16", "bfloat16", "float32", "float64")
OPERATORS = sorted(declared_in(trigonometry))
INF, NAN = float("inf"), float("nan")
DENSE = tuple(count / 64 for count in range(-640, 641))


@pytest.mark.parametrize("operator", OPERATORS)
@pytest.mark.parametrize("dtype", FLOATS)
def test_they_agree(operator: str, dtype: str) -> None:
    for shape in ((7, 30), (0,), ()):
        for regime in ("normal", "exact", "moderate", "boundary", "special"):
            reference = agree(program_of(operator, [shape], dtype), regime, oracles=1)
            if regime == "normal":
                assert np.isfinite(reference.bound).all()


@pytest.mark.parametrize("operator", OPERATORS)
def test_they_agree_everywhere(operator: str) -> None:
    for dtype in ("float32", "float64"):
        program = program_of(operator, [(len(DENSE),)], dtype, [Literal(DENSE)])
        reference = agree(program, oracles=1)
        assert np.isfinite(reference.bound).all()


@pytest.mark.parametrize("operator", sorted({*OPERATORS} - {"acos", "asin", "acosh", "atanh"}))
def test_a_wrong_value_is_seen(operator: str) -> None:
    for dtype in FLOATS:
        wrong_is_seen(agree(program_of(operator, [(40,)], dtype), oracles=1))


@pytest.mark.parametrize(
    ("operator", "x", "wanted"),
    [
        ("acos", (1.0, 1.5, -2.0), (0.0, NAN, NAN)),
        ("asin", (0.0, 1.5, -2.0), (0.0, NAN, NAN)),
        ("acosh", (1.0, 0.5, -1.0), (0.0, NAN, NAN)),
        ("atanh", (1.0, -1.0, 2.0), (INF, -INF, NAN)),
    ],
)
def test_ends_of_domains(operator: str, x: tuple[float, ...], wanted: tuple[float, ...]) -> None:
    for dtype in FLOATS:
        reference = agree(program_of(operator, [(3,)], dtype, [Literal(x)]), oracles=1)
        np.testing.assert_allclose(reference.value, wanted, atol=1e-30)


def test_no_digit_is_lost_near_zero() -> None:
    tiny = (2.0**-40, -(2.0**-30), 2.0**-20)
    for operator in ("atanh", "asinh", "sinh", "asin", "atan", "sin", "tan"):
        reference = agree(program_of(operator, [(3,)], "float32", [Literal(tiny)]), oracles=1)
        np.testing.assert_allclose(reference.value, tiny, rtol=1e-9)
        assert (reference.bound <= 5e-7 * np.abs(tiny)).all()


def test_erf_is_that_of_the_tables() -> None:
    # Abramowitz and Stegun, table 7.1.
    reference = agree(
        program_of("erf", [(4,)], "float64", [Literal((0.5, 1.0, 2.0, -3.5))]), oracles=1
    )
    wanted = (0.5204998778, 0.8427007929, 0.9953222650, -0.9999992569)
    np.testing.assert_allclose(reference.value, wanted, rtol=3e-10)


@pytest.mark.parametrize("operator", OPERATORS)
def test_an_error_of_the_operand_is_passed_on(operator: str) -> None:
    nodes = (
        Node("s", "exp", ("x",)),
        Node("d", "subtract", ("s", "y")),
        Node("r", operator, ("d",)),
    )
    inputs = (Input("x", (1,), "float32"), Input("y", (1,), "float32"))
    x = np.ones(1, np.float32)
    y = np.exp(x) - np.float32(1.25 if operator == "acosh" else 0.25)
    program = Program(inputs, nodes, ("d", "r"))
    difference, result = evaluate(program, {"x": x, "y": y})
    # The slopes of these functions are between 0.25 and 2 there.
    assert 0.2 * difference.bound[0] < result.bound[0] < 3 * difference.bound[0]


def test_a_pole_or_an_end_within_the_error_is_unconstrained() -> None:
    # The difference is 0 within its error; half a turn further on is the pole of the tangent.
    nodes = (Node("s", "exp", ("x",)), Node("d", "subtract", ("s", "y")))
    inputs = (Input("x", (1,), "float32"), Input("y", (1,), "float32"))
    x = np.ones(1, np.float32)
    for operator, end in (("tan", np.pi / 2), ("asin", 1.0), ("acosh", 1.0), ("atanh", -1.0)):
        y = (np.exp(np.longdouble(1)) - end).astype(np.float32).reshape(1)
        program = Program(inputs, (*nodes, Node("r", operator, ("d",))), ("r",))
        (result,) = evaluate(program, {"x": x, "y": y})
        assert np.isinf(result.bound[0]), operator


@pytest.mark.parametrize("operator", ["cosh", "sinh"])
def test_half_of_an_overflowing_exponential_is_finite(operator: str) -> None:
    """Over a row so long that PyTorch's vectorised kernel takes part in it."""
    program = program_of(operator, [(64,)], "float32", [Literal((89.0, -89.0) * 32)])
    reference = agree(program, oracles=2)
    assert np.isfinite(reference.value).all()


@pytest.mark.parametrize("operator", OPERATORS)
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_they_agree_over_the_whole_range(operator: str, dtype: str) -> None:
    for seed in range(3):
        reference = agree(program_of(operator, [(60, 60)], dtype), "range", seed, oracles=1)
        assert np.isinf(reference.bound).mean() < 0.03


@pytest.mark.parametrize(
    ("operator", "x", "wanted"),
    [
        # exp(89.25) is beyond float32; half of it is not.
        ("cosh", (89.25, -90.0), (2.88238849e38, INF)),
        ("sinh", (89.25, -90.0), (2.88238849e38, -INF)),
        # The float32 closest to a multiple of pi/2, relatively.
        ("cos", (16367173 * 2.0**72, 0.0), (-1.61476980e-9, 1.0)),
        ("sin", (16367173 * 2.0**73, -0.0), (-3.22953960e-9, -0.0)),
        ("asinh", (3e38, 2.0**-140), (log(6e38), 2.0**-140)),
        ("acosh", (3e38, 1 + 2.0**-23), (log(6e38), 2.0**-11)),
        ("atanh", (1 - 2.0**-24, -0.0), (log(2.0**25 - 1) / 2, -0.0)),
    ],
)
def test_limits_of_float32(operator: str, x: tuple[float, ...], wanted: tuple[float, ...]) -> None:
    reference = agree(program_of(operator, [(2,)], "float32", [Literal(x)]), oracles=1)
    finite = np.isfinite(wanted)
    np.testing.assert_array_equal(reference.value[~finite], np.array(wanted)[~finite])
    numbers = np.array(wanted)[finite]
    np.testing.assert_allclose(reference.value[finite], numbers, rtol=1e-7)
    assert (reference.bound[finite] <= np.maximum(4e-7 * np.abs(numbers), 1.2e-38)).all()
    assert (np.signbit(reference.value) == np.signbit(wanted)).all()


def test_the_angle_of_a_large_double_is_reduced_to_91_bits() -> None:
    """glibc's cosine of this angle is off by 24533 units in the last place: 2**-92.4."""
    angle = 8533304399137111 * 2.0**46
    reference = agree(program_of("cos", [(2,)], "float64", [Literal((angle, 0.5))]), oracles=1)
    np.testing.assert_allclose(reference.value, [3.2930632110259161e-17, cos(0.5)], rtol=1e-15)
    assert 2.0**-91 < reference.bound[0] < 2.0**-90
    assert reference.bound[1] < 2.0**-51
