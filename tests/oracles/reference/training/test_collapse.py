"""Sums that undo a broadcast: the three agree, and what they add up is worked out here."""

import numpy as np
import pytest

from relaxcheck.generators.core.fills.kinds import Literal
from relaxcheck.oracles.reference.evaluate import evaluate
from relaxcheck.oracles.reference.operators.training import collapse
from tests.oracles.agreeing import agree, program_of, wrong_is_seen
from tests.oracles.declared import declared_in

DTYPES = ("float16", "bfloat16", "float32", "float64", "int32", "int64")
SHAPES = (
    ((3, 4), (4,)),
    ((3, 4), (1, 4)),
    ((3, 4), (3, 1)),
    ((2, 3, 4), (3, 1)),
    ((2, 3, 4), ()),
    ((2, 3, 4), (2, 3, 4)),
    ((2, 1, 4), (1, 1)),
    ((0, 3), (3,)),
    ((0, 3), (0, 1)),
    ((), ()),
)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("shape", "wanted"), SHAPES)
def test_to_every_shape(dtype: str, shape: tuple[int, ...], wanted: tuple[int, ...]) -> None:
    for regime in ("normal", "exact", "moderate", "boundary", "special"):
        named = program_of("collapse_sum_to", [shape], dtype, shape=wanted)
        like = program_of("collapse_sum_like", [shape, wanted], dtype)
        for program in (named, like):
            reference = agree(program, regime)
            assert reference.value.shape == wanted
            if regime in ("normal", "exact"):
                wrong_is_seen(reference)
            if regime == "exact" or wanted == shape or "int" in dtype:
                assert not reference.bound[np.isfinite(reference.bound)].any()


@pytest.mark.parametrize(
    ("wanted", "sums"),
    [((3,), [5, 7, 9]), ((2, 1), [[6], [15]]), ((1, 1), [[21]]), ((1,), [21]), ((), 21)],
)
def test_of_six_numbers(wanted: tuple[int, ...], sums: object) -> None:
    fills = [Literal((1, 2, 3, 4, 5, 6))]
    reference = agree(program_of("collapse_sum_to", [(2, 3)], "float32", fills, shape=wanted))
    assert reference.value.tolist() == sums
    assert not reference.bound.any()


@pytest.mark.parametrize("wanted", [(2,), (3, 1), (1, 2, 3), (0,), (2, 2)])
def test_another_shape_is_refused(wanted: tuple[int, ...]) -> None:
    program = program_of("collapse_sum_to", [(2, 3)], "float32", shape=wanted)
    with pytest.raises(ValueError, match="does not broadcast"):
        evaluate(program, {"x0": np.zeros((2, 3), np.float32)})


def test_the_module_holds_these_operators_alone() -> None:
    assert declared_in(collapse) == {"collapse_sum_to", "collapse_sum_like"}
