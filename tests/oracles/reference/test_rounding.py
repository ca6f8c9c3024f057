"""Roundings, the sign and the square: the three agree, and at values worked out here."""

import numpy as np
import pytest

from relaxcheck.generators.core.fills.kinds import Literal
from relaxcheck.generators.core.program import Input, Node, Program
from relaxcheck.oracles.reference.evaluate import evaluate
from relaxcheck.oracles.reference.operators import rounding
from tests.oracles.agreeing import agree, program_of, wrong_is_seen
from tests.oracles.declared import declared_in

FLOATS = ("float16", "bfloat16", "float32", "float64")
OPERATORS = sorted(declared_in(rounding))
INF, NAN = float("inf"), float("nan")
X = (-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, -0.75, 0.75)


@pytest.mark.parametrize("operator", OPERATORS)
def test_they_agree(operator: str) -> None:
    for dtype in (*FLOATS, "int8", "uint8", "int32", "int64"):
        for shape in ((7, 30), (0,), ()):
            for regime in ("normal", "exact", "moderate", "boundary", "special"):
                reference = agree(program_of(operator, [shape], dtype), regime)
                if regime in ("normal", "exact"):
                    wrong_is_seen(reference)
                if operator != "square" and regime != "special":
                    assert not reference.bound.any()


@pytest.mark.parametrize(
    ("operator", "wanted"),
    [
        ("ceil", (-2, -1, 0, 1, 2, 3, 0, 1)),
        ("floor", (-3, -2, -1, 0, 1, 2, -1, 0)),
        ("round", (-2, -2, 0, 0, 2, 2, -1, 1)),
        ("trunc", (-2, -1, 0, 0, 1, 2, 0, 0)),
        ("sign", (-1, -1, -1, 1, 1, 1, -1, 1)),
    ],
)
def test_halves(operator: str, wanted: tuple[int, ...]) -> None:
    for dtype in FLOATS:
        reference = agree(program_of(operator, [(len(X),)], dtype, [Literal(X)]))
        assert tuple(reference.value) == wanted
        assert not reference.bound.any()
        if operator != "sign":
            assert np.array_equal(np.signbit(reference.value), np.signbit(wanted) | _below(X))
            assert reference.signed_zeros


def _below(x: tuple[float, ...]) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
    """Where a result may only be below 0, or -0."""
    return np.array(x) < 0


def test_non_finite_elements_stay_but_for_the_sign_of_nan() -> None:
    x = (INF, -INF, NAN)
    for operator in ("ceil", "floor", "round", "trunc"):
        reference = agree(program_of(operator, [(3,)], "float32", [Literal(x)]))
        np.testing.assert_equal(reference.value, x)
        assert not reference.bound.any()
    reference = agree(program_of("sign", [(3,)], "float32", [Literal(x)]))
    assert reference.value.tolist()[:2] == [1, -1]
    assert np.isinf(reference.bound[2])


def test_squares_of_integers_wrap_around() -> None:
    reference = agree(program_of("square", [(3,)], "int8", [Literal((-128, 127, 12))]))
    assert reference.value.tolist() == [0, 1, -112]


def test_an_error_across_a_step_is_as_large_as_the_step() -> None:
    inputs = (Input("x", (1,), "float32"), Input("y", (1,), "float32"))
    x = np.ones(1, np.float32)
    for operator, offset, step in (
        ("floor", 0, 1),
        ("ceil", 0, 1),
        ("round", 0.5, 1),
        ("sign", 0, 1),
    ):
        nodes = (
            Node("s", "exp", ("x",)),
            Node("d", "subtract", ("s", "y")),
            Node("r", operator, ("d",)),
        )
        y = (np.exp(np.longdouble(1)) - offset).astype(np.float32).reshape(1)
        (result,) = evaluate(Program(inputs, nodes, ("r",)), {"x": x, "y": y})
        assert result.bound[0] >= step, operator
