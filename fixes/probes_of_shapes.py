"""What the running TVM makes of symbolic dimensions that do not go together, or are 0."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import tvm
from tvm import relax, te

from fixes import tvm_api
from fixes.probes import Array, Make, Shape, inputs, lowered, one_call, program
from fixes.tvm_api import Call


def _pipeline(target: Any | None) -> Any:
    """TVM's default pipeline for ``target``; without one, that of ``relax.build``."""
    if target is None:
        return relax.get_pipeline("default_build")
    return relax.get_default_pipeline(target)


PIPELINE: Callable[[Any | None], Any] = _pipeline
"""Of a target, what a probe compiles with; with that of the fixes, it asks them."""


_TARGET = {"kind": "llvm", "opt-level": 0}


def run(module: Any, *arrays: Array) -> Array:
    """What ``main`` of ``module`` returns, compiled by ``relax.build`` as it is.

    Raises:
        Exception: whatever TVM says where it cannot compile or run it.
    """
    return _run(module, PIPELINE(None), arrays)


def run_fused(module: Any, *arrays: Array) -> Array:
    """The same, compiled by the default pipeline for a CPU, which fuses."""
    return _run(module, PIPELINE(tvm.target.Target(_TARGET)), arrays)


def _run(module: Any, pipeline: Any, arrays: Sequence[Array]) -> Array:
    target = tvm.target.Target(_TARGET)
    executable = relax.build(module, target, relax_pipeline=pipeline)
    machine = relax.VirtualMachine(executable, tvm.cpu())
    return np.asarray(machine["main"](*map(tvm.runtime.tensor, arrays)).numpy())


def refuses(make: Make, shapes: Sequence[Shape], sizes: Sequence[Sequence[int]]) -> bool:
    """Whether the call that ``make`` makes of inputs of ``shapes`` fails at these sizes."""
    module = program(make, *shapes)
    try:
        run(module, *(np.zeros(size, "float32") for size in sizes))
    except Exception:
        return True
    return False


def refuses_products() -> bool:
    """Whether a product whose contracted dimensions differ fails; no read is out of bounds."""
    k, n = tvm_api.shape_var("k"), tvm_api.shape_var("n")
    return refuses(relax.op.matmul, [(1, k), (n, 1)], [(1, 1), (2, 1)])


def refuses_channels() -> bool:
    """Whether a convolution fails whose kernel has more channels than its data."""
    c, d = tvm_api.shape_var("c"), tvm_api.shape_var("d")
    return refuses(relax.op.nn.conv1d, [(1, c, 3), (1, d, 2)], [(1, 1, 3), (1, 2, 2)])


def refuses_windows() -> bool:
    """Whether pooling fails where no window fits into the input."""
    n = tvm_api.shape_var("n")
    return refuses(lambda x: relax.op.nn.avg_pool1d(x, (3,)), [(1, 1, n)], [(1, 1, 2)])


def tells_negative_extents() -> bool:
    """Whether the error that a tensor of n - 5 elements is, n being 3, tells the extent."""
    n = tvm_api.shape_var("n")
    module = program(lambda x: relax.op.zeros((n - 5,), "float32"), (n,))
    try:
        run(module, np.zeros(3, "float32"))
    except Exception as error:
        return "-2" in str(error)
    return False


def loads_empty_constants() -> bool:
    """Whether a module can be loaded that folds to a constant without elements, and to no code."""
    module = program(lambda x: relax.op.zeros((2, 0), "float32"), (1,))
    try:
        return run_fused(module, np.zeros(1, "float32")).shape == (2, 0)
    except tvm.error.InternalError:
        return False


def refuses_reshapes() -> bool:
    """Whether a reshape to fewer elements fails."""
    n = tvm_api.shape_var("n")
    return refuses(lambda x: relax.op.reshape(x, (-1, 2)), [(n,)], [(5,)])


