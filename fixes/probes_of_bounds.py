"""What the running TVM knows, and makes, of the bounds of the symbols of shapes.

These are no faults that a fix cures, but questions of an old design discussion (apache/tvm#4487):
that a symbol is 0 or more could be asserted when a shape is bound, stated by an expression that
wraps others, be a property of the variable, or follow from the shapes that it is in. The kernel is
the one of that discussion: it reads ``x[i % n][i // n]``, and the question is whether a division
is the machine's, or has a correction for signs after it.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import tvm
from tvm import relax, te, tirx

from fixes import tvm_api, tvm_api_kernels, tvm_api_shapes
from fixes.probes_of_shapes import run
from fixes.tvm_api import Expr, PrimExpr

OP = relax.op
_TARGET = {"kind": "llvm", "opt-level": 0}


def _refuses(make: Callable[[PrimExpr], Expr], parameter: Expr, argument: Any) -> bool:
    """Whether a function of ``parameter`` fails at ``argument`` by an error that is one of TVM's.

    That memory could not be had says nothing of what is wrong.
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
    """Whether zeros of an input shape are refused where that is (-1,)."""
    n = tvm_api.shape_var("n")
    shape = relax.Var("s", tvm_api_shapes.shape_type([n]))
    zeros = OP.zeros(relax.ShapeExpr([n]), "float32")
    return _refuses(lambda s: zeros, shape, tvm.runtime.ShapeTuple([-1]))


def refuses_negative_dimensions() -> bool:
    """Whether zeros of n - 5 elements are refused where n is 2."""
    n = tvm_api.shape_var("n")
    x = relax.Var("x", tvm_api.tensor_type((n,), "float32"))
    zeros = OP.zeros(relax.ShapeExpr([n - 5]), "float32")
    return _refuses(lambda x: zeros, x, tvm.runtime.tensor(np.zeros(2, "float32")))


def _kernel(n: PrimExpr) -> tvm_api_kernels.Function:
    x = te.placeholder((n, n), "float32", "x")
    y = te.compute((n * n,), lambda i: x[tirx.floormod(i, n), tirx.floordiv(i, n)], "y")
    return te.create_prim_func([x, y])


def _rounds_towards_0(function: tvm_api_kernels.Function) -> bool:
    """Whether ``function`` has no correction for signs once its divisions are lowered."""
    return "Select" not in tvm_api_kernels.lowered_text(function)


def learns_from_buffers() -> bool:
    """Whether it is enough that n is a dimension of a buffer."""
    return _rounds_towards_0(_kernel(tvm_api.shape_var("n")))


def learns_from_assertions() -> bool:
    """Whether an assertion at the head of the kernel is enough."""
    function = _kernel(tvm_api.shape_var("n"))
    (n,) = tvm_api_kernels.sizes(function)
    body = tvm_api.asserting_body(function.body, [(n >= 1, "n is 0")])
    return _rounds_towards_0(function.with_body(body))


def learns_from_assumptions() -> bool:
    """Whether an assumption at the head of the kernel is enough."""
    function = _kernel(tvm_api.shape_var("n"))
    (n,) = tvm_api_kernels.sizes(function)
    assumption = tirx.Evaluate(tirx.assume(n >= 1))
    body = tvm_api.body_after(function.body, [assumption])
    return _rounds_towards_0(function.with_body(body))


def has_size_variables() -> bool:
    """Whether there is a kind of variable that is never negative."""
    return hasattr(tirx, "SizeVar")


def knows_size_variables() -> bool:
    """Whether the analyzer knows of one, without being told, that it is 0 or more."""
    return has_size_variables() and tvm_api.proves(tirx.SizeVar("n", "int64") >= 0)


def learns_from_size_variables() -> bool:
    """Whether it is enough that n is one."""
    return has_size_variables() and _rounds_towards_0(_kernel(tirx.SizeVar("n", "int64")))


def knows_dimensions() -> bool:
    """Whether the analyzer knows of any variable, without being told, that it is 0 or more."""
    return tvm_api.proves(tvm_api.shape_var("n") >= 0)


def has_bounded_expressions() -> bool:
    """Whether there is an operator that gives its operand, and states a bound of it."""
    names = map(str, tvm.ir.Op.list_op_names())
    return any(name.startswith(("tirx.", "prim.")) and "assert_bound" in name for name in names)


def _bounded(attribute: str, bound: int) -> Any:
    """A program of three operators on n elements, with ``attribute`` for n."""
    x = relax.Var("x", tvm_api.tensor_type((tvm_api.shape_var("n"),), "float32"))
    builder = relax.BlockBuilder()
    with builder.function("main", [x], attrs={attribute: {"n": bound}}):
        with builder.dataflow():
            one = builder.emit(OP.exp(x))
            other = builder.emit(OP.nn.relu(OP.negative(one)))
            result = builder.emit_output(OP.add(one, other))
        builder.emit_func_output(result)
    return builder.get()


def plans_by_upper_bounds() -> bool:
    """Whether the storage of what is computed in between is that of the bound, 32 bytes."""
    module = _bounded("tir_var_upper_bound", 8)
    for step in (relax.transform.LegalizeOps(), relax.transform.ToNonDataflow()):
        module = step(module)
    module = relax.transform.CallTIRRewrite()(relax.transform.RemovePurityChecking()(module))
    return "R.shape([32])" in str(relax.transform.StaticPlanBlockMemory()(module))


def enforces_upper_bounds() -> bool:
    """Whether 9 elements are refused where 8 are the bound."""
    return _is_refused(_bounded("tir_var_upper_bound", 8), 9)


def enforces_lower_bounds() -> bool:
    """Whether 2 elements are refused where 4 are the bound."""
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
"""By name."""
