"""Convolution, pooling and interpolation: the three agree within bounds that are not vacuous."""

from typing import Any

import numpy as np
import pytest

from relaxcheck.generators.core.program import Case
from relaxcheck.generators.core.values import arrays
from relaxcheck.oracles.reference.evaluate import evaluate
from relaxcheck.oracles.reference.operators import windows
from tests.oracles.agreeing import agree, program_of, wrong_is_seen
from tests.oracles.declared import declared_in

FLOATS = ("float16", "bfloat16", "float32", "float64")

Calls = list[tuple[list[tuple[int, ...]], dict[str, Any]]]

CALLS: dict[str, Calls] = {
    "nn.conv1d": [
        ([(2, 3, 9), (4, 3, 3)], {"padding": (1, 2), "strides": 2}),
        ([(1, 4, 7), (6, 2, 2)], {"groups": 2, "dilation": (3,)}),
        ([(0, 3, 5), (4, 3, 5)], {}),
        ([(2, 1, 1), (1, 1, 1)], {"padding": 1}),
    ],
    "nn.conv2d": [
        ([(2, 3, 5, 6), (4, 3, 3, 2)], {"padding": (1, 0, 2, 1), "strides": (1, 2)}),
        ([(1, 4, 3, 5), (4, 1, 2, 2)], {"groups": 4, "dilation": (1, 2), "padding": (1, 1)}),
    ],
    "nn.conv3d": [
        (
            [(1, 2, 3, 5, 4), (3, 2, 2, 3, 1)],
            {"padding": (1, 0, 1, 0, 2, 1), "strides": (1, 2, 1)},
        ),
        ([(2, 4, 3, 2, 5), (4, 2, 2, 1, 2)], {"groups": 2, "dilation": (2, 1, 3), "padding": 1}),
        ([(0, 2, 2, 2, 2), (1, 2, 1, 2, 1)], {}),
    ],
    "nn.max_pool1d": [
        ([(2, 3, 9)], {"pool_size": 3, "strides": 2, "padding": (1, 0)}),
        ([(2, 3, 9)], {"pool_size": (2,), "dilation": 3}),
        ([(0, 3, 4)], {"pool_size": (4,)}),
    ],
    "nn.max_pool2d": [
        ([(1, 2, 5, 4)], {"pool_size": (3, 2), "strides": (2, 1), "padding": (1, 1, 0, 1)}),
        ([(1, 1, 1, 1)], {}),
    ],
    "nn.max_pool3d": [
        (
            [(1, 2, 3, 5, 4)],
            {"pool_size": (2, 3, 2), "strides": (1, 2, 1), "padding": (1, 1, 0, 0, 0, 1)},
        ),
        ([(2, 1, 3, 2, 4)], {"pool_size": 2, "dilation": (2, 1, 3)}),
        ([(0, 1, 2, 2, 2)], {"pool_size": 2}),
    ],
    "nn.avg_pool1d": [
        ([(2, 3, 9)], {"pool_size": 3, "strides": 2, "padding": 1}),
        ([(2, 3, 9)], {"pool_size": 4, "padding": (2, 1)}),
        ([(2, 3, 9)], {"pool_size": 3, "padding": 1, "count_include_pad": False}),
        ([(2, 3, 9)], {"pool_size": 3, "padding": (0, 1), "count_include_pad": False}),
        ([(2, 0, 3)], {"pool_size": (2,)}),
    ],
    "nn.avg_pool2d": [
        ([(1, 2, 5, 4)], {"pool_size": (3, 2), "strides": (2, 1), "padding": (1, 1)}),
        ([(1, 2, 5, 4)], {"pool_size": (2, 2), "padding": 1, "count_include_pad": True}),
        ([(1, 2, 5, 4)], {"pool_size": (2, 3), "padding": (1, 0, 0, 1)}),
    ],
    "nn.avg_pool3d": [
        ([(1, 2, 3, 5, 4)], {"pool_size": (2, 3, 2), "strides": (2, 1, 1), "padding": (1, 1, 0)}),
        (
            [(1, 2, 3, 5, 4)],
            {"pool_size": (2, 2, 3), "padding": (1, 0, 0, 0, 1, 1), "count_include_pad": False},
        ),
        ([(1, 1, 3, 2, 4)], {"pool_size": 2, "padding": 1, "count_include_pad": False}),
    ],
    "nn.adaptive_avg_pool1d": [
        ([(2, 3, 7)], {"output_size": (3,)}),
        ([(2, 3, 2)], {"output_size": 5}),
        ([(2, 3, 4)], {}),
    ],
    "nn.adaptive_avg_pool2d": [
        ([(2, 3, 7, 4)], {"output_size": (3, 4)}),
        ([(1, 1, 5, 6)], {"output_size": 2}),
    ],
    "nn.adaptive_avg_pool3d": [
        ([(2, 3, 7, 4, 3)], {"output_size": (3, 4, 2)}),
        ([(1, 1, 2, 3, 5)], {"output_size": 2}),
        ([(1, 2, 2, 3, 1)], {}),
    ],
}
EACH = [(name, at) for name, calls in CALLS.items() for at in range(len(calls))]


@pytest.mark.parametrize(("operator", "at"), EACH)
def test_all_agree(operator: str, at: int) -> None:
    shapes, attributes = CALLS[operator][at]
    for dtype in FLOATS:
        for regime in ("normal", "exact", "moderate", "boundary", "special"):
            program = program_of(operator, shapes, dtype, **attributes)
            reference = agree(program, regime, seed=at, oracles=1)
            if regime == "normal" and dtype == "float32":
                assert np.isfinite(reference.bound).all()
                wrong_is_seen(reference)
            if regime == "exact" and "conv" in operator and dtype != "bfloat16":
                assert not reference.bound.any()


@pytest.mark.parametrize(
    ("operator", "shapes", "attributes"),
    [
        ("nn.conv1d", [(1, 2, 3), (1, 2, 4)], {}),
        ("nn.conv1d", [(1, 3, 3), (1, 2, 1)], {}),
        ("nn.max_pool1d", [(1, 1, 2)], {"pool_size": 3}),
        ("nn.max_pool1d", [(1, 1, 5)], {"pool_size": 2, "padding": 2}),
        ("nn.max_pool2d", [(1, 1, 5, 5)], {"pool_size": 2, "padding": (1, 1, 1)}),
        ("nn.conv1d", [(1, 1, 5), (1, 1, 2)], {"padding": (0, -1)}),
        ("nn.adaptive_avg_pool1d", [(1, 1, 0)], {"output_size": 2}),
    ],
)
def test_invalid_calls_are_refused(
    operator: str, shapes: list[tuple[int, ...]], attributes: dict[str, Any]
) -> None:
    program = program_of(operator, shapes, **attributes)
    with pytest.raises(ValueError, match=r"no place|channels|padding|nothing"):
        evaluate(program, arrays(Case("drawn", program), 0))


def test_every_operator_of_the_groups_is_held_here() -> None:
    assert CALLS.keys() == declared_in(windows)
