"""Sizes of symbolic dimensions, and drawn inputs."""

import numpy as np
import pytest

from relaxcheck.generators.core.values import Array
from relaxcheck.harness.models.frameworks.inputs import (
    Input,
    Ranges,
    Symbol,
    bindings,
    drawn,
    ranges,
    shape,
)

BATCH = Symbol("s77", own=3, least=1, aliases=("batch",))
LENGTH = Symbol("length", own=5, least=2, most=6)
F32, I64, BOOL = np.dtype(np.float32), np.dtype(np.int64), np.dtype(np.bool_)


def test_a_model_runs_at_its_own_sizes_and_the_usual_legal_ones() -> None:
    every = bindings((BATCH, LENGTH), {})
    assert every == (
        {"s77": 3, "length": 5},
        {"s77": 1, "length": 2},
        {"s77": 2, "length": 2},
        {"s77": 7, "length": 2},
    )
    assert bindings((), {}) == ({},)


def test_sizes_are_wanted_by_name_or_alias() -> None:
    assert bindings((BATCH,), {"batch": (4, 8)}) == ({"s77": 4}, {"s77": 8})
    assert bindings((BATCH,), {"s77": (4,)}) == ({"s77": 4},)


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        ({"depth": (1,)}, "no symbolic dimension depth; it has s77, batch, length"),
        ({"length": (3, 7)}, "length is from 2 to 6, not 7"),
        ({"batch": (0,)}, "batch is from 1, not 0"),
    ],
)
def test_sizes_that_the_model_does_not_have_are_refused(
    wanted: dict[str, tuple[int, ...]], words: str
) -> None:
    with pytest.raises(ValueError, match=words):
        bindings((BATCH, LENGTH), wanted)


def test_dimensions_are_expressions_of_symbols() -> None:
    assert shape(("s77", 4, "2*s77 + 1"), {"s77": 3}) == (3, 4, 7)


def test_drawn_values_are_like_the_example() -> None:
    example = np.float32([[10, 12], [14, 16]])
    inputs = (
        Input("x", ("n", 500), F32, example),
        Input("mask", ("n", 3), F32, np.ones((2, 3), np.float32)),
        Input("ids", ("n", 500), I64, np.array([[3, 5]])),
        Input("flags", (100,), BOOL),
    )
    x, mask, ids, flags = drawn(inputs, {"n": 7}, 0, Ranges({}))
    assert x.shape == (7, 500)
    assert abs(x.mean() - 13) < 0.2
    assert (mask == 1).all()
    assert set(np.unique(ids)) == {3, 4, 5}
    assert set(np.unique(flags)) == {False, True}
    again = drawn(inputs, {"n": 7}, 0, Ranges({}))
    assert all(np.array_equal(a, b) for a, b in zip((x, mask, ids, flags), again, strict=True))
    assert not np.array_equal(drawn(inputs, {"n": 7}, 1, Ranges({}))[0], x)


def test_the_range_of_indices_is_what_the_framework_takes() -> None:
    inputs = (Input("ids", (64,), I64), Input("mask", (64,), I64))

    def runs(arrays: list[Array]) -> bool:
        return bool(arrays[0].max() < 37)

    found = ranges(inputs, {}, runs)
    # A mask takes any integer: it is no index, and 0 or 1.
    assert found.limits == {"ids": 10, "mask": 2}
