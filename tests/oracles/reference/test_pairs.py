"""Operators of two and three operands: the three agree, and at values worked out here."""

import numpy as np
import pytest

from relaxcheck.generators.core.fills.kinds import Literal
from relaxcheck.generators.core.program import Input, Node, Program
from relaxcheck.oracles.reference.evaluate import evaluate
from relaxcheck.oracles.reference.operators import pairs
from tests.oracles.agreeing import agree, program_of, wrong_is_seen
from tests.oracles.declared import declared_in

FLOATS = ("float16", "bfloat16", "float32", "float64")
OPERATORS = sorted(declared_in(pairs) - {"ewise_fma"})
SHAPES = (((7, 9), (7, 9)), ((4, 1), (1, 5)), ((0, 3), (1,)), ((), (2, 1)))


@pytest.mark.parametrize("operator", OPERATORS)
@pytest.mark.parametrize("dtype", FLOATS)
def test_they_agree(operator: str, dtype: str) -> None:
    for pair in SHAPES:
        for regime in ("normal", "exact", "moderate", "boundary", "special"):
            reference = agree(program_of(operator, pair, dtype), regime, oracles=1)
            if regime == "normal" and operator != "mod":
                wrong_is_seen(reference)


@pytest.mark.parametrize("dtype", ["int8", "int32", "int64", "uint8"])
def test_remainders_of_integers(dtype: str) -> None:
    for pair in SHAPES:
        for regime in ("normal", "special"):
            reference = agree(program_of("mod", pair, dtype), regime)
            if reference.bound.size > 9:
                assert np.isfinite(reference.bound).mean() > 0.5


@pytest.mark.parametrize("dtype", [*FLOATS, "int8"])
def test_a_remainder_has_the_dividend_s_sign(dtype: str) -> None:
    fills = [Literal((7, -7, 7, -7, 6)), Literal((3, 3, -3, -3, 3))]
    reference = agree(program_of("mod", [(5,), (5,)], dtype, fills))
    assert reference.value.tolist() == [1, -1, 1, -1, 0]
    assert not reference.bound.any()


def test_the_angle_of_a_point_tells_zeros_apart() -> None:
    y, x = (0.0, -0.0, 0.0, -1.0, 3.0), (-1.0, -1.0, 0.0, 0.0, 4.0)
    program = program_of("atan2", [(5,), (5,)], "float64", [Literal(y), Literal(x)])
    reference = agree(program, oracles=1)
    wanted = (np.pi, -np.pi, 0, -np.pi / 2, 0.6435011087932844)
    np.testing.assert_allclose(reference.value, wanted, rtol=1e-15)
    assert np.isfinite(reference.bound).all()


@pytest.mark.parametrize("dtype", [*FLOATS, "int8", "uint8", "int64"])
def test_a_product_is_added(dtype: str) -> None:
    for shape in ((7, 30), (0,), ()):
        for regime in ("normal", "exact", "moderate", "boundary", "special"):
            reference = agree(program_of("ewise_fma", [shape] * 3, dtype), regime)
            if regime == "exact":
                assert not reference.bound.any()
                wrong_is_seen(reference)


def test_a_product_may_be_rounded_before_it_is_added() -> None:
    # (1 + 2**-12)**2 - 1 is 2**-11 + 2**-24; its last term is lost in a rounded product.
    x, minus = 1 + 2.0**-12, -1.0
    fills = [Literal((each,)) for each in (x, x, minus)]
    reference = agree(program_of("ewise_fma", [(1,)] * 3, "float32", fills))
    for value in (2.0**-11, 2.0**-11 + 2.0**-24):
        assert abs(reference.value[0] - value) <= reference.bound[0]
    assert reference.bound[0] < 2.0**-22


def test_exponentials_that_overflow_do_not_show() -> None:
    fills = [Literal((1000, -1000, 0)), Literal((999, -1000, -500))]
    reference = agree(program_of("log_add_exp", [(3,), (3,)], "float32", fills))
    np.testing.assert_allclose(reference.value, (1000.3132617, -999.3068528, 0), atol=1e-7)
    assert np.isfinite(reference.bound).all()


@pytest.mark.parametrize("operator", OPERATORS)
def test_an_error_of_an_operand_is_passed_on(operator: str) -> None:
    inputs = (Input("x", (1,), "float32"), Input("y", (1,), "float32"))
    nodes = (Node("s", "exp", ("x",)), Node("r", operator, ("s", "y")))
    program = Program(inputs, nodes, ("s", "r"))
    x = np.ones(1, np.float32)
    for y, least in (({"mod": 2.0}.get(operator, 1.0), 0.1), (np.nan, np.inf)):
        first, result = evaluate(program, {"x": x, "y": x * np.float32(y)})
        assert result.bound[0] >= least * first.bound[0]
        assert np.isinf(result.bound[0]) == np.isnan(y)


@pytest.mark.parametrize(("operator", "y"), [("mod", 1.0), ("atan2", 0.0), ("atan2", -1e-9)])
def test_undetermined_elements_are_unconstrained(operator: str, y: float) -> None:
    # exp(1) - e, which is 0 within its error: a whole quotient, the origin, the cut.
    inputs = (Input("x", (1,), "float32"), Input("e", (1,), "float32"), Input("y", (1,), "float32"))
    nodes = (
        Node("s", "exp", ("x",)),
        Node("d", "subtract", ("s", "e")),
        Node("r", operator, ("d", "y")),
    )
    x = np.ones(1, np.float32)
    values = {"x": x, "e": np.exp(x), "y": x * np.float32(y)}
    (result,) = evaluate(Program(inputs, nodes, ("r",)), values)
    assert np.isinf(result.bound[0])
