"""Dimensions brought to one form: a polynomial over symbols, and over quotients that stay whole.

Equal polynomials get equal text, so that ``m + 1 + m`` is ``2*m + 1`` and two ways to reach a size
can be seen to be the same. ``//`` and ``%`` by a positive constant stay as they are unless the
divisor divides every coefficient.
"""

from collections.abc import Mapping
from functools import lru_cache
from typing import TypeAlias

from relaxcheck.generators.core.dims import Dim, canonical, fold

Polynomial: TypeAlias = Mapping[tuple[str, ...], int]
"""Coefficients by monomial: sorted factors, symbols or the text of a quotient; () is constant."""


@lru_cache(maxsize=4096)
def simplified(dim: Dim) -> Dim:
    """``dim`` in the one form that all equal polynomials have.

    Raises:
        ValueError: a divisor is not a positive constant.
    """
    return _text(
        fold(
            dim,
            constant=lambda value: {(): value} if value else {},
            symbol=lambda name: {(name,): 1},
            binary=_combined,
        )
    )


def _combined(sign: str, left: Polynomial, right: Polynomial) -> Polynomial:
    match sign:
        case "+":
            return _sum(left, right, 1)
        case "-":
            return _sum(left, right, -1)
        case "*":
            return _product(left, right)
    if set(right) - {()} or right.get((), 0) <= 0:
        raise ValueError("a divisor is to be a positive constant")
    divisor = right[()]
    whole = all(value % divisor == 0 for value in left.values())
    constant = not set(left) - {()}
    if sign == "//":
        if whole:
            return {key: value // divisor for key, value in left.items()}
        if constant:
            return _nonzero({(): left[()] // divisor})
        # A whole multiple of the divisor comes out of the quotient.
        out = {key: value // divisor for key, value in left.items() if value // divisor}
        rest = _nonzero({key: value % divisor for key, value in left.items()})
        quotient = f"({_text(rest)})//{divisor}"
        return _sum(out, {(str(canonical(quotient)),): 1}, 1) if set(rest) - {()} else out
    if whole:
        return {}
    if constant:
        return _nonzero({(): left[()] % divisor})
    return {(str(canonical(f"({_text(left)})%{divisor}")),): 1}


def _sum(left: Polynomial, right: Polynomial, sign: int) -> Polynomial:
    result = dict(left)
    for key, value in right.items():
        result[key] = result.get(key, 0) + sign * value
    return _nonzero(result)


def _product(left: Polynomial, right: Polynomial) -> Polynomial:
    result: dict[tuple[str, ...], int] = {}
    for a, x in left.items():
        for b, y in right.items():
            key = tuple(sorted((*a, *b)))
            result[key] = result.get(key, 0) + x * y
    return _nonzero(result)


def _nonzero(polynomial: Polynomial) -> Polynomial:
    return {key: value for key, value in polynomial.items() if value}


def _text(polynomial: Polynomial) -> Dim:
    # The constant last, the rest by name.
    terms = sorted(polynomial.items(), key=lambda item: (not item[0], item[0]))
    text = ""
    for factors, value in terms:
        size = "*".join(f"({factor})" for factor in factors)
        part = (
            str(abs(value)) if not factors else size if abs(value) == 1 else f"{abs(value)}*{size}"
        )
        if not text:
            text = part if value > 0 else f"0 - {part}"
        else:
            text += f" {'+' if value > 0 else '-'} {part}"
    return canonical(text) if text else 0


def plus(*dims: Dim) -> Dim:
    """The sum."""
    return simplified(" + ".join(f"({dim})" for dim in dims))


def minus(dim: Dim, other: Dim) -> Dim:
    """The difference."""
    return simplified(f"({dim}) - ({other})")


def times(*dims: Dim) -> Dim:
    """The product; 1 of none."""
    return simplified("*".join(f"({dim})" for dim in dims) or 1)


def over(dim: Dim, divisor: int) -> Dim:
    """``dim // divisor``."""
    return simplified(f"({dim})//{divisor}")
