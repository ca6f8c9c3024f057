"""The gradient of take: the three agree, at values that are worked out here."""

import numpy as np
import pytest

from relaxcheck.generators.core.fills.kinds import Below, Literal, Random
from relaxcheck.oracles.reference.evaluate import evaluate
from relaxcheck.oracles.reference.operators.training import gradients
from tests.oracles.agreeing import agree, program_of, wrong_is_seen
from tests.oracles.declared import declared_in

NAME = "grad.take_backward"
REGIMES = ("normal", "exact", "moderate", "boundary", "special")

Shape = tuple[int, ...]


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize(
    ("shape", "axis", "indices"),
    [
        ((4,), None, (3,)),
        ((4,), 0, (2, 3)),
        ((3, 4), 0, (5,)),
        ((3, 4), -1, (9,)),
        ((2, 3, 4), 1, ()),
        ((2, 3, 4), -3, (2, 2)),
        ((2, 3), 1, (0,)),
        ((0, 3), 1, (2,)),
    ],
)
def test_along_every_axis(shape: Shape, axis: int | None, indices: Shape, dtype: str) -> None:
    at = (axis or 0) % len(shape)
    gradient = (*shape[:at], *indices, *shape[at + 1 :])
    attributes = {} if axis is None else {"axis": axis}
    fills = [Random(), Random(), Below(shape[at])]
    program = program_of(
        NAME, [gradient, shape, indices], (dtype, dtype, "int64"), fills, **attributes
    )
    for seed, regime in enumerate(REGIMES):
        reference = agree(program, regime, seed)
        if regime in ("normal", "exact"):
            wrong_is_seen(reference)
        if regime == "exact":
            assert not reference.bound.any()


def test_an_element_that_was_taken_twice_gets_both() -> None:
    fills = [Literal((1, 2, 4, 8, 16, 32)), Random(), Literal((1, 1, 2))]
    for axis, shape, wanted in (
        (1, (2, 3), [[0, 3, 4], [0, 24, 32]]),
        (-2, (3, 2), [[0, 0], [5, 10], [16, 32]]),
    ):
        gradient = (2, 3) if axis == 1 else (3, 2)
        program = program_of(
            NAME, [gradient, shape, (3,)], ("float32", "float32", "int32"), fills, axis=axis
        )
        reference = agree(program)
        assert reference.value.tolist() == wanted
        assert not reference.bound.any()


@pytest.mark.parametrize(
    ("shapes", "dtypes", "axis", "why"),
    [
        ([(2, 4), (3, 3), (2,)], ("float32", "float32", "int64"), 0, "a gradient of shape"),
        ([(2, 3), (3, 3), (2,)], ("float32", "float32", "int64"), 2, "axis 2"),
        ([(2, 3), (3, 3), (2,)], ("float32", "float32", "int64"), None, "wants a vector"),
        ([(2, 3), (3, 3), (2,)], ("float32", "float32", "float32"), 0, "no integers"),
        ([(2, 3), (3, 3), (2,)], ("float64", "float32", "int64"), 0, "dtypes differ"),
    ],
)
def test_calls_that_do_not_fit_are_refused(
    shapes: list[Shape], dtypes: tuple[str, ...], axis: int | None, why: str
) -> None:
    attributes = {} if axis is None else {"axis": axis}
    values = {
        f"x{at}": np.zeros(shape, dtype)
        for at, (shape, dtype) in enumerate(zip(shapes, dtypes, strict=True))
    }
    with pytest.raises(ValueError, match=why):
        evaluate(program_of(NAME, shapes, dtypes, **attributes), values)


def test_a_place_outside_is_refused() -> None:
    program = program_of(NAME, [(1,), (2,), (1,)], ("float32", "float32", "int64"), axis=0)
    for place in (2, -1):
        values = {
            "x0": np.ones(1, np.float32),
            "x1": np.ones(2, np.float32),
            "x2": np.array([place]),
        }
        with pytest.raises(ValueError, match=f"the index {place} is outside of an axis of 2"):
            evaluate(program, values)


def test_the_module_holds_this_operator_alone() -> None:
    assert declared_in(gradients) == {NAME}
