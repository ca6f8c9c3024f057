"""Dimensions: parsing, printing and evaluating agree."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relaxcheck.generators.core import dims

SYMBOLS = {"m": 7, "n": 3, "B": 0, "k_2": 12}

LEAVES = st.one_of(
    st.integers(0, 50).map(str),
    st.integers(-50, -1).map(str),
    st.sampled_from(sorted(SYMBOLS)),
)


@st.composite
def texts(draw: st.DrawFn) -> str:
    """Expressions with needless white space and parentheses."""

    def grown(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
        return st.builds(
            lambda left, sign, right, gap, wrap: (
                f"({left}){gap}{sign}({right})" if wrap else f"(({left}) {sign} ({right}){gap})"
            ),
            inner,
            st.sampled_from(["+", "-", "*", "//", "%"]),
            inner,
            st.sampled_from(["", " ", "  "]),
            st.booleans(),
        )

    return draw(st.recursive(LEAVES, grown, max_leaves=8))


def _value(dim: dims.Dim) -> int | None:
    try:
        return dims.evaluate(dim, SYMBOLS)
    except ZeroDivisionError:
        return None


@given(texts())
def test_canonical_keeps_the_value_and_evaluate_is_pythons(text: str) -> None:
    try:
        expected = eval(text, {}, dict(SYMBOLS))
    except ZeroDivisionError:
        expected = None
    assert _value(text) == expected
    if expected is not None:
        assert _value(dims.canonical(text)) == expected


@given(texts())
def test_canonical_is_a_fixed_point(text: str) -> None:
    if len(text) <= dims.LONGEST and _value(text) is not None:
        once = dims.canonical(text)
        assert dims.canonical(once) == once
        assert dims.symbols(once) == dims.symbols(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("((m))", "m"),
        ("2*m+ 1", "2*m + 1"),
        ("m-(n-1)", "m - (n - 1)"),
        ("(m//5)-1", "m//5 - 1"),
        ("m*(n+1)", "m*(n + 1)"),
        ("(m//2)*3", "m//2*3"),
        ("m//(2*3)", "m//(2*3)"),
        ("2*3 + 1", 7),
        ("-3", -3),
    ],
)
def test_canonical_text(text: str, expected: dims.Dim) -> None:
    assert dims.canonical(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        *("", " ", "m +", "m/2", "m**2", "f(m)", "m.n", "m[0]", "True", "1.5", "'m'", "-m"),
        *("m < n", "(m, n)", "lambda: m", "m\x00", "(" * 500 + "m" + ")" * 500),
        *("1//0", "3 % (2 - 2)", "+".join(["m"] * 20_000)),
    ],
)
def test_an_invalid_dimension_is_a_value_error_in_one_line(text: str) -> None:
    with pytest.raises(ValueError, match="dimension") as raised:
        dims.canonical(text)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(("text", "expected"), [("m//5", -2), ("m % 5", 3)])
def test_division_rounds_towards_negative_infinity(text: str, expected: int) -> None:
    assert dims.evaluate(text, {"m": -7}) == expected
