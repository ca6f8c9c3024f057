"""Gradients of pooling: the three agree, at values that are worked out here."""

from typing import Any

import numpy as np
import pytest

from relaxcheck.generators.core.fills.kinds import Literal
from relaxcheck.oracles.reference.evaluate import evaluate
from relaxcheck.oracles.reference.operators.training import pooling
from tests.oracles.agreeing import agree, agree_on, program_of, wrong_is_seen
from tests.oracles.declared import declared_in

MAX, AVERAGE = "grad.max_pool2d_backward", "grad.avg_pool2d_backward"
REGIMES = ("normal", "exact", "moderate", "boundary", "special")

Shape = tuple[int, ...]

CALLS: list[tuple[Shape, Shape, dict[str, Any]]] = [
    ((2, 3, 4, 5), (2, 3, 3, 4), {"pool_size": (2, 2)}),
    ((2, 1, 4, 5), (2, 1, 2, 2), {"pool_size": (2, 3), "strides": (2, 2)}),
    ((1, 2, 5, 4), (1, 2, 3, 4), {"pool_size": (3, 2), "strides": (2, 1), "padding": (1, 0, 1, 1)}),
    ((1, 1, 3, 3), (1, 1, 1, 1), {"pool_size": (1, 1), "strides": (3, 3)}),
    ((0, 2, 3, 3), (0, 2, 2, 2), {"pool_size": (2, 2)}),
]
DILATED = ((1, 2, 5, 5), (1, 2, 3, 3), {"pool_size": (2, 2), "dilation": (2, 2)})


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("name", [MAX, AVERAGE])
def test_windows(name: str, dtype: str) -> None:
    for shape, gradient, attributes in (*CALLS, *([DILATED] if name == MAX else [])):
        program = program_of(name, [gradient, shape], dtype, **attributes)
        for seed, regime in enumerate(REGIMES):
            reference = agree(program, regime, seed)
            certain = np.isfinite(reference.bound)
            if regime == "normal":
                # Of a few hundred elements that are drawn some are equal in a short format.
                assert certain.all() or (name == MAX and certain.mean() > 0.9)
                if certain.all():
                    wrong_is_seen(reference)


def test_padding_counts_or_does_not() -> None:
    program = {
        counted: program_of(
            AVERAGE,
            [(1, 1, 1, 2), (1, 1, 1, 2)],
            "float32",
            [Literal((4, 8))],
            pool_size=(1, 2),
            strides=(1, 2),
            padding=(0, 1, 0, 1),
            count_include_pad=counted,
        )
        for counted in (False, True)
    }
    # Each of two windows holds an element and a place of padding.
    assert agree(program[False]).value.tolist() == [[[[4, 8]]]]
    assert agree(program[True]).value.tolist() == [[[[2, 4]]]]


def test_overlapping_means_add_up() -> None:
    program = program_of(
        AVERAGE, [(1, 1, 1, 2), (1, 1, 1, 3)], "float32", [Literal((2, 6))], pool_size=(1, 2)
    )
    reference = agree(program)
    assert reference.value.tolist() == [[[[1, 4, 3]]]]
    wrong_is_seen(reference)


def test_the_largest_element_gets_all() -> None:
    fills = [Literal((1, 2, 4, 8)), Literal((0, 1, 2, 3, 9, 4, 8, 5, 6))]
    program = program_of(MAX, [(1, 1, 2, 2), (1, 1, 3, 3)], "float32", fills, pool_size=(2, 2))
    reference = agree(program)
    assert reference.value.tolist() == [[[[0, 0, 0], [0, 15, 0], [0, 0, 0]]]]
    assert not reference.bound.any()


def test_which_of_equal_elements_is_unconstrained() -> None:
    fills = [Literal((1, 2)), Literal((5, 5, 3))]
    program = program_of(MAX, [(1, 1, 1, 2), (1, 1, 1, 3)], "float32", fills, pool_size=(1, 2))
    reference = agree(program)
    assert np.isinf(reference.bound).tolist() == [[[[True, True, False]]]]
    assert reference.value[0, 0, 0, 2] == 0


def test_the_lowest_number_is_above_padding() -> None:
    program = program_of(
        MAX, [(1, 1, 1, 2), (1, 1, 1, 1)], "float32", pool_size=(1, 2), padding=(0, 1, 0, 1)
    )
    lowest = np.full((1, 1, 1, 1), np.finfo(np.float32).min)
    values = {"x0": np.array([1, 2], np.float32).reshape(1, 1, 1, 2), "x1": lowest}
    assert agree_on(program, values).value.tolist() == [[[[3]]]]


@pytest.mark.parametrize("name", [MAX, AVERAGE])
@pytest.mark.parametrize(
    ("shapes", "dtypes", "why"),
    [
        ([(1, 1, 2, 3), (1, 1, 3, 3)], "float32", "a gradient of shape"),
        ([(1, 2, 2), (1, 3, 3)], "float32", "data of 3 dimensions"),
        ([(1, 1, 2, 2), (1, 1, 3, 3)], ("float16", "float32"), "dtypes differ"),
    ],
)
def test_calls_that_do_not_fit_are_refused(
    name: str, shapes: list[Shape], dtypes: str | tuple[str, ...], why: str
) -> None:
    kinds = (dtypes, dtypes) if isinstance(dtypes, str) else dtypes
    values = {
        f"x{at}": np.zeros(shape, dtype)
        for at, (shape, dtype) in enumerate(zip(shapes, kinds, strict=True))
    }
    with pytest.raises(ValueError, match=why):
        evaluate(program_of(name, shapes, kinds, pool_size=(2, 2)), values)


def test_the_module_holds_these_operators_alone() -> None:
    assert declared_in(pooling) == {MAX, AVERAGE}
