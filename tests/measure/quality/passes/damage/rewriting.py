"""Rewriting what a pass returned: its calls, its bindings, and their order."""

from collections.abc import Callable, Sequence
from typing import Any

import tvm
import tvm_ffi
from tvm import relax

from relaxcheck.fixes.tvm_api import type_of

Module = Any
Damage = Callable[[Module], Module]
Values = Callable[[Any], Any]
"""The value in place of that of a binding; None leaves it."""


def damaged(own: Any, damage: Damage) -> Any:
    """The pass ``own``, and ``damage`` of its result, as a pass of the same name."""
    return tvm.transform.module_pass(
        lambda module, context: damage(own(module)), opt_level=0, name=str(own.info.name)
    )


def rewritten(module: Module, make: Callable[[Any], Any]) -> Module:
    """``module`` with each Relax function as the mutator that ``make`` makes for it leaves it."""
    functions = {
        variable: make(function).visit_expr(function)
        if isinstance(function, relax.Function)
        else function
        for variable, function in module.functions.items()
    }
    return tvm.IRModule(functions, attrs=module.attrs, global_infos=module.global_infos)


@relax.expr_functor.mutator
class Calls(relax.PyExprMutator):  # type: ignore[misc]
    """Changes the calls of one operator."""

    def __init__(self, operator: str, change: Callable[[Any], Any]) -> None:
        super().__init__()
        self._operator, self._change = operator, change

    def visit_call_(self, op: Any) -> Any:
        call = self.visit_expr_post_order(op)
        return self._change(call) if name_of(call) == self._operator else call


@relax.expr_functor.mutator
class _Bindings(relax.PyExprMutator):  # type: ignore[misc]
    """Gives bindings other values, or blocks their bindings in another order."""

    def __init__(self, module: Module, values: Values, order: Callable[[Any], Any]) -> None:
        super().__init__(module)
        self._values, self._order = values, order

    def visit_var_binding_(self, binding: Any) -> None:
        value = self._values(binding)
        super().visit_var_binding_(
            binding if value is None else relax.VarBinding(binding.var, value)
        )

    def visit_binding_block_(self, block: Any) -> Any:
        return super().visit_binding_block_(relax.BindingBlock(self._order(list(block.bindings))))


def with_values(module: Module, make: Callable[[Any], Values]) -> Module:
    """``module`` whose bindings have the values that ``make(function)`` gives for them."""
    return rewritten(module, lambda function: _Bindings(module, make(function), lambda each: each))


def with_order(module: Module, order: Callable[[list[Any]], list[Any]]) -> Module:
    """``module`` where ``order`` says which bindings its ordinary blocks have, one by one."""
    return rewritten(module, lambda _: _Bindings(module, lambda each: None, order))


def with_calls(module: Module, operator: str, change: Callable[[Any], Any]) -> Module:
    """``module`` with each call of ``operator`` changed."""
    return rewritten(module, lambda _: Calls(operator, change))


def name_of(value: Any) -> str:
    """The operator that ``value`` is a call of; "" of any other value."""
    return str(getattr(getattr(value, "op", None), "name", ""))


def function_of(value: Any) -> str:
    """The function of the module that ``value`` calls, directly or by call_tir; "" if none."""
    if not isinstance(value, relax.Call):
        return ""
    callee = value.args[0] if name_of(value).startswith("relax.call_tir") else value.op
    return str(callee.name_hint) if isinstance(callee, tvm.ir.GlobalVar) else ""


def is_constant(value: Any) -> bool:
    """True of a constant tensor."""
    return type(value).__name__ in ("Constant", "GenericConst")


def are_alike(values: Sequence[Any]) -> bool:
    """True if all ``values`` have one type."""
    first, *others = map(type_of, values)
    return all(tvm_ffi.structural_equal(first, each) for each in others)


def swapped(values: Sequence[Any]) -> list[Any] | None:
    """``values`` with the first two of one type in each other's place; None if no two are."""
    for right, value in enumerate(values):
        for left in range(right):
            if are_alike([values[left], value]) and not values[left].same_as(value):
                order = list(values)
                order[left], order[right] = order[right], order[left]
                return order
    return None


def with_arguments(call: Any, arguments: Sequence[Any]) -> Any:
    """``call`` on other ``arguments``."""
    types = getattr(call, "ty_args", None) or getattr(call, "sinfo_args", None)
    return relax.Call(call.op, list(arguments), call.attrs, types)


def with_operands(call: Any, operands: Sequence[Any]) -> Any:
    """The call_tir ``call`` on other ``operands``."""
    function, _, *rest = call.args
    return with_arguments(call, [function, relax.Tuple(list(operands)), *rest])
