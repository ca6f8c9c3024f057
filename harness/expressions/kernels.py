"""Expressions compiled: a kernel computes them, indexes a buffer by them, or they are sizes.

Many go into one module, which is what makes a compile cheap. Nothing here says what is right: that
is for ``relaxcheck.harness.expressions.compiled``.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import tvm
from numpy.typing import NDArray
from tvm import relax, tirx

from relaxcheck import fixes
from relaxcheck.fixes.tvm_api import shape_var, tensor_type
from relaxcheck.fixes.tvm_api.shapes import shape_type
from relaxcheck.generators.emission.expressions import emitted
from relaxcheck.generators.expressions.language import Expression
from relaxcheck.harness.expressions.kernel_plans import LENGTHS, Kernel, Plan
from relaxcheck.harness.native.link import can_link, linked, shared_library
from relaxcheck.harness.native.target import target

Module = Any
PrimExpr = Any
Array = NDArray[Any]

_BESIDE = 4096
"""Elements before and behind a table."""
_ALIGNMENT = 64
"""Bytes; where a tensor's data may begin, TVM sees to it in what it compiles."""

WIDE = "int64"
"""The dtype of a kernel's output, for every dtype of its expression."""


@dataclass(frozen=True, slots=True)
class How:
    """Options of compilation: LLVM's level, and True for the passes of the fixes."""

    opt_level: int = 0
    fixes: bool = False


@dataclass(frozen=True, slots=True)
class _Arguments:
    """The buffers that all kernels of a function share; each kernel has its own part of some."""

    table: Any
    guard: Any
    lengths: dict[str, Any]
    out: Any

    @property
    def all(self) -> list[Any]:
        return [self.table, self.guard, *self.lengths.values(), self.out]


def kernel_function(kernels: Sequence[Kernel], name: str) -> Any:
    """The lowered function ``name`` of ``kernels``, one after the other.

    One function for several: that arguments are what they should be takes far more code than a
    kernel does. They are: the table, int64; the guard, int8, of one element a point; two whose
    length is n, int8; and what is written, int64. Each but those of n holds the kernels' parts in
    their order.
    """
    n = {dtype: tirx.Var(f"n{dtype[3:]}", dtype) for dtype in LENGTHS}
    arguments = _Arguments(
        tirx.decl_buffer((max(map(_table, kernels)),), WIDE, "table"),
        tirx.decl_buffer((sum(member.points for member in kernels),), "int8", "guard"),
        {
            length: tirx.decl_buffer((n[length],), "int8", f"length{length[3:]}")
            for length in LENGTHS
        },
        tirx.decl_buffer((sum(member.written for member in kernels),), WIDE, "out"),
    )
    nests, guarded, written = [], 0, 0
    for kernel in kernels:
        nests.append(_nest(kernel, arguments, n, guarded, written))
        guarded, written = guarded + kernel.points, written + kernel.written
    body = tirx.SeqStmt(nests) if len(nests) > 1 else nests[0]
    function = tirx.PrimFunc(arguments.all, body)
    return function.with_attr("global_symbol", name).with_attr("tirx.noalias", True)


def _table(kernel: Kernel) -> int:
    """The number of elements of the table that it indexes."""
    low, high = kernel.bounds or (0, 0)
    return high - low + 1


def _nest(
    kernel: Kernel, arguments: _Arguments, n: Mapping[str, PrimExpr], guarded: int, written: int
) -> Any:
    """The loops of ``kernel``; its parts of the guard and of what is written begin there."""
    loops = [tirx.Var(variable.name, variable.dtype) for variable in kernel.variables]
    point: PrimExpr = tirx.const(0, WIDE)
    for variable, loop, extent in zip(kernel.variables, loops, kernel.extents, strict=True):
        point = point * extent + (tirx.Cast(WIDE, loop) - tirx.const(variable.low, WIDE))
    values = {variable.name: loop for variable, loop in zip(kernel.variables, loops, strict=True)}
    value = emitted(kernel.expression, values)
    out, dtype = arguments.out, kernel.expression.dtype
    if kernel.bounds is None:
        body = tirx.BufferStore(out, tirx.Cast(WIDE, value), [point + written])
    else:
        low, high = (tirx.const(bound, dtype) for bound in kernel.bounds)
        forwards = tirx.Sub(value, low) if kernel.bounds[0] else value
        ways = (forwards, tirx.Sub(high, value)) if kernel.backwards else (forwards,)
        stores = [
            tirx.BufferStore(out, tirx.BufferLoad(arguments.table, [way]), [point + (written + at)])
            for way, at in zip(ways, (0, kernel.points), strict=False)
        ]
        body = tirx.SeqStmt(stores) if kernel.backwards else stores[0]
    if kernel.guarded:
        valid = tirx.BufferLoad(arguments.guard, [point + guarded])
        body = tirx.IfThenElse(tirx.NE(valid, tirx.const(0, "int8")), body, None)
    for number, variable in reversed(list(enumerate(kernel.variables))):
        innermost = kernel.symbolic and number == len(loops) - 1
        extent = (
            n[variable.dtype] if innermost else tirx.const(kernel.extents[number], variable.dtype)
        )
        low = tirx.const(variable.low, variable.dtype)
        body = tirx.For(loops[number], low, extent, tirx.ForKind.SERIAL, body)
    return body


