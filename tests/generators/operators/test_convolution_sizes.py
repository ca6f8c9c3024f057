"""Sizes of convolutions with layouts: a case's cost is known, and is kept low."""

from relaxcheck.generators.core.axes import complete, point_of
from relaxcheck.generators.core.layouts import logical
from relaxcheck.generators.core.points import text
from relaxcheck.generators.core.values import arrays
from relaxcheck.generators.operators import OPERATORS
from relaxcheck.generators.operators.family import OperatorFamily
from relaxcheck.generators.operators.sliding.convolution_sizes import ITERATIONS, iterations
from relaxcheck.oracles.reference.evaluate import evaluate
from tests.generators.drawn import PIPELINES, at_random

FAMILY = OperatorFamily(OPERATORS["nn.conv2d"], PIPELINES)
SPATIAL = "HW"


def test_iterations_are_the_products_that_the_output_sums() -> None:
    for seed, point in enumerate(at_random(FAMILY.axes, 25)):
        case = FAMILY.build(point, seed)
        for at, binding in enumerate(case.bindings):
            (output,) = evaluate(case.program, arrays(case, at))
            weight = logical(text(point, "kernel_layout"), case.shape("weight", binding))
            products = weight["I"] * weight["H"] * weight["W"]
            assert iterations(SPATIAL, point, binding) == output.value.size * products


def test_symbols_have_two_bindings_and_long_ones_are_left_out() -> None:
    full = 0
    for seed, point in enumerate(at_random(FAMILY.axes, 300)):
        case = FAMILY.build(point, seed)
        assert point_of(FAMILY, case) == point
        symbolic = any(value is True for value in point.values())
        assert len(case.bindings) >= (2 if symbolic else 1)
        spent = sum(iterations(SPATIAL, point, binding) for binding in case.bindings)
        assert spent <= ITERATIONS or len(case.bindings) <= 2
        full += len(case.bindings) > 2
    assert full > 80


def test_symbolic_channels_fill_every_packed_layout() -> None:
    point = complete(
        FAMILY.axes,
        {
            "data_layout": "NCHW4c",
            "kernel_layout": "OIHW2i4o",
            "groups": 2,
            "in_channels_per_group": 8,
            "out_channels_per_group": 4,
            "symbolic.in_channels": True,
            "symbolic.out_channels": True,
        },
    )
    case = FAMILY.build(point, 0)
    shapes = {tensor.name: tensor.shape for tensor in case.program.inputs}
    # A unit of C is two channels of each group: four, one whole inner dimension of the data.
    assert shapes["data"] == (2, "C", 5, 4, 4)
    assert shapes["weight"] == ("K", "C", 2, 3, 2, 4)
    assert case.bindings[0] == {"C": 4, "K": 2}
