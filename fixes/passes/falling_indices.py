"""Indices that count down and are divided: ``x[(7 - i) // 2]``, ``x[(7 - i) % 2]``.

When TVM flattens buffers it writes indices as sums of iterators. An iterator with a negative factor
that divides the divisor turns the divisor negative: ``(7 - i) // 2`` becomes ``3 + i // -2``, which
is 2 at i = 1, not 3. A divisor that is negative from the start has the same effect.

This pass rewrites such quotients and remainders in terms that only count up, before any pass of TVM
sees them in an index. Let ``c`` be the part that no loop changes, ``k`` the positive divisor, and
``c == k * q + r`` with ``0 <= r < k``. Then for every integer ``e``

    (c - e) // k  ==  q + (r - e) // k              since k * q can be taken out
                  ==  q - (e + (k - 1 - r)) // k    since x // k == -((k - 1 - x) // k)

because ``ceil(y / k)`` is ``(y + k - 1) // k``, and ``x // k`` is ``-ceil(-x / k)``. Now let ``m ==
e + (k - 1 - r)`` be ``k * t + s`` with ``0 <= s < k``. Then ``c - e == k * q + (k - 1) - m == k *
(q - t) + (k - 1 - s)``, so that

    (c - e) % k  ==  (k - 1) - (e + (k - 1 - r)) % k

A negative divisor is treated the same way, with c = 0, since ``e // -k`` is ``(0 - e) // k`` and
``e % -k`` is ``-((0 - e) % k)``:

    e // -k  ==  -((e + (k - 1)) // k)
    e % -k   ==  (e + (k - 1)) % k - (k - 1)

The added number is below the divisor, so it overflows only near the end of the dtype.

If some loops raise the dividend and others lower it, c changes as well, and its remainder would
count down. In that case each term ``-f * e`` gets a nonnegative factor, by adding multiples of the
divisor. Let ``h == ceil(f / k)`` and ``g == k * h - f``, so that ``0 <= g < k`` (g is ``-f % k``)
and ``-f * e == g * e - k * (h * e)``. With ``u``, which counts up,

    (u - f * e) // k  ==  (u + g * e) // k - h * e
    (u - f * e) % k   ==  (u + g * e) % k

for every integer e, and so for a sum of such terms. Here k times the range of e must fit into the
dtype, which is why dividends that only fall are rewritten the other way.

Unsigned expressions stay as they are, since they count modulo a power of two. So do expressions
that would need a number outside their dtype.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from tvm import tirx

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework import probes
from relaxcheck.fixes.framework.fix import FaultPart, Fix, ModulePass
from relaxcheck.fixes.tvm_api import PrimExpr, dtype_of, integer_like
from relaxcheck.fixes.tvm_api import functions as tvm_api_functions
from relaxcheck.fixes.tvm_api import kernels as tvm_api_kernels
from relaxcheck.fixes.tvm_api.functions import Module
from relaxcheck.fixes.tvm_api.kernels import Function
from relaxcheck.fixes.tvm_api.shapes import variables

_BITS = {f"int{bits}": bits for bits in (8, 16, 32, 64)}
"""The width of each signed dtype."""

_Term = tuple[int, PrimExpr]
"""A factor and an expression to multiply by it."""


def _terms(expression: PrimExpr, factor: int = 1) -> list[_Term]:
    """The terms of ``expression`` times ``factor``; numbers have factor 1."""
    if isinstance(expression, tirx.Add | tirx.Sub):
        sign = -1 if isinstance(expression, tirx.Sub) else 1
        return _terms(expression.a, factor) + _terms(expression.b, sign * factor)
    if isinstance(expression, tirx.Mul):
        for operand, other in ((expression.a, expression.b), (expression.b, expression.a)):
            if isinstance(other, tirx.IntImm):
                return _terms(operand, factor * int(other))
    return [(factor, expression)]


class _DoesNotFitError(Exception):
    """A number is outside its dtype."""


def _number(like: PrimExpr, number: int) -> PrimExpr:
    """The immediate ``number`` of the dtype of ``like``, which is signed.

    Raises:
        _DoesNotFitError: the number is outside the dtype.
    """
    beyond = 1 << (_BITS[dtype_of(like)] - 1)
    if not -beyond <= number < beyond:
        raise _DoesNotFitError
    return integer_like(like, number)


def _total(terms: list[_Term], like: PrimExpr) -> PrimExpr:
    """The sum of ``terms``, in the dtype of ``like``."""
    number = sum(factor * int(term) for factor, term in terms if isinstance(term, tirx.IntImm))
    total = _number(like, number)
    for factor, term in terms:
        if factor and not isinstance(term, tirx.IntImm):
            total = total + term * _number(like, factor)
    return total


@dataclass(frozen=True, slots=True)
class _Parts:
    """The terms of a dividend: fixed in all loops, added, and subtracted."""

    fixed: list[_Term]
    rising: list[_Term]
    taken: list[_Term]


def _parts(dividend: PrimExpr, loops: set[PrimExpr]) -> _Parts:
    parts = _Parts([], [], [])
    for factor, term in _terms(dividend):
        if not loops.intersection(variables(term)):
            parts.fixed.append((factor, term))
        elif factor < 0:
            parts.taken.append((-factor, term))
        else:
            parts.rising.append((factor, term))
    return parts


def _divided(dividend: PrimExpr, k: int, loops: set[PrimExpr]) -> tuple[PrimExpr, PrimExpr] | None:
    """Quotient and remainder by ``k``, as derived above; None if nothing falls."""
    parts = _parts(dividend, loops)
    if not parts.taken:
        return None
    number, last = _number(dividend, k), _number(dividend, k - 1)
    if parts.rising:
        up = [(-factor % k, term) for factor, term in parts.taken]
        whole = [(-(-factor // k), term) for factor, term in parts.taken]
        total = _total([*parts.fixed, *parts.rising, *up], dividend)
        quotient = tirx.floordiv(total, number) - _total(whole, dividend)
        return quotient, tirx.floormod(total, number)
    base = _total(parts.fixed, dividend)
    shifted = _total(parts.taken, dividend) + (last - tirx.floormod(base, number))
    quotient = tirx.floordiv(base, number) - tirx.floordiv(shifted, number)
    return quotient, last - tirx.floormod(shifted, number)


def _counting_up(node: Any, loops: set[PrimExpr]) -> PrimExpr | None:
    """The quotient or remainder ``node`` in terms that count up, with a positive divisor.

    None if it may stay.
    """
    if not isinstance(node.b, tirx.IntImm) or dtype_of(node) not in _BITS:
        return None
    try:
        rewritten = _quotient_and_remainder(node.a, int(node.b), loops)
    except _DoesNotFitError:
        return None
    return rewritten and rewritten[0 if isinstance(node, tirx.FloorDiv) else 1]


def _quotient_and_remainder(
    dividend: PrimExpr, divisor: int, loops: set[PrimExpr]
) -> tuple[PrimExpr, PrimExpr] | None:
    if divisor > 0:
        return _divided(dividend, divisor, loops)
    if divisor == 0 or isinstance(dividend, tirx.IntImm):
        return None
    k, last = -divisor, _number(dividend, -divisor - 1)
    shifted = dividend + last
    quotient, remainder = _divided(shifted, k, loops) or (
        tirx.floordiv(shifted, _number(shifted, k)),
        tirx.floormod(shifted, _number(shifted, k)),
    )
    return _number(dividend, 0) - quotient, remainder - last


def _rewritten(function: Function) -> Function:
    loops = {loop.variable for loop in tvm_api_kernels.ranges(function)}
    return tvm_api_kernels.with_divisions(function, lambda node: _counting_up(node, loops))


def _run(module: Module, context: Any) -> Module:
    return tvm_api_kernels.with_functions(module, _rewritten)


PASS = tvm_api_functions.module_pass("WriteFallingIndices", _run)


def divides_falling_indices() -> bool:
    """True if kernels read the right elements at quotients and remainders of a falling index."""
    quotient = probes.gathering(lambda i, n: tvm_api.floordiv(3 - i, 2), 4)
    remainder = probes.gathering(lambda i, n: tvm_api.floormod(3 - i, 2), 4)
    array = np.arange(4, dtype="float32")
    return bool(
        (probes.run(quotient, array) == [1, 1, 0, 0]).all()
        and (probes.run(remainder, array) == [1, 0, 1, 0]).all()
    )


FIX = Fix(
    name="falling_indices",
    operators=(),
    fault=(
        "a kernel accesses wrong elements if its index is a quotient or remainder, by a number, of"
        " an expression that falls with a loop, or if the number is negative"
    ),
    issue=None,
    parts=(FaultPart("divisions in indices", lambda: not divides_falling_indices()),),
    passes=(ModulePass(PASS, last=True),),
    after="circular_indices",
)
