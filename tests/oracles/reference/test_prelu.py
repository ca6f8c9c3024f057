"""``nn.prelu``: the three agree at every axis, regime and dtype, and at values worked out here."""

import numpy as np
import pytest

from relaxcheck.generators.core.fills.kinds import Literal
from relaxcheck.generators.core.program import Input, Node, Program
from relaxcheck.oracles.reference.estimate import Estimate, exact
from relaxcheck.oracles.reference.evaluate import OPERATORS, Numerics, evaluate
from relaxcheck.oracles.reference.operators import prelu
from tests.oracles.agreeing import agree, agree_on, program_of, wrong_is_seen
from tests.oracles.declared import declared_in

DTYPES = ("float16", "bfloat16", "float32", "float64")
SHAPES = (((7, 30), (1, 0, -1, -2)), ((2, 3, 4, 5), (2, -3)), ((6,), (0, -1)), ((0, 3), (0, 1)))
INF, NAN = float("inf"), float("nan")


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("shape", "axes"), SHAPES)
def test_of_every_axis(dtype: str, shape: tuple[int, ...], axes: tuple[int, ...]) -> None:
    for axis in axes:
        for regime in ("normal", "exact", "moderate", "boundary", "special"):
            program = program_of("nn.prelu", [shape, (shape[axis],)], dtype, axis=axis)
            reference = agree(program, regime)
            if regime in ("normal", "exact"):
                wrong_is_seen(reference)
            if regime == "exact":
                assert not reference.bound.any()


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_axis_is_the_second_where_it_is_left_out(dtype: str) -> None:
    fills = [Literal((-1, -1, 2, -2)), Literal((3, -4))]
    reference = agree(program_of("nn.prelu", [(2, 2), (2,)], dtype, fills))
    assert reference.value.tolist() == [[-3, 4], [2, 8]]
    assert not reference.bound.any()


def _element(x: float, slope: float) -> tuple[float, float]:
    """Value and bound where every oracle agrees."""
    program = program_of("nn.prelu", [(1, 1), (1,)], "float32")
    values = {"x0": np.full((1, 1), x, np.float32), "x1": np.full(1, slope, np.float32)}
    reference = agree_on(program, values)
    return float(reference.value.item()), float(reference.bound.item())


@pytest.mark.parametrize(
    ("x", "slope", "wanted"),
    [
        (INF, 0.0, INF),
        (INF, NAN, INF),
        (2.0, -INF, 2.0),
        (-INF, 2.0, -INF),
        (-INF, -2.0, INF),
        (-INF, 0.0, NAN),
        (-2.0, INF, -INF),
        (-2.0, NAN, NAN),
        (NAN, 1.0, NAN),
        (-3e38, 2.0, -INF),
        (0.0, 5.0, 0.0),
        (-0.0, -5.0, 0.0),
    ],
)
def test_specials_are_certain(x: float, slope: float, wanted: float) -> None:
    np.testing.assert_equal(_element(x, slope), (wanted, 0.0))


@pytest.mark.parametrize("slope", [INF, -INF, NAN])
def test_a_zero_times_what_is_not_finite_has_room(slope: float) -> None:
    assert _element(0.0, slope) == (0.0, INF)


def test_an_operand_of_either_sign_is_off_by_the_steeper_slope() -> None:
    # The sum cancels: what is left may have either sign.
    inputs = (Input("x", (1, 1), "float32"), Input("y", (1, 1), "float32"))
    nodes = (
        Node("s", "exp", ("x",)),
        Node("d", "subtract", ("s", "y")),
        Node("p", "nn.prelu", ("d", "a")),
    )
    program = Program((*inputs, Input("a", (1,), "float32")), nodes, ("d", "p"))
    x = np.full((1, 1), 1, np.float32)
    values = {"x": x, "y": np.exp(x), "a": np.full(1, -8, np.float32)}
    difference, result = evaluate(program, values)
    assert abs(difference.value.item()) < difference.bound.item()
    assert 8 * difference.bound.item() <= result.bound.item() < 9 * difference.bound.item()


def test_alpha_of_another_size_is_refused() -> None:
    program = program_of("nn.prelu", [(2, 3), (1,)], "float32")
    values = {"x0": np.zeros((2, 3), np.float32), "x1": np.zeros(1, np.float32)}
    with pytest.raises(ValueError, match=r"alpha \(1,\) for 3 channels"):
        evaluate(program, values)


def test_the_module_holds_this_operator_alone() -> None:
    assert declared_in(prelu) == {"nn.prelu"}


@pytest.mark.parametrize("axis", [2, -3])
def test_an_axis_that_is_not_there_is_refused(axis: int) -> None:
    program = program_of("nn.prelu", [(2, 3), (3,)], "float32", axis=axis)
    values = {"x0": np.zeros((2, 3), np.float32), "x1": np.zeros(3, np.float32)}
    with pytest.raises(ValueError, match=f"axis {axis} of a tensor of rank 2"):
        evaluate(program, values)


@pytest.mark.parametrize("slope", [INF, NAN])
def test_an_operand_of_either_sign_has_room_where_the_slope_is_not_finite(slope: float) -> None:
    data = Estimate(np.array([[0.5, 2.0]], np.longdouble), np.array([[1.0, 1.0]]), "float32")
    alpha = exact(np.array([slope, slope]), "float32")
    node = Node("y", "nn.prelu", ("x", "a"))
    result = OPERATORS["nn.prelu"](node, [data, alpha], Numerics.OWN)
    assert np.isinf(result.error).tolist() == [[True, False]]
    assert result.error[0, 1] == 1
