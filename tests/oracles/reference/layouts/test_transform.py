"""Transformations of layouts: the oracles agree, and where elements go is worked out here."""

import numpy as np
import pytest

from relaxcheck.generators.core.attributes import index_map_of
from relaxcheck.generators.core.fills.kinds import Literal
from relaxcheck.oracles.reference.evaluate import evaluate
from relaxcheck.oracles.reference.operators.layouts import transform
from tests.oracles.agreeing import agree, program_of, wrong_is_seen
from tests.oracles.declared import declared_in

NAME = "layout_transform"
INF = float("inf")
Shape = tuple[int, ...]

MAPS: list[tuple[str, Shape, Shape]] = [
    ("i, j: j, i", (3, 4), (4, 3)),
    ("i, j: i, j//4, j%4", (3, 8), (3, 2, 4)),
    ("i, j: i, j//4, j%4", (3, 6), (3, 2, 4)),
    ("i, j: i, j//4, j%4", (3, 2), (3, 1, 4)),
    ("i, j: i, j//4, j%4", (3, 0), (3, 0, 4)),
    ("i, j: i*4 + j", (3, 4), (12,)),
    ("i: (i + 1)//4, (i + 1)%4", (5,), (2, 4)),
    ("i: i//4, i//2%2, i%2", (6,), (2, 2, 2)),
    ("n, c, h, w: n, c//4, h, w, c%4", (1, 8, 2, 3), (1, 2, 2, 3, 4)),
    ("n, c, h, w, b: n, c*4 + b, h, w", (1, 2, 2, 3, 4), (1, 8, 2, 3)),
]


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64", "int8", "int64", "bool"])
@pytest.mark.parametrize(("index_map", "shape", "wanted"), MAPS)
def test_all_agree(index_map: str, shape: Shape, wanted: Shape, dtype: str) -> None:
    for regime in ("normal", "special"):
        for pad in ({}, {"pad_value": 1}) if dtype != "bool" else ({},):
            program = program_of(NAME, [shape], dtype, index_map=index_map, **pad)
            reference = agree(program, regime)
            assert reference.value.shape == wanted
            moved = np.prod(wanted) == np.prod(shape)
            assert np.isinf(reference.bound).sum() == (
                0 if moved or pad else np.prod(wanted) - np.prod(shape)
            )
            if moved or pad:
                wrong_is_seen(reference)
                assert not reference.bound.any()


@pytest.mark.parametrize(
    ("index_map", "pad", "wanted"),
    [
        ("i: i//2, i%2", 9, [[1, 2], [3, 9]]),
        ("i: i%2, i//2", 9, [[1, 3], [2, 9]]),
        ("i: (i + 1)//2, (i + 1)%2", 9, [[9, 1], [2, 3]]),
        ("i: (i + 2)//4, (i + 2)%4", -1, [[-1, -1, 1, 2], [3, -1, -1, -1]]),
    ],
)
def test_of_three_numbers(index_map: str, pad: int, wanted: object) -> None:
    fills = [Literal((1, 2, 3))]
    program = program_of(NAME, [(3,)], "float32", fills, index_map=index_map, pad_value=pad)
    assert agree(program).value.tolist() == wanted


def test_padding_without_a_value_has_room() -> None:
    reference = agree(program_of(NAME, [(3,)], "int32", index_map="i: i//2, i%2"))
    assert reference.bound.tolist() == [[0, 0], [0, INF]]


@pytest.mark.parametrize(
    ("index_map", "pad", "why"),
    [
        ("i: i", 0, "1 indices for rank 2"),
        ("i, j: i + j", 0, "two elements move to one place"),
        ("i, j: j, i", 1.5, "pad_value 1.5 of int32"),
        ("i, i: i", 0, "give indices"),
        ("i, j: k, i", 0, "give indices"),
        ("i, j", 0, "give indices"),
    ],
)
def test_what_is_no_index_map_is_refused(index_map: str, pad: float, why: str) -> None:
    program = program_of(NAME, [(2, 3)], "int32", index_map=index_map, pad_value=pad)
    with pytest.raises(ValueError, match=why):
        evaluate(program, {"x0": np.zeros((2, 3), np.int32)})


def test_the_source_of_a_map_computes_it() -> None:
    for text in ("i, j: j, i//4, i%4", "i, j: i*4 + j"):
        function = eval(index_map_of(text).source)
        assert function(9, 3) == index_map_of(text).places({"i": 9, "j": 3})


def test_the_module_holds_this_operator_alone() -> None:
    assert declared_in(transform) == {NAME}