def kernels_built(groups: Sequence[Sequence[Kernel]], how: How) -> Any:
    """The function ``f0``, ``f1``, … of each of ``groups``, compiled. Raises whatever TVM does."""
    names = [f"f{number}" for number in range(len(groups))]
    made = {name: kernel_function(group, name) for name, group in zip(names, groups, strict=True)}
    module = tvm.IRModule(made)
    if how.fixes:
        module = fixes.lowered_pipeline()(module)
    executable = tvm.compile(module, target(how.opt_level))
    if how.opt_level or not can_link():
        return executable
    native = executable.mod
    return shared_library(native if native.kind == "llvm" else native.imports[0])


def table(length: int) -> Array:
    """The table of the numbers 0, …, ``length`` - 1, int64.

    The numbers go on before and behind it, so that an index beyond an end tells itself too, instead
    of whatever the memory happens to hold.
    """
    room = np.empty(length + 2 * _BESIDE + _ALIGNMENT // 8, np.int64)
    first = -(room.ctypes.data // 8) % (_ALIGNMENT // 8)
    whole = room[first : first + length + 2 * _BESIDE]
    whole[:] = np.arange(-_BESIDE, length + _BESIDE)
    return whole[_BESIDE : _BESIDE + length]


def call(function: Any, table: Array, arrays: Sequence[Array]) -> Array:
    """The array that ``function`` fills, the last of ``arrays``; it may read beyond ``table``.

    Raises whatever TVM does.
    """
    # Not a copy: what is around it would be left behind.
    tensors = [tvm.runtime.from_dlpack(table), *map(tvm.runtime.tensor, arrays)]
    function(*tensors)
    written: Array = tensors[-1].numpy()
    return written


Named = Sequence[tuple[Expression, Sequence[str]]]
"""Expressions, each with its variables in the order in which they are given."""

OfNumbers = Callable[[Sequence[int]], object]
"""A compiled function of the variables of some expressions, one after the other."""

OfSizes = Callable[[Sequence[int], Sequence[int]], object]
"""The same, that is given a tensor of each size too."""


def named(plans: Sequence[Plan]) -> Named:
    """The expressions of ``plans``, as the functions below take them."""
    return [
        (plan.subject.expression, tuple(variable.name for variable in plan.subject.variables))
        for plan in plans
    ]


def _shape_parameter(expressions: Named) -> tuple[Any, list[PrimExpr]]:
    """A parameter that is a shape of all variables, and the expressions of them.

    Each expression has symbols of its own for its variables.
    """
    symbols: list[PrimExpr] = []
    values: list[PrimExpr] = []
    for number, (expression, names) in enumerate(expressions):
        own = {name: shape_var(f"{name}{number}") for name in names}
        symbols += own.values()
        values.append(emitted(expression, own))
    return relax.Var("s", shape_type(symbols)), values


def shape_module(expressions: Named) -> Module:
    """A function of one shape that returns another: every expression is one of its dimensions."""
    parameter, values = _shape_parameter(expressions)
    builder = relax.BlockBuilder()
    with builder.function("main", [parameter]):
        builder.emit_func_output(relax.ShapeExpr(values))
    return builder.get()


def shapes_built(expressions: Named, how: How) -> Callable[[Sequence[int]], tuple[int, ...]]:
    """The compiled function from all variables to the expressions. Raises whatever TVM does."""
    main = _built(shape_module(expressions), how)
    return lambda sizes: tuple(int(dim) for dim in main(_shape(sizes)))


def parameters_built(expressions: Named, how: How) -> OfSizes:
    """The compiled function of all variables, and a tensor of each size, which it does not use.

    Raises whatever TVM does.
    """
    parameter, values = _shape_parameter(expressions)
    tensors = [
        relax.Var(f"t{number}", tensor_type((value,), "int8"))
        for number, value in enumerate(values)
    ]
    builder = relax.BlockBuilder()
    with builder.function("main", [parameter, *tensors]):
        builder.emit_func_output(relax.ShapeExpr([]))
    main = _built(builder.get(), how)
    return lambda numbers, sizes: main(
        _shape(numbers), *(tvm.runtime.tensor(np.zeros(size, "int8")) for size in sizes)
    )


def extents_built(expressions: Named, how: How) -> Callable[[Sequence[int]], tuple[int, ...]]:
    """The compiled function that makes a tensor of each size: how many elements each has.

    Raises whatever TVM does.
    """
    parameter, values = _shape_parameter(expressions)
    builder = relax.BlockBuilder()
    with builder.function("main", [parameter]):
        made = [
            builder.emit(relax.op.builtin.alloc_tensor(relax.ShapeExpr([value]), "int8", 0))
            for value in values
        ]
        builder.emit_func_output(relax.Tuple(made))
    main = _built(builder.get(), how)
    return lambda sizes: tuple(int(tensor.shape[0]) for tensor in main(_shape(sizes)))


def _shape(sizes: Sequence[int]) -> Any:
    return tvm.runtime.ShapeTuple(list(sizes))


def _built(module: Module, how: How) -> Any:
    passes = fixes.pipeline() if how.fixes else "default"
    executable = relax.build(module, target(how.opt_level), relax_pipeline=passes)
    if how.opt_level == 0:
        executable = linked(executable)
    return relax.VirtualMachine(executable, tvm.cpu())["main"]
