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
"""

from typing import Any

from tvm import tirx

from fixes import probes_of_kernels as probes
from fixes import tvm_api_functions, tvm_api_kernels
from fixes.fix import Fix, ModulePass, Part
from fixes.tvm_api import PrimExpr, integer_like
from fixes.tvm_api_functions import Module
from fixes.tvm_api_kernels import Function
from fixes.tvm_api_shapes import variables

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


def _total(terms: list[_Term], like: PrimExpr) -> PrimExpr:
    """The sum of ``terms``, of the dtype of ``like``."""
    number = sum(factor * int(one) for factor, one in terms if isinstance(one, tirx.IntImm))
    found = integer_like(like, number)
    for factor, one in terms:
        if not isinstance(one, tirx.IntImm):
            found = found + one * integer_like(like, factor)
    return found


def _falling(dividend: PrimExpr, loops: set[PrimExpr]) -> tuple[PrimExpr, PrimExpr] | None:
    """(c, e): ``dividend`` is c - e, and e alone changes with ``loops``, all of it upwards.

    None where it is none, or where loops change nothing of it.
    """
    fixed: list[_Term] = []
    moving: list[_Term] = []
    for factor, one in _terms(dividend):
        if loops.intersection(variables(one)):
            moving.append((-factor, one))
        else:
            fixed.append((factor, one))
    if not moving or any(factor < 0 for factor, _ in moving):
        return None
    return _total(fixed, dividend), _total(moving, dividend)


def _divided(dividend: PrimExpr, k: int, loops: set[PrimExpr]) -> tuple[PrimExpr, PrimExpr] | None:
    """The quotient and the remainder by ``k`` as they are above; None where nothing falls."""
    found = _falling(dividend, loops)
    if found is None:
        return None
    base, rest = found
    number, last = integer_like(base, k), integer_like(base, k - 1)
    shifted = rest + (last - tirx.floormod(base, number))
    quotient = tirx.floordiv(base, number) - tirx.floordiv(shifted, number)
    return quotient, last - tirx.floormod(shifted, number)


def _counting_up(node: Any, loops: set[PrimExpr]) -> PrimExpr | None:
    """``node``, a quotient or a remainder, of what counts up by what is positive.

    None where it may stay.
    """
    divisor = int(node.b) if isinstance(node.b, tirx.IntImm) else 0
    which = 0 if isinstance(node, tirx.FloorDiv) else 1
    if divisor > 0:
        found = _divided(node.a, divisor, loops)
        return None if found is None else found[which]
    # Of what is unsigned there is no negative number; by 0 nothing is divided.
    if divisor == 0 or isinstance(node.a, tirx.IntImm):
        return None
    k = -divisor
    last = integer_like(node.a, k - 1)
    shifted = node.a + last
    quotient, remainder = _divided(shifted, k, loops) or (
        tirx.floordiv(shifted, integer_like(shifted, k)),
        tirx.floormod(shifted, integer_like(shifted, k)),
    )
    return integer_like(node.a, 0) - quotient if which == 0 else remainder - last


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
