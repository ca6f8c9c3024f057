"""Fusion of operators over symbolic dimensions, where the result cannot be lowered.

FuseOps may lose the result shape of a fused function if that is an expression of a symbol, and
FuseTIR may fail on the functions of FuseOps. Neither can handle the condition in a dimension of
``strided_slice``, whose bound may count from the end. FuseOps may fuse calls on both sides of a
match_cast, although the cast depends on the one and the other on the cast. It may move a read of a
value behind the call that overwrites the value, and FuseTIR fails on some calls that overwrite, and
on groups of nothing but tuples and their elements. The module is as correct without fusion: if one
group is at fault, nothing is fused.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import tvm
from tvm import relax
from tvm.relax.transform import _ffi_api, transform
from tvm.script import tirx as script

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework import probes
from relaxcheck.fixes.framework.fix import FaultPart, Fix, Rebinding
from relaxcheck.fixes.framework.patch import Body
from relaxcheck.fixes.tvm_api import functions as tvm_api_functions

_ORIGINAL = transform.FuseOps

_CALL_TIR = "relax.call_tir"

_OVERWRITING = ("relax.call_tir_inplace", "relax.call_inplace_packed")

_FAULTS = (
    # A variable that two of the functions define; releases word it differently.
    "remap_.count(source)",
    "VarRemapGet(source)",
    # A match_cast between two calls of one group.
    "A cyclic dependency detected",
    # A condition in a dimension; releases word it differently.
    "Do not have a default for",
    "Cannot find the FInfer",
    # Symbolic dimensions of a function that overwrites have names of their own.
    "Inconsistent buffers",
    # A group without a call, of tuples and their elements.
    'func_info_.global_name != "fused"',
)
"""Errors of FuseOps and FuseTIR on valid modules."""


def FuseOps(fuse_opt_level: int = -1) -> Any:
    """The pass of this name, which leaves the module alone if FuseTIR cannot lower the result."""
    fusing = _ffi_api.FuseOps(fuse_opt_level)
    lowering = _ffi_api.FuseTIR()

    def run(module: Any, context: Any) -> Any:
        if _reads_what_is_overwritten(module):
            return module
        try:
            fused = fusing(module)
            if _loses_variables(fused):
                return module
            lowered = lowering(fused)
        except tvm.error.InternalError as error:
            # Another failing check is another fault.
            if not any(fault in str(error) for fault in _FAULTS):
                raise
            return module
        except IndexError:
            # Of several results, not all of which overwrite or are used.
            if not _overwritten(module):
                raise
            return module
        return module if _loses_shapes(lowered) else fused

    return tvm.transform.module_pass(run, opt_level=0, name="FuseOps")


def _loses_shapes(module: Any) -> bool:
    """True if a call of a lowered function has a result of unknown shape."""
    lost: list[bool] = []

    def visit(expr: Any) -> None:
        if isinstance(expr, relax.Call) and getattr(expr.op, "name", "") == _CALL_TIR:
            for type_ in tvm_api_functions.type_arguments(expr):
                parts = list(getattr(type_, "fields", [type_]))
                lost.extend(getattr(part, "shape", None) is None for part in parts)

    for _, function in tvm_api_functions.functions(module):
        relax.analysis.post_order_visit(function, visit)
    return any(lost)


def _reads_what_is_overwritten(module: Any) -> bool:
    """True if a value that a call overwrites is also read by another one."""
    overwritten = _overwritten(module)
    reads: list[Any] = []

    def visit(expr: Any) -> None:
        if isinstance(expr, relax.Call):
            reads.extend(_operands(expr))

    if overwritten:
        for _, function in tvm_api_functions.functions(module):
            relax.analysis.post_order_visit(function, visit)
    return any(sum(read.same_as(value) for read in reads) > 1 for value in overwritten)


def _overwritten(module: Any) -> list[Any]:
    """The values that calls in ``module`` overwrite."""
    values: list[Any] = []

    def visit(expr: Any) -> None:
        if isinstance(expr, relax.Call) and getattr(expr.op, "name", "") in _OVERWRITING:
            operands = _operands(expr)
            indices = (int(index) for index in expr.attrs.inplace_indices)
            values.extend(operands[index] for index in indices if index >= 0)

    for _, function in tvm_api_functions.functions(module):
        relax.analysis.post_order_visit(function, visit)
    return values


def _operands(call: Any) -> list[Any]:
    """The operands of ``call``, without a function that it calls."""
    name = getattr(call.op, "name", "")
    operands = list(call.args)[name.startswith("relax.call_") :]
    return [
        field
        for operand in operands
        for field in (operand.fields if isinstance(operand, relax.Tuple) else [operand])
    ]


def _loses_variables(module: Any) -> bool:
    """True if a function uses a variable defined only within another, fused one."""
    return any(
        len(relax.analysis.free_vars(function))
        for _, function in tvm_api_functions.functions(module)
    )


def fuses_repeats() -> bool:
    """True if a repeat is fused with a convolution and an activation."""
    op, m = relax.op, tvm_api.shape_var("m")
    return _is_fused(
        lambda x, w: op.nn.relu(op.nn.conv1d(op.repeat(x, 2, 2), w)), (1, 2, m), (2, 2, 1)
    )


def fuses_slices() -> bool:
    """True if a slice is fused whose bound may be negative and count from the end."""
    m = tvm_api.shape_var("m")
    return _is_fused(
        lambda x: relax.op.nn.relu(relax.op.strided_slice(x, [0], [0], [m - 2], [1])), (m,)
    )


def fuses_around_casts() -> bool:
    """True if calls on a tensor before and after a match_cast to its own shape are fused."""
    m = tvm_api.shape_var("m")
    builder = relax.BlockBuilder()
    (x,) = probes.inputs([(m,)])
    with builder.function("main", [x]):
        with builder.dataflow():
            shared = builder.emit(relax.op.exp(x))
            cast = builder.match_cast(shared, tvm_api.tensor_type((m,), "float32"))
            result = builder.emit_output(relax.op.multiply(cast, shared))
        builder.emit_func_output(result)
    module = relax.transform.LegalizeOps()(builder.get())
    try:
        relax.transform.FuseOps()(relax.transform.AnnotateTIROpPattern()(module))
    except Exception:
        return False
    return True


def keeps_reads_in_place() -> bool:
    """True if a value is read before a call overwrites it, as written."""
    array = np.array([1, 3, 5], "float32")

    def doubled_before(builder: Any, x: Any) -> Any:
        before = builder.emit(relax.op.add(x, x))
        after = builder.emit(overwriting(builder, _SUM, [x], [0, -1], [(3,), ()]))
        return relax.op.add(builder.emit(relax.TupleGetItem(after, 0)), before)

    result = probes.run_fused(_computed((3,), doubled_before), array)
    return bool((result == 2 * array).all())


def fuses_overwriting() -> bool:
    """True if calls are fused that overwrite, of two results, or of a tensor with equal sizes."""
    m = tvm_api.shape_var("m")

    def mixed(builder: Any, x: Any) -> Any:
        types: list[Any] = [(3,), (3,)]
        results = builder.emit(overwriting(builder, _NEGATION_AND_COPY, [x], [0, -1], types))
        return relax.TupleGetItem(results, 0)

    def alike(builder: Any, x: Any) -> Any:
        return overwriting(builder, _NEGATION, [x], [0], [(m, m)])

    array = np.array([[1, 3], [5, 7]], "float32")
    return _gives(_computed((3,), mixed), array[0, [0, 1, 1]]) and _gives(
        _computed((m, m), alike), array
    )


def fuses_tuples() -> bool:
    """True if an element is taken of a tuple within a tuple, where nothing is computed."""

    def element(builder: Any, x: Any) -> Any:
        pair = builder.emit(relax.Tuple([x, x]))
        nested = builder.emit(relax.Tuple([pair, x]))
        inner = builder.emit(relax.TupleGetItem(nested, 0))
        return relax.TupleGetItem(inner, 1)

    array = np.array([1, 3, 5], "float32")
    try:
        result = probes.run_fused(_computed((3,), element), array)
    except Exception:
        return False
    return bool((result == 2 * array).all())


def _gives(module: Any, array: Any) -> bool:
    """True if ``module`` is compiled, and its result is twice ``array``, negated."""
    try:
        result = probes.run_fused(module, array)
    except Exception:
        return False
    return bool((result == -2 * array).all())


def _computed(shape: Sequence[Any], make: Callable[[Any, Any], Any]) -> Any:
    """The program ``make(builder, y)`` of twice a tensor of ``shape``, y."""
    builder = relax.BlockBuilder()
    (x,) = probes.inputs([tuple(shape)])
    with builder.function("main", [x]):
        with builder.dataflow():
            doubled = builder.emit(relax.op.add(x, x))
            result = builder.emit_output(builder.emit(make(builder, doubled)))
        builder.emit_func_output(result)
    return builder.get()


def overwriting(
    builder: Any,
    source: str,
    arguments: Sequence[Any],
    indices: Sequence[int],
    shapes: Sequence[Sequence[Any]],
) -> Any:
    """A call of the function of TIR in ``source`` with results of ``shapes``."""
    function = tvm.script.from_source(source, extra_vars={"T": script})
    types = [tvm_api.tensor_type(shape, "float32") for shape in shapes]
    called = builder.add_func(function, "overwriting")
    return relax.op.call_tir_inplace(called, list(arguments), list(indices), types)


_NEGATION = """
@T.prim_func(private=True, s_tir=True)
def overwriting(handle: T.handle):
    rows, columns = T.int64(), T.int64()
    x = T.match_buffer(handle, (rows, columns), "float32")
    for i, j in T.grid(rows, columns):
        with T.sblock("negation"):
            row, column = T.axis.remap("SS", [i, j])
            x[row, column] = -x[row, column]
