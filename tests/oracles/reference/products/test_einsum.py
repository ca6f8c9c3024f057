"""Einstein's summation: the three agree, within bounds that see small errors."""

import numpy as np
import pytest

from relaxcheck.generators.core.fills.kinds import Literal
from relaxcheck.oracles.reference.evaluate import evaluate
from relaxcheck.oracles.reference.operators.products import einsum
from tests.oracles.agreeing import agree, agree_on, program_of, wrong_is_seen
from tests.oracles.declared import declared_in

INF, NAN = float("inf"), float("nan")
Shape = tuple[int, ...]

CALLS: list[tuple[str, list[Shape]]] = [
    ("ij->ji", [(3, 4)]),
    ("ji", [(3, 4)]),
    ("ij->", [(3, 4)]),
    ("ii->i", [(4, 4)]),
    ("ii", [(4, 4)]),
    ("iji->ji", [(3, 2, 3)]),
    ("...i->i", [(2, 3, 4)]),
    ("...->", [(2, 3)]),
    ("->", [()]),
    ("ij,jk->ik", [(3, 4), (4, 5)]),
    (" ij , jk ", [(3, 4), (4, 5)]),
    ("Ab,bC", [(3, 4), (4, 5)]),
    ("ij,kl->", [(3, 4), (4, 5)]),
    ("i,i->i", [(5,), (5,)]),
    (",i->i", [(), (5,)]),
    ("ij,jk->ik", [(3, 4), (1, 5)]),
    ("ij,jk->ik", [(3, 1), (4, 5)]),
    ("...ij,...jk->...ik", [(2, 1, 3, 4), (5, 4, 2)]),
    ("ij,jk,kl->il", [(3, 4), (4, 5), (5, 2)]),
    ("i,j,k->kji", [(2,), (3,), (4,)]),
    ("ij,i,j->", [(3, 4), (3,), (4,)]),
    ("ij,jk->ik", [(3, 0), (0, 5)]),
    ("ij,jk->ik", [(0, 4), (4, 5)]),
]


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "int32", "uint8"])
@pytest.mark.parametrize(("subscripts", "shapes"), CALLS)
def test_all_agree(subscripts: str, shapes: list[Shape], dtype: str) -> None:
    for regime in ("normal", "exact", "moderate", "boundary", "special"):
        program = program_of("einsum", shapes, dtype, subscripts=subscripts)
        reference = agree(program, regime)
        # The error of many terms may be larger than a term in 16 bits.
        if regime in ("normal", "exact") and "16" not in dtype:
            wrong_is_seen(reference)
        if (regime == "exact" and dtype != "bfloat16") or "int" in dtype:
            assert not reference.bound.any()


@pytest.mark.parametrize(
    ("subscripts", "wanted"),
    [
        ("ij", [[1, 2], [3, 4]]),
        ("ji", [[1, 3], [2, 4]]),
        ("ii", 5),
        ("ii->i", [1, 4]),
        ("ij->j", [4, 6]),
        ("...j->...", [3, 7]),
        ("...j->j", [4, 6]),
    ],
)
def test_of_four_numbers(subscripts: str, wanted: object) -> None:
    fills = [Literal((1, 2, 3, 4))]
    reference = agree(program_of("einsum", [(2, 2)], "float32", fills, subscripts=subscripts))
    assert reference.value.tolist() == wanted
    assert not reference.bound.any()


@pytest.mark.parametrize(
    ("subscripts", "wanted"),
    [
        ("ij,j->i", [50, 110]),
        ("ij,i->j", [70, 100]),
        ("ij,j", [50, 110]),
        ("ij,k->", 300),
        ("ij,j,j->i", [900, 1900]),
    ],
)
def test_of_a_matrix_and_a_vector(subscripts: str, wanted: object) -> None:
    count = subscripts.count(",")
    fills = [Literal((1, 2, 3, 4)), *[Literal((10, 20))] * count]
    shapes = [(2, 2), *[(2,)] * count]
    reference = agree(program_of("einsum", shapes, "float32", fills, subscripts=subscripts))
    assert reference.value.tolist() == wanted
    assert not reference.bound.any()


def test_integers_wrap_around() -> None:
    fills = [Literal((100, 100)), Literal((2, 1))]
    program = program_of("einsum", [(2,), (2,)], "int8", fills, subscripts="i,i")
    assert agree(program).value.tolist() == 300 - 256


@pytest.mark.parametrize(
    ("x", "y", "bound"),
    [([INF, 1.0], [1.0, 1.0], 0.0), ([NAN, 1.0], [1.0, 1.0], 0.0), ([INF, 1.0], [0.0, 1.0], 0.0)],
)
def test_specials_of_a_product_are_certain(x: list[float], y: list[float], bound: float) -> None:
    program = program_of("einsum", [(2,), (2,)], "float32", subscripts="i,i->")
    values = {"x0": np.array(x, np.float32), "x1": np.array(y, np.float32)}
    reference = agree_on(program, values)
    assert float(reference.bound) == bound
    assert not np.isfinite(reference.value)


def test_an_infinity_beside_a_sum_of_nothing_has_room() -> None:
    program = program_of("einsum", [(0,), (1,)], "float32", subscripts="i,i")
    values = {"x0": np.zeros(0, np.float32), "x1": np.array([INF], np.float32)}
    assert np.isinf(agree_on(program, values).bound).all()


def test_a_product_that_overflows_on_the_way_has_room() -> None:
    program = program_of("einsum", [(1,), (1,), (1,)], "float32", subscripts="i,i,i->i")
    values = {f"x{at}": np.array([each], np.float32) for at, each in enumerate((1e30, 1e30, 1e-30))}
    assert np.isinf(agree_on(program, values).bound).all()


def test_a_product_that_underflows_on_the_way_has_room() -> None:
    program = program_of("einsum", [(1,), (1,), (1,)], "float32", subscripts="i,i,i->i")
    values = {
        f"x{at}": np.array([each], np.float32) for at, each in enumerate((1e-25, 1e-25, 1e30))
    }
    reference = agree_on(program, values)
    assert 0 < reference.value.item() < reference.bound.item()


@pytest.mark.parametrize(
    ("subscripts", "why"),
    [
        ("ij,jk->iz", "has a new one"),
        ("ij,jk->ii", "repeats a label"),
        ("ij->i", "2 operands"),
        ("ijk,jk->ik", "rank 2"),
        ("i,jk->ik", "rank 2"),
        ("ij,jk->i->k", "has a new one"),
        ("i2,2k->ik", "more than letters"),
        ("i..,jk->ik", "more than letters"),
        ("ij,ik->jk", "the sizes 2 and 3"),
    ],
)
def test_what_is_no_equation_of_these_is_refused(subscripts: str, why: str) -> None:
    program = program_of("einsum", [(2, 3), (3, 4)], "float32", subscripts=subscripts)
    values = {"x0": np.zeros((2, 3), np.float32), "x1": np.zeros((3, 4), np.float32)}
    with pytest.raises(ValueError, match=why):
        evaluate(program, values)


def test_the_module_holds_this_operator_alone() -> None:
    assert declared_in(einsum) == {"einsum"}
