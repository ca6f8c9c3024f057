"""Indices that run backwards around the end of a tensor: ``x[(2 - i) % n]``.

TVM lowers a remainder by a dimension late, when its sign is no longer known: as a truncating
remainder that is bound to a variable and corrected. In an index that falls by 1 with each step of a
loop, the variable gets two ranges: "Binding of variable rmod … conflicts with previous binding".

This pass rewrites such remainders earlier, while dimensions and loop ranges are known: to the
dividend if it is below the dimension, to a truncating remainder if it cannot be negative, both as
proved by the prover, and otherwise to one with a correction that needs no variable. It leaves all
other divisions to TVM, which simplifies them as long as they round down.
"""

from typing import Any

import numpy as np

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework import probes
from relaxcheck.fixes.framework.fix import FaultPart, Fix, ModulePass
from relaxcheck.fixes.proving import prover
from relaxcheck.fixes.tvm_api import PrimExpr, as_int, integer_like
from relaxcheck.fixes.tvm_api import functions as tvm_api_functions
from relaxcheck.fixes.tvm_api import kernels as tvm_api_kernels
from relaxcheck.fixes.tvm_api import shapes as tvm_api_shapes
from relaxcheck.fixes.tvm_api.functions import Module
from relaxcheck.fixes.tvm_api.kernels import Function
from relaxcheck.fixes.tvm_api.shapes import variables


class _Known:
    """Knowledge about the variables of one function."""

    def __init__(self, function: Function) -> None:
        self.ranges = {loop.variable: loop for loop in tvm_api_kernels.ranges(function)}
        self.sizes = tvm_api_kernels.sizes(function)
        self.sizes.update(v for v, loop in self.ranges.items() if as_int(loop.first) == 0)

    def proves(self, condition: PrimExpr) -> bool:
        """True if ``condition`` is proved from the ranges of its variables."""
        used = [self.ranges[v] for v in variables(condition) if v in self.ranges]
        bounds = [loop.variable < loop.first + loop.extent for loop in used]
        every = {v for known in (condition, *bounds) for v in variables(known)}
        return prover.proves(condition, every - self.sizes, bounds)

    def falls(self, expression: PrimExpr) -> bool:
        """True if ``expression`` falls by 1 with each step of a loop or axis."""
        forms = [
            tvm_api_shapes.linear(expression, variable)
            for variable in variables(expression)
            if variable in self.ranges
        ]
        return any(form is not None and as_int(form[0]) == -1 for form in forms)


def _rewritten(function: Function) -> Function:
    known = _Known(function)

    def replaced(node: Any) -> PrimExpr | None:
        dividend, divisor = node.a, node.b
        nothing = integer_like(dividend, 0)
        if as_int(divisor) is not None or not known.falls(dividend):
            return None
        if not known.proves(divisor >= nothing):
            return None
        remainder = tvm_api_shapes.truncated_remainder(dividend, divisor)
        if not known.proves(dividend >= nothing):
            return remainder + tvm_api_shapes.select(remainder < nothing, divisor, nothing)
        return dividend if known.proves(dividend < divisor) else remainder

    return tvm_api_kernels.with_remainders(function, replaced)


def _run(module: Module, context: Any) -> Module:
    return tvm_api_kernels.with_functions(module, _rewritten)


PASS = tvm_api_functions.module_pass("WriteCircularIndices", _run)


def compiles_circular_indices() -> bool:
    """True if a kernel that reads its input backwards, from 2 and around its end, compiles."""
    module = probes.gathering(lambda i, n: tvm_api.floormod(2 - i, n))
    try:
        return bool((probes.run(module, np.arange(4, dtype="float32")) == [2, 1, 0, 3]).all())
    except Exception:
        return False


FIX = Fix(
    name="circular_indices",
    operators=(),
    fault=(
        "a kernel does not compile if its index is the remainder, by a symbolic dimension, of an"
        " expression that falls by 1 with each step of a loop"
    ),
    issue=None,
    parts=(FaultPart("remainders in indices", lambda: not compiles_circular_indices()),),
    passes=(ModulePass(PASS, last=True),),
    after="shape_order",
)
