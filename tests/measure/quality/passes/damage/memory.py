"""Damage to allocations and frees, as bad planning of memory makes it."""

from typing import Any

from tvm import relax, tirx

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.tvm_api import type_of
from tests.measure.quality.passes.damage.rewriting import (
    Module,
    Values,
    function_of,
    name_of,
    with_arguments,
    with_order,
    with_values,
)

_STORAGE = "relax.memory.alloc_storage"
_TENSOR = "relax.memory.alloc_tensor"
_BUILTIN = "relax.builtin.alloc_tensor"
_KILL_TENSOR = "relax.memory.kill_tensor"
_KILL_STORAGE = "relax.memory.kill_storage"


def _with_one(module: Module, operator: str, which: slice) -> Module:
    """``module`` where calls of ``operator`` of the same arguments ``which`` are one."""

    def make(function: Any) -> Values:
        first: dict[str, Any] = {}

        def change(binding: Any) -> Any:
            if name_of(binding.value) != operator:
                return None
            key = str(list(binding.value.args[which]))
            before = first.setdefault(key, binding.var)
            return None if before.same_as(binding.var) else before

        return change

    return with_values(module, make)


def with_aliased_storage(module: Module) -> Module:
    """``module`` where storages of one size are one, whatever lives in them."""
    return _with_one(module, _STORAGE, slice(1))


def with_one_tensor(module: Module) -> Module:
    """``module`` that allocates one tensor for all of its shape and dtype."""
    return _with_one(module, _BUILTIN, slice(2))


def with_narrow_storage(module: Module) -> Module:
    """``module`` whose storages of float64 have half of their size."""

    def change(binding: Any) -> Any:
        call = binding.value
        if name_of(call) != _STORAGE or str(call.args[3].value) != "float64":
            return None
        halves = [tirx.floordiv(size, tvm_api.integer(2)) for size in call.args[0].values]
        return with_arguments(call, [relax.ShapeExpr(halves), *call.args[1:]])

    return with_values(module, lambda _: change)


def with_operands_storage(module: Module) -> Module:
    """``module`` where a call writes its result over its first operand, if both are as large."""

    def make(function: Any) -> Values:
        bound = relax.analysis.get_var2val(function)
        storage: dict[Any, Any] = {}
        for block in function.body.blocks:
            for binding in block.bindings:
                call = binding.value
                if not function_of(call):
                    continue
                made, taken = (_origin(each, bound) for each in (call.args[-1], call.args[0]))
                if name_of(bound.get(made)) == name_of(bound.get(taken)) == _TENSOR:
                    source, target = (bound[each].args[0] for each in (taken, made))
                    if str(bound[source].args[0]) == str(bound[target].args[0]):
                        storage[made] = source

        def change(binding: Any) -> Any:
            if binding.var not in storage:
                return None
            return with_arguments(binding.value, [storage[binding.var], *binding.value.args[1:]])

        return change

    return with_values(module, make)


def _origin(value: Any, bound: Any) -> Any:
    """The variable that ``value`` is another name of."""
    while isinstance(
        before := bound.get(value) if isinstance(value, relax.Var) else None, relax.Var
    ):
        value = before
    return value


def with_early_kills(module: Module) -> Module:
    """``module`` that frees each tensor one call before the last that uses it has run."""

    def order(bindings: list[Any]) -> list[Any]:
        result: list[Any] = []
        for binding in bindings:
            at = len(result)
            if name_of(binding.value) == _KILL_TENSOR:
                while at and name_of(result[at - 1].value) == _KILL_TENSOR:
                    at -= 1
                at = max(0, at - 1)
            result.insert(at, binding)
        return result

    return with_order(module, order)


def with_early_storage_kills(module: Module) -> Module:
    """``module`` that frees a storage before the tensor in it is made."""

    def order(bindings: list[Any]) -> list[Any]:
        result: list[Any] = []
        for binding in bindings:
            after_tensor = bool(result) and name_of(result[-1].value) == _TENSOR
            early = name_of(binding.value) == _KILL_STORAGE and after_tensor
            result.insert(len(result) - early, binding)
        return result

    return with_order(module, order)


def with_killed_results(module: Module) -> Module:
    """``module`` that frees the last tensor of each block as well."""

    def order(bindings: list[Any]) -> list[Any]:
        made = [each.var for each in bindings if name_of(each.value) == _TENSOR]
        if not made:
            return bindings
        killed = {each.value.args[0] for each in bindings if name_of(each.value) == _KILL_TENSOR}
        left = [each for each in made if each not in killed]
        return bindings if not left else [*bindings, _kill(left[-1])]

    return with_order(module, order)


def _kill(tensor: Any) -> Any:
    call = relax.op.memory.kill_tensor(tensor)
    return relax.VarBinding(relax.Var("killed", relax.TupleType([])), call)


def with_turned_shapes(module: Module) -> Module:
    """``module`` that allocates tensors of two axes or more with the first two in one order.

    It is the same when it is damaged again: a build applies the pass once more.
    """

    def change(binding: Any) -> Any:
        call = binding.value
        if name_of(call) != _BUILTIN or len(dims := call.args[0].values) < 2:
            return None
        turned = relax.ShapeExpr([*sorted(dims[:2], key=str), *dims[2:]])
        return relax.op.builtin.alloc_tensor(turned, *call.args[1:])

    return with_values(module, lambda _: change)


def with_swapped_results(module: Module) -> Module:
    """``module`` where a function writes its last two results of one type into each other.

    The tensor that is allocated later comes first then. So it is the same when it is damaged again:
    a build applies the pass once more.
    """

    def make(function: Any) -> Values:
        bound = relax.analysis.get_var2val(function)
        bindings = (each for block in function.body.blocks for each in block.bindings)
        place = {binding.var: at for at, binding in enumerate(bindings)}

        def change(binding: Any) -> Any:
            call = binding.value
            if not function_of(call) or len(call.args) < 2:
                return None
            *before, left, right = call.args
            if not all(name_of(bound.get(each)) == _BUILTIN for each in (left, right)):
                return None
            in_order = place.get(left, 0) < place.get(right, 0)
            alike = str(type_of(left)) == str(type_of(right))
            # Operands are other names of what is allocated.
            return with_arguments(call, [*before, right, left]) if in_order and alike else None

        return change

    return with_values(module, make)