def _casts(dims: Shape, wanted: Shape, size: Sequence[int]) -> bool:
    """Whether a match_cast of ``dims`` to ``wanted`` compiles, and does not fail at ``size``."""
    builder = relax.BlockBuilder()
    x = relax.Var("x", tvm_api.tensor_type(dims, "float32"))
    with builder.function("main", [x]):
        with builder.dataflow():
            cast = builder.match_cast(x, tvm_api.tensor_type(wanted, "float32"))
            result = builder.emit_output(relax.op.negative(cast))
        builder.emit_func_output(result)
    try:
        run(builder.get(), np.zeros(size, "float32"))
    except Exception:
        return False
    return True


def refuses_casts() -> bool:
    """Whether a match_cast fails whose dimensions are not each other's."""
    m, n = tvm_api.shape_var("m"), tvm_api.shape_var("n")
    return not _casts((m, n), (n, m), (1, 2))


def casts_to_own_symbol() -> bool:
    """Whether a dimension is cast to a symbol that it is made of."""
    m, n = tvm_api.shape_var("m"), tvm_api.shape_var("n")
    return _casts((m * 2, m), (m, n), (0, 0))


def finds_symbols() -> bool:
    """Whether a symbol is found whose double is the one dimension of the one input."""
    half = tvm_api.shape_var("m")
    zeros = relax.op.zeros(relax.ShapeExpr([half]), "float32")
    try:
        PIPELINE(None)(program(lambda x: zeros, (half * 2,)))
    except Exception:
        return False
    return True


def broadcasts() -> bool:
    """Whether a dimension of 1 is broadcast to another, where both are symbols."""
    m, n = tvm_api.shape_var("m"), tvm_api.shape_var("n")
    arrays = np.ones(1, "float32"), np.ones(3, "float32")
    try:
        return bool((run(program(relax.op.add, (m,), (n,)), *arrays) == 2).all())
    except Exception:
        return False


def lowers_unknown_shapes() -> bool:
    """Whether a call is lowered whose operand has a rank and no shape."""
    builder = relax.BlockBuilder()
    x = relax.Var("x", tvm_api.unshaped_type(1, "float32"))
    with builder.function("main", [x]):
        builder.emit_func_output(builder.emit(relax.op.negative(x)))
    try:
        return bool((run(builder.get(), np.ones(2, "float32")) == -1).all())
    except Exception:
        return False


def lowers_given_shapes() -> bool:
    """Whether a tensor is stretched to the shape of another one."""
    builder = relax.BlockBuilder()
    x, y = inputs([(2,), (1,)])
    with builder.function("main", [x, y]):
        shape = builder.emit(relax.op.shape_of(x))
        builder.emit_func_output(builder.emit(relax.op.broadcast_to(y, shape)))
    try:
        return bool((run(builder.get(), *(np.ones(n, "float32") for n in (2, 1))) == 1).all())
    except Exception:
        return False


def compiles_found_sizes() -> bool:
    """Whether what is computed of a slice compiles whose first dimension is for reshape to find."""
    m = tvm_api.shape_var("m")

    def make(builder: Any, x: Any) -> Any:
        part = builder.emit(relax.op.strided_slice(x, [0], [2], [-1], [1]))
        rows = builder.emit(relax.op.reshape(part, (-1, m - 3)))
        return builder.emit(relax.op.nn.relu(rows))

    builder = relax.BlockBuilder()
    (x,) = inputs([(m,)])
    with builder.function("main", [x]):
        builder.emit_func_output(make(builder, x))
    try:
        return run(builder.get(), np.ones(5, "float32")).shape == (1, 2)
    except Exception:
        return False


def lowers_slices() -> bool:
    """Whether the sum of a slice whose bounds are values and of another tensor is lowered."""
    builder = relax.BlockBuilder()
    x, y = inputs([(2,), (tvm_api.shape_var("n"),)])
    bounds = [tvm_api.const(np.array([bound], "int64")) for bound in (1, 2, 1)]
    with builder.function("main", [x, y]):
        found = builder.emit(relax.op.dynamic_strided_slice(x, *bounds))
        builder.emit_func_output(builder.emit(relax.op.add(found, y)))
    try:
        return bool((run(builder.get(), *(np.ones(n, "float32") for n in (2, 1))) == 2).all())
    except Exception:
        return False


