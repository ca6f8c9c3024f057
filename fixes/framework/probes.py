"""The vocabulary of probes: small programs, their lowering, their results.

A probe asks the running TVM whether a fault shows, before a fix is put on. It makes one call,
lowers one call, or runs one pass over a program of one call. Where TVM lowers the call, the probe
compares the result with a few numbers: a release that lowers it to something else still has the
fault. Each probe stands in the file of its fix.
"""

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import tvm
from numpy.typing import NDArray
from tvm import relax, te

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework.fix import LEGALIZE
from relaxcheck.fixes.tvm_api import Call, Expr, PrimExpr, Tensor

Array = NDArray[Any]
Shape = tuple[Any, ...]
Make = Callable[..., Expr]
"""Builds a call from variables."""
Index = Callable[[PrimExpr, PrimExpr], PrimExpr]


def inputs(shapes: Sequence[Shape], dtypes: tuple[str, ...] = ()) -> list[Expr]:
    """Variables x0, x1, … of ``shapes``, float32 without ``dtypes``."""
    names = dtypes or ("float32",) * len(shapes)
    return [
        relax.Var(f"x{number}", tvm_api.tensor_type(shape, dtype))
        for number, (shape, dtype) in enumerate(zip(shapes, names, strict=True))
    ]


def program(make: Make, *shapes: Shape, dtypes: tuple[str, ...] = ()) -> Any:
    """A module whose ``main`` passes tensors of ``shapes``, float32 by default, to ``make``."""
    builder = relax.BlockBuilder()
    variables = inputs(shapes, dtypes)
    with builder.function("main", variables):
        with builder.dataflow():
            result = builder.emit_output(builder.emit(make(*variables)))
        builder.emit_func_output(result)
    return builder.get()


def gathering(index: Index, size: int | None = None) -> Any:
    """A program of one kernel: element i of the result is element ``index(i, n)`` of n float32.

    n is ``size``, or symbolic.
    """
    extent = tvm_api.shape_var("n") if size is None else size
    x = relax.Var("x", tvm_api.tensor_type((extent,), "float32"))

    def compute(data: Tensor) -> Tensor:
        n = data.shape[0]
        return te.compute((n,), lambda i: data[index(i, n)], "y")

    builder = relax.BlockBuilder()
    with builder.function("main", [x]):
        with builder.dataflow():
            result = builder.emit_output(builder.call_te(compute, x))
        builder.emit_func_output(result)
    return builder.get()


def one_call(make: Make, *shapes: Shape, dtypes: tuple[str, ...] = ()) -> Call:
    """The typed call that ``make`` builds from tensors of ``shapes``."""
    return relax.BlockBuilder().normalize(make(*inputs(shapes, dtypes)))


def calls(module: Any) -> list[Call]:
    """The operator calls in ``main`` of ``module``, in order."""
    calls: list[Call] = []

    def visit(expr: Expr) -> None:
        if isinstance(expr, relax.Call) and isinstance(expr.op, tvm.ir.Op):
            calls.append(expr)

    relax.analysis.post_order_visit(module["main"], visit)
    return calls


def lowered(call: Call) -> tuple[Any, str] | None:
    """The function that the operator's legalization lowers ``call`` to, and its output dtype.

    None where it raises. This calls the legalization directly: an exception within the pass would
    leave warnings on stderr.
    """
    builder = relax.BlockBuilder()
    try:
        result = call.op.get_attr(LEGALIZE)(builder, call)
    except Exception:
        return None
    if result.op.name != "relax.call_tir":
        return None
    dtype = tvm_api.dtype_of(builder.normalize(result))
    return builder.get()[result.args[0]], dtype


def is_lowered(call: Call) -> bool:
    """True if the legalization lowers ``call``, to whatever."""
    return lowered(call) is not None


def computes(call: Call, arrays: Sequence[Array], expected: Array) -> bool:
    """True if the lowered ``call`` computes ``expected`` from ``arrays``, in the call's dtype.

    The shapes of ``arrays`` give symbolic dimensions their values. The tolerance is wide: wrong
    results are far from right ones. An exception means False.
    """
    function = lowered(call)
    dtype = tvm_api.dtype_of(call)
    if function is None or function[1] != dtype:
        return False
    output = np.full(expected.shape, 7).astype(dtype)
    try:
        run = tvm_api.compiled(function[0])
        actual = run(*arrays, output)
    except Exception:
        return False
    return np.allclose(actual.astype("float64"), expected, rtol=1e-2, atol=1e-2)


def sums_are_initialized(call: Call) -> bool:
    """True if ``call`` is lowered, and no step of it reduces over an empty axis.

    A reduction without iterations never writes its output.
    """
    function = lowered(call)
    if function is None:
        return False
    extents = tvm_api.reduction_extents(function[0])
    return all(tvm_api.proves(extent >= 1) for extent in extents)


def is_refused(make: Callable[[], object], operator: str, *terms: str) -> bool:
    """True if ``make()`` raises an error that names ``operator`` and one of ``terms``.

    Spelling does not count: ``Conv2dTranspose``, ``output padding``.
    """
    try:
        make()
    except Exception as error:
        message = _squashed(str(error))
        return _squashed(operator) in message and any(_squashed(term) in message for term in terms)
    return False


def _squashed(text: str) -> str:
    return re.sub(r"[^0-9a-z]", "", text.lower())


def goes_through(one_pass: Any, module: Any) -> bool:
    """True if the pass does not fail on ``module``."""
    try:
        one_pass(module)
    except Exception:
        return False
    return True


def _pipeline(target: Any | None) -> Any:
    """TVM's default pipeline for ``target``; without one, that of ``relax.build``."""
    if target is None:
        return relax.get_pipeline("default_build")
    return relax.get_default_pipeline(target)


PIPELINE: Callable[[Any | None], Any] = _pipeline
"""The pipeline that probes compile with, by target; with that of the fixes they probe the fixes."""

TARGET = {"kind": "llvm", "opt-level": 0}


def run(module: Any, *arrays: Array) -> Array:
    """The result of ``main`` of ``module``, compiled by ``relax.build`` without fusion.

    Raises:
        Exception: TVM's own, where it cannot compile or run the module.
    """
    return _run(module, PIPELINE(None), arrays)


def run_fused(module: Any, *arrays: Array) -> Array:
    """The same, compiled by the default pipeline for a CPU, which fuses."""
    return _run(module, PIPELINE(tvm.target.Target(TARGET)), arrays)


def _run(module: Any, pipeline: Any, arrays: Sequence[Array]) -> Array:
    target = tvm.target.Target(TARGET)
    executable = relax.build(module, target, relax_pipeline=pipeline)
    machine = relax.VirtualMachine(executable, tvm.cpu())
    return np.asarray(machine["main"](*map(tvm.runtime.tensor, arrays)).numpy())
