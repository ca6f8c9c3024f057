"""Sizes of transposed convolutions: what a case costs is known, and is kept low."""

import pytest

from generators.layouts import logical
from generators.points import integer, text
from generators.program import Case
from generators.transposed_conv import SPATIAL, TransposedConvolution
from generators.transposed_conv import family as of_rank
from generators.transposed_conv_sizes import ITERATIONS, iterations
from generators.values import arrays
from oracles.reference import evaluate
from tests.generators.drawn import PIPELINES, at_random


@pytest.fixture(params=SPATIAL)
def conv(request: pytest.FixtureRequest) -> TransposedConvolution:
    return of_rank(request.param, PIPELINES)


def _counted(conv: TransposedConvolution, case: Case, at: int) -> int:
    """Each element of the output sums one product for each weight of its channel."""
    point = conv.point(case)
    (output,) = evaluate(case.program, arrays(case, at))
    weight = logical(text(point, "kernel_layout"), case.shape("weight", case.bindings[at]))
    weights = weight["I"] // integer(point, "groups")
    for letter in conv.spatial:
        weights *= weight[letter]
    return int(output.value.size) * weights


def test_iterations_are_the_products_that_the_output_sums(conv: TransposedConvolution) -> None:
    for seed, point in enumerate(at_random(conv.axes, 25)):
        case = conv.build(point, seed)
        for at, binding in enumerate(case.bindings):
            assert iterations(conv.spatial, point, binding) == _counted(conv, case, at)


def test_bindings_that_take_long_are_left_out(conv: TransposedConvolution) -> None:
    full = 0
    for seed, point in enumerate(at_random(conv.axes, 400)):
        case = conv.build(point, seed)
        symbolic = any(value is True for value in point.values())
        assert len(case.bindings) >= (2 if symbolic else 1)
        assert {
            "B": integer(point, "batch"),
            **{letter: integer(point, f"size.{letter.lower()}") for letter in conv.spatial},
        }.items() >= {
            name: size for name, size in case.bindings[0].items() if name not in "CK"
        }.items()
        spent = sum(iterations(conv.spatial, point, binding) for binding in case.bindings)
        full += len(case.bindings) > 2
        assert spent <= ITERATIONS or len(case.bindings) <= 2
    assert full > 100
