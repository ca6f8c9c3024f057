"""Damage to calls of operators, as bad rewrites of graphs make it."""

from typing import Any

import tvm
import tvm_ffi
from tvm import relax

from relaxcheck.fixes.tvm_api import type_of
from tests.measure.quality.passes.damage.rewriting import (
    Module,
    Values,
    are_alike,
    is_constant,
    name_of,
    rewritten,
    with_calls,
    with_values,
)


def without_casts(module: Module) -> Module:
    """``module`` where a cast and a cast back are none."""

    def make(function: Any) -> Values:
        bound = relax.analysis.get_var2val(function)

        def change(binding: Any) -> Any:
            call = binding.value
            inner = bound.get(call.args[0]) if name_of(call) == "relax.astype" else None
            if name_of(inner) != "relax.astype":
                return None
            return inner.args[0] if are_alike([inner.args[0], call]) else None

        return change

    return with_values(module, make)


@relax.expr_functor.mutator
class _MatchCasts(relax.PyExprMutator):  # type: ignore[misc]
    """Drops the match_cast of each tensor whose type says less before."""

    def visit_match_cast_(self, binding: Any) -> None:
        if are_alike([binding.value, binding.var]):
            super().visit_match_cast_(binding)
            return
        super().visit_var_binding_(relax.VarBinding(binding.var, binding.value))


def without_match_casts(module: Module) -> Module:
    """``module`` where a match_cast says nothing of its operand."""
    return rewritten(module, lambda _: _MatchCasts())


def with_first_items(module: Module) -> Module:
    """``module`` where each item of a tuple is the first one, if they have one type."""

    def change(binding: Any) -> Any:
        item = binding.value
        if not isinstance(item, relax.TupleGetItem) or not item.index:
            return None
        first = relax.TupleGetItem(item.tuple_value, 0)
        fields = type_of(item.tuple_value).fields
        alike = tvm_ffi.structural_equal(fields[0], fields[item.index])
        return first if alike else None

    return with_values(module, lambda _: change)


def with_swapped_operands(module: Module) -> Module:
    """``module`` where ``a - b`` is ``b - a``."""

    def change(call: Any) -> Any:
        return relax.op.subtract(call.args[1], call.args[0]) if are_alike(call.args) else call

    return with_calls(module, "relax.subtract", change)


def _with_equal_calls(module: Module, *, attributes: bool) -> Module:
    """``module`` where calls of one operator and type are one.

    They have the same operands, and any ``attributes``; or the same attributes, and operands of
    which constants may be any others.
    """

    def make(function: Any) -> Values:
        seen: list[Any] = []
        # A variable of a dataflow block is none outside of it.
        place = {
            binding.var: at
            for at, block in enumerate(function.body.blocks)
            for binding in block.bindings
        }

        def same(left: Any, right: Any) -> bool:
            if left.same_as(right):
                return True
            constants = not attributes and is_constant(left) and is_constant(right)
            return constants and are_alike([left, right])

        def change(binding: Any) -> Any:
            call = binding.value
            if not isinstance(call, relax.Call) or not isinstance(call.op, tvm.ir.Op):
                return None
            for before in seen:
                other = before.value
                if (
                    name_of(other) == name_of(call)
                    and place.get(before.var) == place.get(binding.var)
                    and len(other.args) == len(call.args)
                    and are_alike([before.var, binding.var])
                    and all(map(same, other.args, call.args))
                    and (attributes or tvm_ffi.structural_equal(other.attrs, call.attrs))
                ):
                    return before.var
            seen.append(binding)
            return None

        return change

    return with_values(module, make)


def with_equal_attributes(module: Module) -> Module:
    """``module`` where calls that differ in their attributes alone are one."""
    return _with_equal_calls(module, attributes=True)


def with_equal_constants(module: Module) -> Module:
    """``module`` where calls that differ in their constants alone are one."""
    return _with_equal_calls(module, attributes=False)


def with_a_count(module: Module) -> Module:
    """``module`` that counts how often it went through here: never the same when applied again."""
    count = int(dict(module.attrs or {}).get("count", 0))
    return module.with_attr("count", count + 1)


@relax.expr_functor.mutator
class _Results(relax.PyExprMutator):  # type: ignore[misc]
    """Makes each result of a tuple the first, if all have one type."""

    def visit_seq_expr_(self, op: Any) -> Any:
        fields = getattr(op.body, "fields", ())
        if len(fields) > 1 and are_alike(fields):
            op = relax.SeqExpr(op.blocks, relax.Tuple([fields[0]] * len(fields)))
        return super().visit_seq_expr_(op)


def with_first_results(module: Module) -> Module:
    """``module`` whose functions return the first of their results for each of one type."""
    return rewritten(module, lambda _: _Results())


def without_called_functions(module: Module) -> Module:
    """``module`` without the private Relax functions that others call."""
    kept = {
        variable: function
        for variable, function in module.functions.items()
        if not isinstance(function, relax.Function) or "global_symbol" in dict(function.attrs or {})
    }
    return tvm.IRModule(kept, attrs=module.attrs, global_infos=module.global_infos)


def without_activation(module: Module) -> Module:
    """``module`` without its rectifiers."""
    return with_calls(module, "relax.nn.relu", lambda call: call.args[0])


def with_last_axis(module: Module) -> Module:
    """``module`` whose softmax has lost its axis, and is along the last."""
    return with_calls(
        module, "relax.nn.softmax", lambda call: relax.op.nn.softmax(call.args[0], axis=-1)
    )


def with_first_operand(module: Module) -> Module:
    """``module`` whose maxima are their first operand."""
    return with_calls(
        module, "relax.maximum", lambda call: call.args[0] if are_alike(call.args) else call
    )


def with_reversed_parts(module: Module) -> Module:
    """``module`` that joins tensors of one type from behind."""

    def change(call: Any) -> Any:
        parts = getattr(call.args[0], "fields", None)
        if parts is None or not are_alike(parts):
            return call
        return relax.op.concat(list(parts)[::-1], axis=int(call.attrs.axis))

    return with_calls(module, "relax.concat", change)


def without_constants(module: Module) -> Module:
    """``module`` whose sums with a constant are without it."""

    def change(call: Any) -> Any:
        operand = call.args[1]
        if not is_constant(operand):
            return call
        return relax.op.add(call.args[0], relax.op.zeros_like(operand))

    return with_calls(module, "relax.add", change)
