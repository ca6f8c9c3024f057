"""Rules of gradients by themselves: shares of operands and gradients that are off."""

import numpy as np

from relaxcheck.generators.core.program import Node
from relaxcheck.oracles.reference.estimate import Estimate, exact
from relaxcheck.oracles.reference.gradients.operators import arithmetic, movement
from relaxcheck.oracles.reference.gradients.rules import Call


def _of(value: list[float], error: list[float]) -> Estimate:
    return Estimate(np.array(value, np.longdouble), np.array(error), "float32")


def test_two_numbers_tie_where_what_both_are_off_reaches() -> None:
    a, b = _of([1.0, 1.0, 1.0], [0.5, 0.5, 0.5]), _of([1.75, 2.25, 1.75], [0.5, 0.5, 0.0])
    call = Call(Node("y", "maximum", ("a", "b")), [a, b], a, exact(np.full(3, 3.0), "float32"))
    for share, wanted in zip(
        arithmetic._extremum(call, lambda a, b: a.value > b.value),
        ([0, 0, 0], [0, 3, 3]),
        strict=True,
    ):
        assert share is not None
        assert share.value.tolist() == wanted
        assert np.isinf(share.error).tolist() == [True, False, False]


def test_what_a_gradient_is_off_is_multiplied_too() -> None:
    x, gradient = _of([2.0, -2.0], [0.0, 0.0]), _of([1.0, 1.0], [0.25, 0.25])
    call = Call(Node("y", "nn.leakyrelu", ("x",)), [x], x, gradient)
    (share,) = arithmetic._signed(call, 3.0)
    assert share is not None
    assert share.value.tolist() == [1, 3]
    assert share.error.tolist() == [0.25, 0.75]
    assert share.error.dtype == np.float64


def test_elements_that_are_moved_carry_what_they_are_off_and_infinities() -> None:
    x = exact(np.zeros((2, 2)), "float32")
    gradient = Estimate(
        np.array([[1, 2], [np.inf, np.nan]], np.longdouble),
        np.array([[0.25, 0.5], [0, 0]]),
        "float32",
    )
    node = Node("y", "permute_dims", ("x",), {"axes": (1, 0)})
    share = movement._share(Call(node, [x], x, gradient), 0)
    np.testing.assert_array_equal(share.value, [[1, np.inf], [2, np.nan]])
    assert np.isclose(share.error, [[0.25, 0], [0.5, 0]], rtol=1e-6, atol=1e-30).all()
