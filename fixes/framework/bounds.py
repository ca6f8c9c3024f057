"""Questions about how the running TVM uses the bounds of shape symbols.

No fix cures these; they come from an old design discussion (apache/tvm#4487). It proposed that
nonnegative symbols could be asserted when a shape is bound, stated by a wrapping expression, be a
property of the variable, or follow from the shapes that contain them. The kernel is from that
discussion: it reads ``x[i % n][i // n]``. The question is whether TVM emits plain machine division,
or adds a correction for signs.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import tvm
from tvm import relax, te, tirx

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework.probes import run
from relaxcheck.fixes.tvm_api import Expr, PrimExpr
from relaxcheck.fixes.tvm_api import kernels as tvm_api_kernels
from relaxcheck.fixes.tvm_api import shapes as tvm_api_shapes

OP = relax.op
_TARGET = {"kind": "llvm", "opt-level": 0}


def _refuses(make: Callable[[PrimExpr], Expr], parameter: Expr, argument: Any) -> bool:
    """True if a function of ``parameter`` fails at ``argument`` with a deliberate error.

    Running out of memory does not count: it says nothing about the cause.
    """
    builder = relax.BlockBuilder()
    with builder.function("main", [parameter]):
        builder.emit_func_output(builder.emit(make(parameter)))
    executable = relax.build(builder.get(), tvm.target.Target(_TARGET))
    try:
        relax.VirtualMachine(executable, tvm.cpu())["main"](argument)
    except Exception as error:
        return "bad_alloc" not in str(error)
    return False


def refuses_negative_shapes() -> bool:
    """True if zeros of an input shape are refused for shape (-1,)."""
    n = tvm_api.shape_var("n")
    shape = relax.Var("s", tvm_api_shapes.shape_type([n]))
    zeros = OP.zeros(relax.ShapeExpr([n]), "float32")
    return _refuses(lambda s: zeros, shape, tvm.runtime.ShapeTuple([-1]))


def refuses_negative_dimensions() -> bool:
    """True if zeros of n - 5 elements are refused for n = 2."""
    n = tvm_api.shape_var("n")
    x = relax.Var("x", tvm_api.tensor_type((n,), "float32"))
    zeros = OP.zeros(relax.ShapeExpr([n - 5]), "float32")
    return _refuses(lambda x: zeros, x, tvm.runtime.tensor(np.zeros(2, "float32")))


def _kernel(n: PrimExpr) -> tvm_api_kernels.Function:
    x = te.placeholder((n, n), "float32", "x")
    y = te.compute((n * n,), lambda i: x[tirx.floormod(i, n), tirx.floordiv(i, n)], "y")
    return te.create_prim_func([x, y])


def _rounds_towards_0(function: tvm_api_kernels.Function) -> bool:
    """True if ``function`` has no correction for signs once its divisions are lowered."""
    return "Select" not in tvm_api_kernels.lowered_text(function)


def learns_from_buffers() -> bool:
    """True if it suffices that n is a dimension of a buffer."""
    return _rounds_towards_0(_kernel(tvm_api.shape_var("n")))


def learns_from_assertions() -> bool:
    """True if an assertion at the head of the kernel suffices."""
    function = _kernel(tvm_api.shape_var("n"))
    (n,) = tvm_api_kernels.sizes(function)
    body = tvm_api.asserting_body(function.body, [(n >= 1, "n is 0")])
    return _rounds_towards_0(function.with_body(body))


def learns_from_assumptions() -> bool:
    """True if an assumption at the head of the kernel suffices."""
    function = _kernel(tvm_api.shape_var("n"))
    (n,) = tvm_api_kernels.sizes(function)
    assumption = tirx.Evaluate(tirx.assume(n >= 1))
    body = tvm_api.body_after(function.body, [assumption])
    return _rounds_towards_0(function.with_body(body))


def has_size_variables() -> bool:
    """True if there is a class of nonnegative variables."""
    return hasattr(tirx, "SizeVar")


def knows_size_variables() -> bool:
    """True if the analyzer knows without help that such a variable is 0 or more."""
    return has_size_variables() and tvm_api.proves(tirx.SizeVar("n", "int64") >= 0)


def learns_from_size_variables() -> bool:
    """True if it suffices that n is such a variable."""
    return has_size_variables() and _rounds_towards_0(_kernel(tirx.SizeVar("n", "int64")))


def knows_dimensions() -> bool:
    """True if the analyzer knows without help that any variable is 0 or more."""
    return tvm_api.proves(tvm_api.shape_var("n") >= 0)


def has_bounded_expressions() -> bool:
    """True if there is an operator that returns its operand and states a bound of it."""
    names = map(str, tvm.ir.Op.list_op_names())
    return any(name.startswith(("tirx.", "prim.")) and "assert_bound" in name for name in names)


def _bounded(attribute: str, bound: int) -> Any:
    """A program of three operators on n elements, with function attribute ``attribute`` for n."""
    x = relax.Var("x", tvm_api.tensor_type((tvm_api.shape_var("n"),), "float32"))
    builder = relax.BlockBuilder()
    with builder.function("main", [x], attrs={attribute: {"n": bound}}):
        with builder.dataflow():
            exponential = builder.emit(OP.exp(x))
            other = builder.emit(OP.nn.relu(OP.negative(exponential)))
            result = builder.emit_output(OP.add(exponential, other))
        builder.emit_func_output(result)
    return builder.get()


def plans_by_upper_bounds() -> bool:
    """True if intermediate results get storage for the bound, 32 bytes."""
    module = _bounded("tir_var_upper_bound", 8)
    for step in (relax.transform.LegalizeOps(), relax.transform.ToNonDataflow()):
        module = step(module)
    module = relax.transform.CallTIRRewrite()(relax.transform.RemovePurityChecking()(module))
    return "R.shape([32])" in str(relax.transform.StaticPlanBlockMemory()(module))


def enforces_upper_bounds() -> bool:
    """True if 9 elements are refused under an upper bound of 8."""
    return _is_refused(_bounded("tir_var_upper_bound", 8), 9)


def enforces_lower_bounds() -> bool:
    """True if 2 elements are refused under a lower bound of 4."""
    return _is_refused(_bounded("tir_var_lower_bound", 4), 2)


def _is_refused(module: Any, size: int) -> bool:
    try:
        run(module, np.zeros(size, "float32"))
    except Exception:
        return True
    return False


QUESTIONS: dict[str, Callable[[], bool]] = {
    question.__name__: question
    for question in (
        refuses_negative_shapes,
        refuses_negative_dimensions,
        learns_from_assertions,
        has_bounded_expressions,
        learns_from_assumptions,
        has_size_variables,
        knows_size_variables,
        learns_from_size_variables,
        knows_dimensions,
        learns_from_buffers,
        plans_by_upper_bounds,
        enforces_upper_bounds,
        enforces_lower_bounds,
    )
}
"""The questions by name."""
