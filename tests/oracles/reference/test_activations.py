"""``nn.selu``, ``nn.softplus``, ``nn.dropout``: the three agree, and at values worked out here."""

import numpy as np
import pytest

from relaxcheck.generators.core.fills.kinds import Literal
from relaxcheck.generators.core.program import Input, Node, Program
from relaxcheck.oracles.reference.evaluate import evaluate
from relaxcheck.oracles.reference.operators import activations
from tests.oracles.agreeing import agree, program_of, wrong_is_seen
from tests.oracles.declared import declared_in

FLOATS = ("float16", "bfloat16", "float32", "float64")
NUMBERS = ({}, {"beta": 0.5}, {"beta": 3.0}, {"beta": 2.0, "threshold": 1.0}, {"threshold": 0.0})


@pytest.mark.parametrize("operator", ["nn.selu", "nn.softplus", "nn.dropout"])
@pytest.mark.parametrize("dtype", FLOATS)
def test_they_agree(operator: str, dtype: str) -> None:
    for attributes in NUMBERS if operator == "nn.softplus" else ({},):
        for shape in ((7, 30), (0,), ()):
            for regime in ("normal", "exact", "moderate", "boundary", "special"):
                program = program_of(operator, [shape], dtype, **attributes)
                reference = agree(program, regime, oracles=1)
                if regime == "normal":
                    wrong_is_seen(reference)


def test_softplus_keeps_its_digits_and_does_not_overflow() -> None:
    x = (-30.0, -80.0, 15.0, 21.0)
    reference = agree(program_of("nn.softplus", [(4,)], "float32", [Literal(x)]))
    wanted = (9.357622968839e-14, 1.8048513878454e-35, 15.000000305902273, 21)
    np.testing.assert_allclose(reference.value, wanted, rtol=1e-12)
    # 8 unit roundoffs, and the floor where results are subnormal.
    assert (reference.bound <= 5e-7 * np.array(wanted) + 1.2e-38).all()
    assert np.isfinite(
        agree(program_of("nn.softplus", [(4,)], "float16", [Literal(x)])).bound
    ).all()


def test_softplus_is_the_operand_above_the_threshold_alone() -> None:
    x = [Literal((0.5, 1.0, 0.4375))]
    program = program_of("nn.softplus", [(3,)], "float64", x, beta=2, threshold=1)
    reference = agree(program, oracles=1)
    wanted = (np.log1p(np.e) / 2, 1, np.log1p(np.exp(0.875)) / 2)
    np.testing.assert_allclose(reference.value, wanted, rtol=1e-14)


def test_an_operand_on_both_sides_of_the_threshold_may_have_either_result() -> None:
    inputs = (Input("x", (1,), "float32"), Input("y", (1,), "float32"))
    attributes = {"beta": 1.0, "threshold": 1.0}
    nodes = (
        Node("s", "exp", ("x",)),
        Node("d", "subtract", ("s", "y")),
        Node("r", "nn.softplus", ("d",), attributes),
    )
    x = np.ones(1, np.float32)
    values = {"x": x, "y": np.exp(x) - np.float32(1)}
    (result,) = evaluate(Program(inputs, nodes, ("r",)), values)
    assert np.log1p(np.exp(-1)) <= result.bound[0] < 0.32


def test_selu_is_that_of_its_docstring() -> None:
    reference = agree(program_of("nn.selu", [(3,)], "float32", [Literal((-1.0, 0.0, 2.0))]))
    np.testing.assert_allclose(reference.value, (-1.1113307378, 0, 2.1014019747), rtol=1e-9)


def test_every_operator_of_the_group_is_held_here() -> None:
    assert declared_in(activations) == {"nn.selu", "nn.softplus", "nn.dropout"}


def test_softplus_of_a_subnormal_exponential_has_a_floor_more() -> None:
    """exp(-14) is subnormal in float16: it and the logarithm are each off by a spacing at most."""
    values = (-14.0, -2.0)
    reference = agree(program_of("nn.softplus", [(2,)], "float16", [Literal(values)]))
    spacing, units = 2.0**-24, 8 * 2.0**-11
    below, above = reference.bound - units * np.array(reference.value, "float64")
    assert spacing < below <= 2.1 * spacing
    assert above <= 1.1 * spacing
