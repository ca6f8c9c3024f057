"""Damage to the results of passes: each wraps a pass, as a bad rewrite in it would."""

from collections.abc import Callable
from typing import Any

import tvm
import tvm_ffi
from tvm import relax

from relaxcheck.fixes.tvm_api import tensor_of, type_of

Module = Any
Damage = Callable[[Module], Module]


def damaged(own: Any, damage: Damage) -> Any:
    """The pass ``own``, and ``damage`` of its result, as a pass of the same name."""
    return tvm.transform.module_pass(
        lambda module, context: damage(own(module)), opt_level=0, name=str(own.info.name)
    )


def _rewritten(module: Module, mutator: Any) -> Module:
    functions = {
        variable: mutator.visit_expr(function) if isinstance(function, relax.Function) else function
        for variable, function in module.functions.items()
    }
    return tvm.IRModule(functions, attrs=module.attrs, global_infos=module.global_infos)


def _name(value: Any) -> str:
    """The operator that ``value`` is a call of; "" of any other value."""
    return str(getattr(getattr(value, "op", None), "name", ""))


@relax.expr_functor.mutator
class _Casts(relax.PyExprMutator):  # type: ignore[misc]
    """Drops a cast of a cast back to the dtype before both."""

    def visit_call_(self, op: Any) -> Any:
        call = self.visit_expr_post_order(op)
        if str(getattr(call.op, "name", "")) != "relax.astype":
            return call
        inner = self.lookup_binding(call.args[0])
        if (
            not isinstance(inner, relax.Call)
            or str(getattr(inner.op, "name", "")) != "relax.astype"
        ):
            return call
        first = inner.args[0]
        same = str(type_of(first).dtype) == str(type_of(op).dtype)
        return first if same else call


@relax.expr_functor.mutator
class _Operands(relax.PyExprMutator):  # type: ignore[misc]
    """Swaps the operands of subtractions of tensors of one shape."""

    def visit_call_(self, op: Any) -> Any:
        call = self.visit_expr_post_order(op)
        if _name(call) != "relax.subtract":
            return call
        left, right = call.args
        if not tvm_ffi.structural_equal(type_of(left), type_of(right)):
            return call
        return relax.op.subtract(right, left)


@relax.expr_functor.mutator
class _Constants(relax.PyExprMutator):  # type: ignore[misc]
    """Replaces each constant by the first of its shape and dtype."""

    def __init__(self) -> None:
        super().__init__()
        self._first: dict[tuple[object, ...], Any] = {}

    def visit_call_(self, op: Any) -> Any:
        call = self.visit_expr_post_order(op)
        if _name(call) != "relax.call_tir":
            return call
        function, operands, *rest = call.args
        merged = relax.Tuple([self._merged(each) for each in operands.fields])
        types = getattr(call, "ty_args", None) or call.sinfo_args
        return relax.Call(call.op, [function, merged, *rest], call.attrs, types)

    def _merged(self, operand: Any) -> Any:
        if type(operand).__name__ not in ("Constant", "GenericConst"):
            return operand
        value = tensor_of(operand)
        return self._first.setdefault((tuple(value.shape), str(value.dtype)), operand)


@relax.expr_functor.mutator
class _Storage(relax.PyExprMutator):  # type: ignore[misc]
    """Gives two storages of one size to one tensor each, though both are alive."""

    def __init__(self) -> None:
        super().__init__()
        self._first: dict[str, Any] = {}

    def visit_var_binding_(self, binding: Any) -> None:
        value = binding.value
        if _name(value) == "relax.memory.alloc_storage":
            size = str(value.args[0])
            if size in self._first:
                self.set_var_remap(getattr(binding.var, "vid", binding.var), self._first[size])
                return
            self._first[size] = self.builder_.emit(value)
            self.set_var_remap(getattr(binding.var, "vid", binding.var), self._first[size])
            return
        super().visit_var_binding_(binding)


def without_casts(module: Module) -> Module:
    """``module`` where a cast and a cast back are none."""
    return _rewritten(module, _Casts())


def with_swapped_operands(module: Module) -> Module:
    """``module`` where ``a - b`` is ``b - a``."""
    return _rewritten(module, _Operands())


def with_merged_constants(module: Module) -> Module:
    """``module`` where constants of one shape and dtype are one."""
    return _rewritten(module, _Constants())


def with_aliased_storage(module: Module) -> Module:
    """``module`` where storages of one size are one, whatever lives in them."""
    return _rewritten(module, _Storage())


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


def with_a_count(module: Module) -> Module:
    """``module`` that counts how often it went through here: never the same when applied again."""
    count = int(dict(module.attrs or {}).get("count", 0))
    return module.with_attr("count", count + 1)


@relax.expr_functor.mutator
class _Calls(relax.PyExprMutator):  # type: ignore[misc]
    """Changes the calls of one operator."""

    def __init__(self, operator: str, change: Callable[[Any], Any]) -> None:
        super().__init__()
        self._operator, self._change = operator, change

    def visit_call_(self, op: Any) -> Any:
        call = self.visit_expr_post_order(op)
        return self._change(call) if _name(call) == self._operator else call


def _are_alike(values: Any) -> bool:
    """True if all ``values`` have one type."""
    first, *others = map(type_of, values)
    return all(tvm_ffi.structural_equal(first, each) for each in others)


def without_activation(module: Module) -> Module:
    """``module`` without its rectifiers."""
    return _rewritten(module, _Calls("relax.nn.relu", lambda call: call.args[0]))


def with_last_axis(module: Module) -> Module:
    """``module`` whose softmax has lost its axis, and is along the last."""
    change = lambda call: relax.op.nn.softmax(call.args[0], axis=-1)  # noqa: E731
    return _rewritten(module, _Calls("relax.nn.softmax", change))


def with_first_operand(module: Module) -> Module:
    """``module`` whose maxima are their first operand."""
    change = lambda call: call.args[0] if _are_alike(call.args) else call  # noqa: E731
    return _rewritten(module, _Calls("relax.maximum", change))


def with_reversed_parts(module: Module) -> Module:
    """``module`` that joins tensors of one type from behind."""

    def change(call: Any) -> Any:
        parts = getattr(call.args[0], "fields", None)
        if parts is None or not _are_alike(parts):
            return call
        return relax.op.concat(list(parts)[::-1], axis=int(call.attrs.axis))

    return _rewritten(module, _Calls("relax.concat", change))


def without_constants(module: Module) -> Module:
    """``module`` whose sums with a constant are without it."""

    def change(call: Any) -> Any:
        operand = call.args[1]
        if type(operand).__name__ not in ("Constant", "GenericConst"):
            return call
        return relax.op.add(call.args[0], relax.op.zeros_like(operand))

    return _rewritten(module, _Calls("relax.add", change))
