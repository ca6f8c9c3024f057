"""The solutions for the symbols of shapes, and the checks of them."""

from collections.abc import Callable
from typing import Any

import pytest

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.shapes.derived.equations import Equation, Solution, solve
from relaxcheck.fixes.tvm_api import shapes as tvm_api_shapes

M, N, K = map(tvm_api.shape_var, ("m", "n", "k"))


def solved(*expressions: Any, known: tuple[Any, ...] = ()) -> tuple[Solution, list[Any]]:
    """The solution for dimensions d0, d1, … of these expressions, and the dimensions."""
    dims = [tvm_api.shape_var(f"d{number}") for number in range(len(expressions))]
    equations = [
        Equation(expression, dim, f"dimension {number}")
        for number, (expression, dim) in enumerate(zip(expressions, dims, strict=True))
    ]
    return solve("f", equations, known), dims


def value_at(expression: Any, values: dict[Any, int]) -> int:
    substitution = {symbol: tvm_api.integer(value) for symbol, value in values.items()}
    result = tvm_api.as_int(tvm_api_shapes.substitute(expression, substitution))
    assert result is not None, expression
    return result


SYSTEMS: list[tuple[list[Any], tuple[Any, ...], Callable[[int, int], list[int]]]] = [
    ([M * 2], (), lambda m, n: [2 * m]),
    ([M + 1], (), lambda m, n: [m + 1]),
    ([M * 3 - 1, M * 5], (), lambda m, n: [3 * m - 1, 5 * m]),
    ([5 - M], (), lambda m, n: [5 - m]),
    ([M + N], (M,), lambda m, n: [m + n]),
    ([M * N], (M,), lambda m, n: [m * n]),
    ([M * N + M], (M,), lambda m, n: [m * n + m]),
    ([M * N, M + 1], (), lambda m, n: [m * n, m + 1]),
    ([M + N, M - N], (), lambda m, n: [m + n, m - n]),
    ([M * 2 + N, M * 3 + N * 2], (), lambda m, n: [2 * m + n, 3 * m + 2 * n]),
    ([M // 5 - 1, M - 3], (), lambda m, n: [m // 5 - 1, m - 3]),
]


@pytest.mark.parametrize(("expressions", "known", "dims_at"), SYSTEMS)
def test_symbols_are_found(expressions: list[Any], known: tuple[Any, ...], dims_at: Any) -> None:
    solution, dims = solved(*expressions, known=known)
    for m, n in ((5, 2), (3, 3), (4, 1)):
        want = {M: m, N: n}
        known_values = dict(zip(dims, dims_at(m, n), strict=True)) | {
            each: want[each] for each in known
        }
        for symbol, value in zip(solution.symbols, solution.values, strict=True):
            assert value_at(value, known_values) == want[symbol]
        assert all(value_at(check.condition, known_values) for check in solution.checks)


@pytest.mark.parametrize(("expressions", "known", "dims_at"), SYSTEMS)
def test_sizes_that_are_no_solution_fail_a_check(
    expressions: list[Any], known: tuple[Any, ...], dims_at: Any
) -> None:
    """Of all dimensions around one solution, exactly those that some m and n fit pass."""
    solution, dims = solved(*expressions, known=known)
    sizes = range(-3, 30)
    fitting = {(m if M in known else 0, *dims_at(m, n)) for m in range(30) for n in range(30)}
    for change in range(-3, 4):
        for number in range(len(dims)):
            result = dims_at(4, 2)
            result[number] += change
            if any(size not in sizes for size in result):
                continue
            known_values = dict(zip(dims, result, strict=True)) | dict.fromkeys(known, 4)
            passes = all(value_at(check.condition, known_values) for check in solution.checks)
            assert passes is ((4 if M in known else 0, *result) in fitting), result


@pytest.mark.parametrize(
    ("expressions", "missing"),
    [([M // 5 - 1], "m"), ([M * N], "m, n"), ([M * M], "m"), ([M + N + K, K], "m, n")],
)
def test_undeducible_symbols_are_named(expressions: list[Any], missing: str) -> None:
    text = f"^f: {missing} cannot be found from the inputs: dimension 0 is "
    with pytest.raises(ValueError, match=text):
        solved(*expressions)


def test_nothing_is_divided_by_zero() -> None:
    solution, (dim,) = solved(M * N, known=(M,))
    assert value_at(solution.values[0], {M: 0, dim: 0}) == 0
    first = solution.checks[0]
    assert not value_at(first.condition, {M: 0, dim: 0})
    assert first.message == "f: dimension 0 is m * n, from which n cannot be found: m is {}"
