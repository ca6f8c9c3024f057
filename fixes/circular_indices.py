"""Indices that go around the end of a tensor backwards: ``x[(2 - i) % n]``.

TVM lowers a remainder by a dimension last, when its sign is not known any more, as a truncating one
that it gives a variable and corrects. In an index that falls by 1 with each step of a loop the
variable gets two ranges: "Binding of variable rmod … conflicts with previous binding".

Here it is written before, while it is known what is a dimension and what loops go through: as the
number itself where it is below the dimension, as a truncating remainder where it cannot be
negative, which the prover says, and else as one with a correction that needs no variable. All
other divisions are left to TVM, which simplifies them while they round down.
"""

from typing import Any

from fixes import probes_of_kernels as probes
from fixes import prover, tvm_api_functions, tvm_api_kernels, tvm_api_shapes
from fixes.fix import Fix, ModulePass, Part
from fixes.tvm_api import PrimExpr, as_int, integer_like
from fixes.tvm_api_functions import Module
from fixes.tvm_api_kernels import Function
from fixes.tvm_api_shapes import variables


class _Known:
    """What is known of the variables of one function."""

    def __init__(self, function: Function) -> None:
        self.ranges = {one.variable: one for one in tvm_api_kernels.ranges(function)}
        self.sizes = tvm_api_kernels.sizes(function)
        self.sizes.update(v for v, one in self.ranges.items() if as_int(one.first) == 0)

    def proves(self, condition: PrimExpr) -> bool:
        """Whether ``condition`` is proved to hold, by what its variables go through."""
        used = [self.ranges[v] for v in variables(condition) if v in self.ranges]
        given = [one.variable < one.first + one.extent for one in used]
        every = {v for one in (condition, *given) for v in variables(one)}
        return prover.proves(condition, every - self.sizes, given)

    def falls(self, expression: PrimExpr) -> bool:
        """Whether ``expression`` becomes smaller by 1 with each step of a loop or an axis."""
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

FIX = Fix(
    name="circular_indices",
    operators=(),
    fault=(
        "a kernel does not compile in whose index is the remainder, by a symbolic dimension, of"
        " what becomes smaller by 1 with each step of a loop"
    ),
    issue=None,
    parts=(Part("remainders in indices", lambda: not probes.compiles_circular_indices()),),
    passes=(ModulePass(PASS, last=True),),
)
