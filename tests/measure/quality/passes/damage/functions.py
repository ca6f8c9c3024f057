"""Damage to functions of a module and to their calls, as bad folding and fusion make it."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import tvm
import tvm_ffi
from tvm import relax, tirx

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.tvm_api import tensor_of, type_of
from tests.measure.quality.passes.damage.rewriting import (
    Module,
    Values,
    function_of,
    is_constant,
    name_of,
    swapped,
    with_arguments,
    with_operands,
    with_values,
)
from tests.measure.quality.planted.tails import without_tail

Array = npt.NDArray[Any]

_FUSED = "fused"
"""Begins the names of the functions that fusion makes."""


def _with_constants(module: Module, make: Callable[[], Callable[[Any], Any]]) -> Module:
    """``module`` whose calls of TIR functions have other constants; ``make`` once a function."""

    def changes(function: Any) -> Values:
        other = make()

        def change(binding: Any) -> Any:
            if name_of(binding.value) != "relax.call_tir":
                return None
            operands = [
                other(each) if is_constant(each) else each for each in binding.value.args[1].fields
            ]
            return with_operands(binding.value, operands)

        return change

    return with_values(module, changes)


def with_merged_constants(module: Module) -> Module:
    """``module`` where constants of one shape and dtype are one."""

    def make() -> Callable[[Any], Any]:
        first: dict[tuple[object, ...], Any] = {}

        def merged(operand: Any) -> Any:
            value = tensor_of(operand)
            return first.setdefault((tuple(value.shape), str(value.dtype)), operand)

        return merged

    return _with_constants(module, make)


def _of_values(change: Callable[[Array], Array]) -> Callable[[], Callable[[Any], Any]]:
    return lambda: lambda operand: tvm_api.const(change(tensor_of(operand).numpy()))


def with_half_constants(module: Module) -> Module:
    """``module`` whose constants went through float16."""

    def rounded(value: Array) -> Array:
        wide = value.dtype in (np.float32, np.float64)
        return value.astype(np.float16).astype(value.dtype) if wide else value

    return _with_constants(module, _of_values(rounded))


def with_cut_constants(module: Module) -> Module:
    """``module`` whose constants of several elements end with a zero."""

    def cut(value: Array) -> Array:
        result = np.array(value)
        if result.size > 1:
            result.reshape(-1)[-1] = 0
        return result

    return _with_constants(module, _of_values(cut))


def without_attributes(module: Module) -> Module:
    """``module`` whose functions have the attributes alone that name them."""
    functions = {}
    for variable, function in module.functions.items():
        if isinstance(function, relax.Function):
            for name in dict(function.attrs or {}):
                if name not in ("global_symbol", "Primitive"):
                    function = function.without_attr(name)
        functions[variable] = function
    return tvm.IRModule(functions, attrs=module.attrs, global_infos=module.global_infos)


def with_swapped_arguments(module: Module) -> Module:
    """``module`` where two arguments of one type of a fused function are in each other's place."""

    def change(binding: Any) -> Any:
        call = binding.value
        if not function_of(call).startswith(_FUSED):
            return None
        through = name_of(call) == "relax.call_tir"
        order = swapped(call.args[1].fields if through else call.args)
        if order is None:
            return None
        return with_operands(call, order) if through else with_arguments(call, order)

    return with_values(module, lambda _: change)


def with_first_fused(module: Module) -> Module:
    """``module`` where a fused function gives its first result for each of one type."""

    def make(function: Any) -> Values:
        bound = relax.analysis.get_var2val(function)

        def change(binding: Any) -> Any:
            item = binding.value
            if not isinstance(item, relax.TupleGetItem) or not item.index:
                return None
            of = bound.get(item.tuple_value, item.tuple_value)
            fields = type_of(item.tuple_value).fields
            if not tvm_ffi.structural_equal(fields[0], fields[item.index]):
                return None
            fused = function_of(of).startswith(_FUSED)
            return relax.TupleGetItem(item.tuple_value, 0) if fused else None

        return change

    return with_values(module, make)


def _with_fused(module: Module, change: Callable[[Any], Any]) -> Module:
    """``module`` with each fused TIR function changed."""
    functions = {
        variable: change(function)
        if isinstance(function, tirx.PrimFunc)
        and str(variable.name_hint).startswith(_FUSED)
        and hasattr(function.body, "block")
        else function
        for variable, function in module.functions.items()
    }
    return tvm.IRModule(functions, attrs=module.attrs, global_infos=module.global_infos)


def without_fused_tails(module: Module) -> Module:
    """``module`` whose fused loops over the output miss their last iteration."""
    return _with_fused(module, without_tail)


def with_reordered_stages(module: Module) -> Module:
    """``module`` whose fused functions run their last two loops the last one first."""

    def change(function: Any) -> Any:
        block = function.body.block
        if not isinstance(block.body, tirx.SeqStmt):
            return function
        *before, first, second = block.body
        changed = tvm.s_tir.SBlock(
            block.iter_vars,
            block.reads,
            block.writes,
            block.name_hint,
            tirx.SeqStmt([*before, second, first]),
            block.init,
            block.alloc_buffers,
            block.match_buffers,
            block.annotations,
        )
        realized = function.body
        return function.with_body(
            tvm.s_tir.SBlockRealize(realized.iter_values, realized.predicate, changed)
        )

    return _with_fused(module, change)