def fuses_slices() -> bool:
    """Whether what is computed of a slice to a symbolic bound is fused, and compiles."""
    m = tvm_api.shape_var("m")
    builder = relax.BlockBuilder()
    (x,) = inputs([(2 * m,)])
    with builder.function("main", [x]):
        with builder.dataflow():
            # Of 2*m - 1 elements FuseTIR would fail in 0.26, for another reason.
            found = builder.emit(relax.op.strided_slice(x, [0], [1], [2 * m], [2]))
            found = builder.emit(relax.op.negative(builder.emit(relax.op.abs(found))))
            result = builder.emit_output(found)
        builder.emit_func_output(result)
    lowered_module = relax.transform.LegalizeOps()(builder.get())
    try:
        annotated = relax.transform.AnnotateTIROpPattern()(lowered_module)
        # One fails from 0.26 on, the other in 0.25.
        relax.transform.FuseTIR()(relax.transform.FuseOps()(annotated))
    except Exception:
        return False
    return True


def fused_call_has_its_dimensions() -> bool:
    """Whether what is computed before and after a match_cast is fused, and still compiles."""
    m, k = tvm_api.shape_var("m"), tvm_api.shape_var("k")
    builder = relax.BlockBuilder()
    x = relax.Var("x", tvm_api.tensor_type((m,), "float32"))
    y = relax.Var("y", tvm_api.unshaped_type(1, "float32"))
    with builder.function("main", [x, y]):
        with builder.dataflow():
            before = builder.emit(relax.op.negative(x))
            builder.match_cast(y, tvm_api.tensor_type((k,), "float32"))
            after = relax.op.broadcast_to(before, relax.ShapeExpr([k, m]))
            result = builder.emit_output(builder.emit(after))
        builder.emit_func_output(result)
    try:
        PIPELINE(tvm.target.Target(_TARGET))(builder.get())
    except Exception:
        return False
    return True


def fuses_general_functions() -> bool:
    """Whether a function over two dimensions is fused where they are the same one."""
    m, a, b = map(tvm_api.shape_var, "mab")
    tensor = te.placeholder((a, b), "float32", name="tensor")
    result = te.compute((a, b), lambda i, j: tensor[i, j] + 1)
    lowered = te.create_prim_func([tensor, result]).without_attr("global_symbol")
    builder = relax.BlockBuilder()
    kind = tvm_api.tensor_type((m, m), "float32")
    x = relax.Var("x", kind)
    with builder.function("main", [x]):
        with builder.dataflow():
            function = builder.add_func(lowered, "function")
            before = builder.emit(relax.op.negative(x))
            called = builder.emit(relax.op.call_tir(function, [before], kind))
            output = builder.emit_output(called)
        builder.emit_func_output(output)
    target = tvm.target.Target({"kind": "llvm", "opt-level": 0})
    try:
        PIPELINE(target)(builder.get())
    except Exception:
        return False
    return True


def initializes(reduce: Make) -> bool:
    """Whether the output of ``reduce`` of a symbolic axis that is empty is always written.

    What is lowered is called with an output that holds sevens; to refuse is an answer too.
    """
    n = tvm_api.shape_var("n")
    call = one_call(lambda x: reduce(x, axis=[1]), (1, n))
    return _writes(call, [np.zeros((1, 0), "float32")], (1,))


def initializes_products() -> bool:
    """Whether a product over no inner element is written."""
    k = tvm_api.shape_var("k")
    call = one_call(relax.op.matmul, (1, k), (k, 1))
    return _writes(call, [np.zeros((1, 0), "float32"), np.zeros((0, 1), "float32")], (1, 1))


def _writes(call: Call, arrays: Sequence[Array], shape: Sequence[int]) -> bool:
    found = lowered(call)
    if found is None:
        return True
    function = tvm_api.compiled(found[0])
    try:
        return not (function(*arrays, np.full(shape, 7, "float32")) == 7).any()
    except Exception:
        return True
