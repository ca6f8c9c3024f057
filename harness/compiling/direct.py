"""Running the module that LegalizeOps, or a later pass, returns without the passes after it.

Its functions are built one by one, and called in the order of the program: each tensor has memory
of its own, whatever is planned, and there is no virtual machine. This second way to run a lowered
program separates a wrong legalization from faults of later passes, and those of a pass that nothing
compiles without from others'. It also shows what a function writes out of bounds.
"""

from collections.abc import Callable, Mapping
from math import prod
from typing import Any

import numpy as np
import tvm
from tvm import relax

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.tvm_api.shapes import integer_of
from relaxcheck.harness.compiling.room import Roomy, roomy

# TVM has no type information of its own.
Module = Any
Value = Any

_CALL_TIR = tvm.ir.Op.get("relax.call_tir")
_CALL_BUILTIN = tvm.ir.Op.get("relax.call_builtin_with_ctx")
_HEAP = "vm.builtin.alloc_shape_heap"
"""The function of the virtual machine that makes the memory of sizes."""

_TENSORS = {
    "relax.builtin.alloc_tensor": (0, 1),
    "relax.memory.alloc_tensor": (2, 3),
    "relax.vm.alloc_tensor": (2, 3),
}
"""The operators that make a tensor, and the positions of its shape and dtype."""

_IN_STORAGE = ("relax.memory.alloc_tensor", "relax.vm.alloc_tensor")

_STORAGE = ("relax.memory.alloc_storage", "relax.vm.alloc_storage")
"""The operators that make a storage, whose value is its size in bytes here."""

_NOTHING = ("relax.memory.kill_storage", "relax.memory.kill_tensor", "relax.vm.kill_object")
"""Operators about memory that tensors do not share here."""

_CONSTANT = type(tvm_api.const(np.zeros(())))


class NotDirect(Exception):
    """The program has other parts than calls of functions, tuples and constants.

    This is a limit of ours, no fault of TVM's.
    """


def called(module: Module, target: Any) -> Callable[..., Value]:
    """A function of the run-time tensors that computes ``main`` of ``module``, which is lowered.

    It returns a tensor or a tuple of tensors.

    Raises:
        Exception: any that TVM raises when it builds the functions.
    """
    built = {
        variable.name_hint: tvm.tirx.build(
            function.with_attr("global_symbol", "direct"), target=target
        )["direct"]
        for variable, function in module.functions.items()
        if isinstance(function, tvm.tirx.PrimFunc)
    }
    main = module["main"]
    if not all(map(tvm_api.is_tensor, main.params)):
        raise NotDirect("a parameter is no tensor")

    def run(*tensors: Value) -> Value:
        known = dict(zip(main.params, tensors, strict=True))
        sizes = tvm_api.analyzer()
        for parameter, tensor in known.items():
            for dim, size in zip(tvm_api.shape_of(parameter), tensor.shape, strict=True):
                if tvm_api.is_variable(dim):
                    sizes.bind(dim, tvm_api.integer(int(size)))
        frame = _Frame(known, sizes, built)
        for block in main.body.blocks:
            for binding in block.bindings:
                if not isinstance(binding, relax.VarBinding):
                    raise NotDirect(f"{type(binding).__name__}: {binding}")
                known[binding.var] = frame.value(binding.value)
        return frame.value(main.body.body)

    return run


class _Frame:
    """The values of variables while ``main`` runs; ``sizes`` is an analyzer with the symbols."""

    def __init__(self, known: dict[Any, Value], sizes: Any, built: Mapping[str, Any]) -> None:
        self.known, self.sizes, self.built = known, sizes, built
        self.rooms: list[Roomy] = []

    def value(self, expr: Any) -> Value:
        """The value of ``expr``: a tensor, or a tuple of values."""
        match expr:
            case relax.Var():
                return self.known[expr]
            case _ if isinstance(expr, _CONSTANT) and tvm_api.is_tensor(expr):
                return tvm_api.tensor_of(expr)
            case relax.Tuple():
                return tuple(self.value(field) for field in expr.fields)
            case relax.TupleGetItem():
                return self.value(expr.tuple_value)[expr.index]
            case relax.ShapeExpr():
                return tvm.runtime.ShapeTuple([self.size(dim) for dim in expr.values])
            case relax.Call() if expr.op == _CALL_TIR:
                return self.call(expr)
            case relax.Call():
                return self.later(expr)
        if (size := integer_of(expr)) is not None:
            return self.size(size)
        if isinstance(value := getattr(expr, "value", None), str | tvm.DataType):
            return str(value)
        raise NotDirect(f"{type(expr).__name__}: {expr}")

    def later(self, expr: Any) -> Value:
        """A call as passes after LegalizeOps make it: of a function, or of the virtual machine's.

        Raises:
            OutOfBounds: it wrote outside of a tensor.
        """
        match expr.op:
            case tvm.ir.GlobalVar() if expr.op.name_hint in self.built:
                self.built[expr.op.name_hint](*map(self.value, expr.args))
                for each in self.rooms:
                    each.check(expr.op.name_hint)
                return ()
            case relax.ExternFunc():
                function = tvm.get_global_func(str(expr.op.global_symbol))
                return function(*map(self.value, expr.args))
            case tvm.ir.Op() if expr.op.name in _NOTHING:
                return ()
            case tvm.ir.Op() if expr.op.name in _STORAGE:
                return prod(self.value(expr.args[0]))
            case tvm.ir.Op() if expr.op.name in _TENSORS:
                shape, dtype = (self.value(expr.args[at]) for at in _TENSORS[expr.op.name])
                made = roomy(tuple(shape), dtype)
                if expr.op.name in _IN_STORAGE:
                    storage, offset = (self.value(each) for each in expr.args[:2])
                    if made.size + offset > storage:
                        raise ValueError(f"a tensor of {made.size} bytes in one of {storage}")
                self.rooms.append(made)
                return made.tensor
            case tvm.ir.Op() if expr.op == _CALL_BUILTIN:
                function, arguments = expr.args
                if str(function.global_symbol) == _HEAP:
                    return tvm.runtime.tensor(np.zeros(self.value(arguments), np.int64))
        raise NotDirect(f"{type(expr).__name__}: {expr}")

    def call(self, expr: Any) -> Value:
        """Call a function on tensors, on outputs made for it, and on its symbols.

        Raises:
            OutOfBounds: it wrote outside of an output.
        """
        function, arguments, *more = expr.args
        type_ = tvm_api.type_of(expr)
        single = tvm_api.is_tensor(expr)
        roomy = [self.empty(field) for field in ([type_] if single else type_.fields)]
        results = tuple(each.tensor for each in roomy)
        symbols = [self.size(dim) for shape in more for dim in shape.values]
        self.built[function.name_hint](*self.value(arguments), *results, *symbols)
        for each in roomy:
            each.check(function.name_hint)
        return results[0] if single else results

    def empty(self, kind: Any) -> Roomy:
        """A tensor of the type ``kind`` with room around it."""
        shape = tuple(self.size(dim) for dim in kind.shape.values)
        return roomy(shape, tvm_api.dtype_of(kind))

    def size(self, dim: Any) -> int:
        """``dim`` with the symbols' values."""
        size = tvm_api.as_int(self.sizes.simplify(dim))
        if size is None:
            raise NotDirect(f"the dimension {dim} is not known")
        return size
