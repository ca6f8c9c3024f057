"""Indices that count down and are divided: ``x[(7 - i) // 2]``, ``x[(7 - i) % 2]``.

Where buffers are flattened TVM writes indices as sums of iterators. One with a negative factor that
divides the divisor makes the divisor negative: ``(7 - i) // 2`` becomes ``3 + i // -2``, which is 2
at i = 1, and not 3. So does a divisor that is negative from the start.

Here such quotients and remainders are written with what counts up alone, before any pass of TVM's
sees them in an index. Let ``c`` be what no loop changes, ``k`` the divisor, a positive number, and
``c == k * q + r`` with ``0 <= r < k``. Then for every integer ``e``

    (c - e) // k  ==  q + (r - e) // k              since k * q can be taken out
                  ==  q - (e + (k - 1 - r)) // k    since x // k == -((k - 1 - x) // k)

for ``ceil(y / k)`` is ``(y + k - 1) // k``, and ``x // k`` is ``-ceil(-x / k)``. Let now
``m == e + (k - 1 - r)`` be ``k * t + s`` with ``0 <= s < k``. Then
``c - e == k * q + (k - 1) - m == k * (q - t) + (k - 1 - s)``, so that

    (c - e) % k  ==  (k - 1) - (e + (k - 1 - r)) % k

A divisor that is negative goes the same way, with c = 0, for ``e // -k`` is ``(0 - e) // k`` and
``e % -k`` is ``-((0 - e) % k)``:

    e // -k  ==  -((e + (k - 1)) // k)
    e % -k   ==  (e + (k - 1)) % k - (k - 1)

What is added is below the divisor: only near the last number of the dtype does that overflow.

Where some loops make it larger and others smaller, c would change as well, and its remainder would
count down. There each term ``-f * e`` gets a factor that is none below 0, by as many whole divisors
as it takes. Let ``h == ceil(f / k)`` and ``g == k * h - f``, so that ``0 <= g < k`` (it is
``-f % k``) and ``-f * e == g * e - k * (h * e)``. Then with ``u``, which counts up,

    (u - f * e) // k  ==  (u + g * e) // k - h * e
    (u - f * e) % k   ==  (u + g * e) % k

for every integer e, and so for a sum of such terms. Here k times what e becomes has to fit, which
is why what only falls is written the other way.

What is unsigned stays as it is, as it counts modulo a power of two; so does what would need a
number that its dtype does not have.
"""

from dataclasses import dataclass
from typing import Any

from tvm import tirx

from fixes import probes_of_kernels as probes
from fixes import tvm_api_functions, tvm_api_kernels
from fixes.fix import Fix, ModulePass, Part
from fixes.tvm_api import PrimExpr, dtype_of, integer_like
from fixes.tvm_api_functions import Module
from fixes.tvm_api_kernels import Function
from fixes.tvm_api_shapes import variables

_BITS = {f"int{bits}": bits for bits in (8, 16, 32, 64)}
"""Of each signed dtype."""

_Term = tuple[int, PrimExpr]
"""A factor, and what is multiplied by it."""


def _terms(expression: PrimExpr, factor: int = 1) -> list[_Term]:
    """What ``expression``, ``factor`` times, is the sum of; numbers are factors of 1."""
    if isinstance(expression, tirx.Add | tirx.Sub):
        sign = -1 if isinstance(expression, tirx.Sub) else 1
        return _terms(expression.a, factor) + _terms(expression.b, sign * factor)
    if isinstance(expression, tirx.Mul):
        for one, other in ((expression.a, expression.b), (expression.b, expression.a)):
            if isinstance(other, tirx.IntImm):
                return _terms(one, factor * int(other))
    return [(factor, expression)]


class _DoesNotFitError(Exception):
    """A number is none of its dtype."""


def _number(like: PrimExpr, number: int) -> PrimExpr:
    """``number`` as an immediate of the dtype of ``like``, which is signed.

    Raises:
        _DoesNotFitError: the dtype has no such number.
    """
    beyond = 1 << (_BITS[dtype_of(like)] - 1)
    if not -beyond <= number < beyond:
        raise _DoesNotFitError
    return integer_like(like, number)


def _total(terms: list[_Term], like: PrimExpr) -> PrimExpr:
    """The sum of ``terms``, of the dtype of ``like``."""
    number = sum(factor * int(one) for factor, one in terms if isinstance(one, tirx.IntImm))
    found = _number(like, number)
    for factor, one in terms:
        if factor and not isinstance(one, tirx.IntImm):
            found = found + one * _number(like, factor)
    return found


@dataclass(frozen=True, slots=True)
class _Parts:
    """The terms of a dividend: what no loop changes, what counts up, and what is taken away."""

    fixed: list[_Term]
    rising: list[_Term]
    taken: list[_Term]


def _parts(dividend: PrimExpr, loops: set[PrimExpr]) -> _Parts:
    found = _Parts([], [], [])
    for factor, one in _terms(dividend):
        if not loops.intersection(variables(one)):
            found.fixed.append((factor, one))
        elif factor < 0:
            found.taken.append((-factor, one))
        else:
            found.rising.append((factor, one))
    return found


def _divided(dividend: PrimExpr, k: int, loops: set[PrimExpr]) -> tuple[PrimExpr, PrimExpr] | None:
    """The quotient and the remainder by ``k`` as they are above; None where nothing falls."""
    parts = _parts(dividend, loops)
    if not parts.taken:
        return None
    number, last = _number(dividend, k), _number(dividend, k - 1)
    if parts.rising:
        up = [(-factor % k, one) for factor, one in parts.taken]
        whole = [(-(-factor // k), one) for factor, one in parts.taken]
        total = _total([*parts.fixed, *parts.rising, *up], dividend)
        quotient = tirx.floordiv(total, number) - _total(whole, dividend)
        return quotient, tirx.floormod(total, number)
    base = _total(parts.fixed, dividend)
    shifted = _total(parts.taken, dividend) + (last - tirx.floormod(base, number))
    quotient = tirx.floordiv(base, number) - tirx.floordiv(shifted, number)
    return quotient, last - tirx.floormod(shifted, number)


def _counting_up(node: Any, loops: set[PrimExpr]) -> PrimExpr | None:
    """``node``, a quotient or a remainder, of what counts up by what is positive.

    None where it may stay.
    """
    if not isinstance(node.b, tirx.IntImm) or dtype_of(node) not in _BITS:
        return None
    try:
        found = _quotient_and_remainder(node.a, int(node.b), loops)
    except _DoesNotFitError:
        return None
    return found and found[0 if isinstance(node, tirx.FloorDiv) else 1]


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
    loops = {one.variable for one in tvm_api_kernels.ranges(function)}
    return tvm_api_kernels.with_divisions(function, lambda node: _counting_up(node, loops))


def _run(module: Module, context: Any) -> Module:
    return tvm_api_kernels.with_functions(module, _rewritten)


PASS = tvm_api_functions.module_pass("WriteFallingIndices", _run)

FIX = Fix(
    name="falling_indices",
    operators=(),
    fault=(
        "a kernel reads or writes elsewhere than its index says where that is the quotient or the"
        " remainder, by a number, of what becomes smaller with each step of a loop, or where the"
        " number is negative"
    ),
    issue=None,
    parts=(Part("divisions in indices", lambda: not probes.divides_falling_indices()),),
    passes=(ModulePass(PASS, last=True),),
)
