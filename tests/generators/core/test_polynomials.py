"""The one form of a dimension."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relaxcheck.generators.core.dims import Dim, canonical, evaluate, symbols
from relaxcheck.generators.core.polynomials import minus, over, plus, simplified, times

_LEAVES = st.one_of(st.integers(-9, 9), st.sampled_from(["m", "n"]))


def _larger(inner: st.SearchStrategy[Dim]) -> st.SearchStrategy[Dim]:
    return st.one_of(
        st.builds(lambda a, op, b: f"({a}){op}({b})", inner, st.sampled_from("+-*"), inner),
        st.builds(lambda a, op, k: f"({a}){op}{k}", inner, st.sampled_from(["//", "%"]),
                  st.integers(1, 7)),
    )  # fmt: skip


@given(st.recursive(_LEAVES, _larger, max_leaves=7), st.integers(0, 20), st.integers(0, 20))
def test_it_has_the_same_value(dim: Dim, m: int, n: int) -> None:
    result = simplified(dim)
    assert canonical(result) == result
    binding = {"m": m, "n": n}
    assert evaluate(result, binding) == evaluate(dim, binding)
    assert simplified(result) == result


@pytest.mark.parametrize(
    ("dim", "wanted"),
    [
        ("m + 1 + m", "2*m + 1"),
        ("n + m - n", "m"),
        ("(4*m - 1)//2 + 1", "2*m"),
        ("(m + 7)//5", "(m + 2)//5 + 1"),
        ("n*m - m*n", 0),
        ("(2*m)%2", 0),
        ("m*(n + 1)", "m + m*n"),
    ],
)
def test_equal_ones_get_one_text(dim: Dim, wanted: Dim) -> None:
    assert simplified(dim) == wanted


def test_arithmetic() -> None:
    assert plus("m", 2, "n") == "m + n + 2"
    assert minus("m", 2) == "m - 2"
    assert times() == 1
    assert times("m", 0) == 0
    assert over(times(6, "m"), 3) == "2*m"
    assert symbols(minus("m", "m")) == frozenset()


@pytest.mark.parametrize("dim", ["m//n", "m%n", "m//(n - n)"])
def test_a_divisor_is_a_positive_constant(dim: Dim) -> None:
    with pytest.raises(ValueError, match="positive constant"):
        simplified(dim)