"""

_NEGATION_AND_COPY = """
@T.prim_func(private=True, s_tir=True)
def overwriting(x: T.Buffer((T.int64(3),), "float32"), y: T.Buffer((T.int64(3),), "float32")):
    for i in T.grid(T.int64(3)):
        with T.sblock("copy"):
            at = T.axis.remap("S", [i])
            y[at] = x[at]
    for i in T.grid(T.int64(3)):
        with T.sblock("negation"):
            at = T.axis.remap("S", [i])
            x[at] = -x[at]
"""

_SUM = """
@T.prim_func(private=True, s_tir=True)
def overwriting(x: T.Buffer((T.int64(3),), "float32"), total: T.Buffer((), "float32")):
    for i in T.grid(T.int64(3)):
        with T.sblock("total"):
            at = T.axis.remap("R", [i])
            with T.init():
                total[()] = T.float32(0)
            total[()] = total[()] + x[at]
    for i in T.grid(T.int64(3)):
        with T.sblock("negation"):
            at = T.axis.remap("S", [i])
            x[at] = -x[at]
"""


def _is_fused(make: probes.Make, *shapes: probes.Shape) -> bool:
    try:
        fused_program(make, *shapes)
    except Exception:
        return False
    return True


def fused_program(make: probes.Make, *shapes: probes.Shape) -> Any:
    """The program of tensors of ``shapes``, lowered and fused."""
    module = probes.program(make, *shapes)
    for step in (
        relax.transform.LegalizeOps,
        relax.transform.AnnotateTIROpPattern,
        relax.transform.FuseOps,
        relax.transform.FuseTIR,
    ):
        module = step()(module)
    return module


def _strided() -> Any:
    m = tvm_api.shape_var("m")
    return fused_program(
        lambda x, w: relax.op.tanh(relax.op.nn.conv1d(x, w, strides=5)), (1, 2, m), (3, 2, 4)
    )


FIX = Fix(
    name="fusion",
    operators=(),
    fault=(
        "FuseOps loses shapes over symbols, fuses calls on both sides of a match_cast, or moves"
        " reads behind a call that overwrites, and FuseTIR fails on some fused functions, and on"
        " groups of tuples alone"
    ),
    issue=None,
    parts=(
        FaultPart("shapes of results", lambda: _loses_shapes(_strided())),
        FaultPart("fused repeats", lambda: not fuses_repeats()),
        FaultPart("conditional dimensions", lambda: not fuses_slices()),
        FaultPart("casts between", lambda: not fuses_around_casts()),
        FaultPart("reads before overwriting", lambda: not keeps_reads_in_place()),
        FaultPart("overwriting", lambda: not fuses_overwriting()),
        FaultPart("tuples", lambda: not fuses_tuples()),
    ),
    rebindings=lambda: (Rebinding(_ORIGINAL, FuseOps),),
    after="folding",
    patch=(Body("relax/transform/transform.py", FuseOps),),
)
