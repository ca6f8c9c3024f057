"""``multinomial_from_uniform``: all agree, at samples worked out here."""

from typing import Any

import numpy as np
import pytest

from relaxcheck.generators.core.fills.drawn import BetweenParts, Distribution
from relaxcheck.generators.core.fills.kinds import Below, Fill, Literal
from relaxcheck.generators.core.program import Program
from relaxcheck.oracles.reference.evaluate import evaluate
from relaxcheck.oracles.reference.operators.indices import sampling
from tests.oracles.agreeing import agree, program_of, wrong_is_seen
from tests.oracles.declared import declared_in

NAME = "multinomial_from_uniform"
FLOATS = ("float16", "bfloat16", "float32", "float64")


def sampled(
    prob: list[list[float]], samples: list[float], rows: list[int], dtype: str = "float32"
) -> Program:
    shapes = [(len(prob), len(prob[0])), (len(samples), 1), (len(rows), 1)]
    flat = tuple(part for row in prob for part in row)
    fills = [Literal(flat), Literal(tuple(samples)), Literal(tuple(rows))]
    return program_of(NAME, shapes, [dtype, dtype, "int64"], fills)


def test_the_examples_of_the_docstring() -> None:
    prob = [[0.2, 0.3, 0.5], [0.3, 0.4, 0.3]]
    result = agree(sampled(prob, [0.4, 0.9], [0, 1]))
    assert result.value.tolist() == [[1], [2]]
    assert not result.bound.any()


@pytest.mark.parametrize("dtype", FLOATS)
def test_a_row_is_sampled_as_often_as_it_is_named(dtype: str) -> None:
    prob = [[0.25, 0.25, 0.5], [0.5, 0.0, 0.5]]
    samples = [0.125, 0.375, 0.75, 0.125, 0.625]
    result = agree(sampled(prob, samples, [0, 0, 0, 1, 1], dtype))
    assert result.value.tolist() == [[0], [1], [2], [0], [2]]
    assert not result.bound.any()


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("other", ["float16", "float32", "float64"])
@pytest.mark.parametrize("shape", [(3, 5), (1, 1), (2, 300)])
def test_drawn_values_decide_every_sample(dtype: str, other: str, shape: tuple[int, int]) -> None:
    fills: list[Fill] = [Distribution(), BetweenParts(), Below(shape[0])]
    kinds = [dtype, other, "int32"]
    program = program_of(NAME, [shape, (9, 1), (9, 1)], kinds, fills, dtype="int32")
    result = agree(program)
    assert result.dtype == "int32"
    assert not result.bound.any()
    wrong_is_seen(result)


@pytest.mark.parametrize(
    ("samples", "prob"),
    [
        ([0.25], [[0.25, 0.75]]),
        ([0.5 + 2**-25], [[0.1] * 5 + [0.5]]),
        ([0.75], [[0.25, 0.25]]),
        ([float("nan")], [[0.25, 0.75]]),
    ],
)
def test_what_rounding_or_no_row_decides_is_open(
    samples: list[float], prob: list[list[float]]
) -> None:
    (result,) = evaluate(
        sampled(prob, samples, [0]),
        {
            "x0": np.array(prob, np.float32),
            "x1": np.array([samples], np.float32),
            "x2": np.zeros((1, 1), np.int64),
        },
    )
    assert np.isinf(result.bound).all()


@pytest.mark.parametrize(
    ("shapes", "why"),
    [
        ([(2, 3), (4, 1), (3, 1)], "as many samples"),
        ([(2, 3), (4, 2), (4, 2)], "are columns"),
        ([(2,), (4, 1), (4, 1)], "rows of probabilities"),
    ],
)
def test_an_invalid_call_is_refused(shapes: list[tuple[int, ...]], why: str) -> None:
    program = program_of(NAME, shapes, ["float32", "float32", "int64"])
    arrays: dict[str, Any] = {
        f"x{at}": np.zeros(shape, np.int64 if at == 2 else np.float32)
        for at, shape in enumerate(shapes)
    }
    with pytest.raises(ValueError, match=why):
        evaluate(program, arrays)


def test_an_index_of_no_row_is_refused() -> None:
    with pytest.raises(ValueError, match="an index of no row: there are 1"):
        agree(sampled([[1.0]], [0.5], [1]))


def test_the_module_holds_this_operator_alone() -> None:
    assert declared_in(sampling) == {NAME}
