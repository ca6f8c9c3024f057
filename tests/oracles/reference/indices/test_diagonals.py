"""Triangles, identities and tables of vectors: all agree at values worked out here."""

import numpy as np
import pytest

from relaxcheck.generators.core.fills.kinds import Literal
from tests.oracles.agreeing import agree, program_of, wrong_is_seen

INF, NAN = float("inf"), float("nan")
LINE, PAIR = Literal((1, 2, 3)), Literal((4, 5))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64", "int8", "bool"])
@pytest.mark.parametrize("k", [0, 1, -1, 9, -9])
def test_the_triangles_share_one_diagonal(dtype: str, k: int) -> None:
    shape = (2, 3, 4)
    lower, upper = (agree(program_of(name, [shape], dtype, k=k)) for name in ("tril", "triu"))
    whole = agree(program_of("triu", [shape], dtype, k=-9))
    diagonal = np.eye(3, 4, k) * whole.value
    assert np.array_equal(lower.value + upper.value - diagonal, whole.value)
    assert not lower.bound.any()


def test_cut_off_elements_are_zero() -> None:
    fills = [Literal((NAN, -0.0, INF, NAN))]
    kept = agree(program_of("triu", [(2, 2)], "float32", fills, k=1))
    np.testing.assert_array_equal(kept.value, [[0, 0], [0, 0]])
    assert np.signbit(kept.value).tolist() == [[False, True], [False, False]]


@pytest.mark.parametrize("dtype", ["float32", "int8", "bool"])
def test_an_identity_has_its_ones_at_column_row_plus_k(dtype: str) -> None:
    upper = agree(program_of("eye", [], n=2, m=3, k=1, dtype=dtype))
    assert upper.value.tolist() == [[0, 1, 0], [0, 0, 1]]
    assert agree(program_of("eye", [], n=2, k=-1, dtype=dtype)).value.tolist() == [[0, 0], [1, 0]]
    like = agree(program_of("eye_like", [(3, 2)], dtype, k=-1))
    assert (like.value.tolist(), like.dtype) == ([[0, 0], [1, 0], [0, 1]], dtype)


def test_an_identity_of_another_dtype() -> None:
    assert agree(program_of("eye_like", [(0, 2)], "float32", dtype="int8")).dtype == "int8"


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "uint8"])
def test_outer_products(dtype: str) -> None:
    product = agree(program_of("outer", [(3,), (2,)], dtype, [LINE, PAIR]))
    assert product.value.tolist() == [[4, 5], [8, 10], [12, 15]]
    assert not product.bound.any()
    for regime in ("normal", "boundary", "special"):
        reference = agree(program_of("outer", [(7,), (9,)], dtype), regime)
        if regime == "normal":
            wrong_is_seen(reference)


@pytest.mark.parametrize(
    ("indexing", "item", "wanted"),
    [
        ("ij", 0, [[1, 1], [2, 2], [3, 3]]),
        ("ij", 1, [[4, 5], [4, 5], [4, 5]]),
        ("xy", 0, [[1, 2, 3], [1, 2, 3]]),
        ("xy", 1, [[4, 4, 4], [5, 5, 5]]),
    ],
)
def test_grids(indexing: str, item: int, wanted: list[list[int]]) -> None:
    program = program_of(
        "meshgrid", [(3,), (2,)], "int32", [LINE, PAIR], indexing=indexing, item=item
    )
    assert agree(program).value.tolist() == wanted


def test_xy_swaps_the_first_two_of_three_axes() -> None:
    for item in range(3):
        program = program_of("meshgrid", [(3,), (2,), (4,)], indexing="xy", item=item)
        assert agree(program).value.shape == (2, 3, 4)


def test_a_batch_is_flattened() -> None:
    flat = agree(program_of("nn.batch_flatten", [(2, 3, 2)], "int8"))
    whole = agree(program_of("flatten", [(2, 3, 2)], "int8"))
    assert flat.value.shape == (2, 6)
    assert np.array_equal(flat.value.ravel(), whole.value)
    assert agree(program_of("nn.batch_flatten", [(0, 3)])).value.shape == (0, 3)
