"""Faulty passes of the compiler, to be planted between TVM's own.

Each is right about most programs: it does its harm once, or where a pattern is.
"""

from collections.abc import Callable
from typing import Any

import tvm
from tvm import relax
from tvm.relax.expr_functor import PyExprMutator, mutator


def _pass(name: str, function: Callable[[Any], Any]) -> Any:
    def run(module: Any, context: Any) -> Any:
        return function(module)

    return tvm.transform.module_pass(run, opt_level=0, name=name)


def _operator(call: Any, name: str) -> bool:
    return isinstance(call.op, tvm.ir.Op) and call.op.name == name


def _rewritten(module: Any, rewrite: Callable[[Any, Any], Any]) -> Any:
    """``module`` with every call of ``main`` that ``rewrite`` gives another expression for."""

    @mutator
    class Rewriter(PyExprMutator):  # type: ignore[misc]
        def visit_call_(self, call: Any) -> Any:
            call = self.visit_expr_post_order(call)
            return rewrite(self, call)

    module = module.clone()
    rewriter = Rewriter(module)
    module.update_func(module.get_global_var("main"), rewriter.visit_expr(module["main"]))
    return module


def lose_gate() -> Any:
    """A product with a sigmoid becomes one with the sigmoid's operand."""

    def rewrite(rewriter: Any, call: Any) -> Any:
        if not _operator(call, "relax.multiply") or not isinstance(call.args[0], relax.Var):
            return call
        inner = rewriter.lookup_binding(call.args[0])
        if isinstance(inner, relax.Call) and _operator(inner, "relax.sigmoid"):
            return relax.op.multiply(inner.args[0], call.args[1])
        return call

    return _pass("LoseGate", lambda module: _rewritten(module, rewrite))


def drop_softmax() -> Any:
    """The product of a softmax and a matrix becomes that of the softmax's operand."""

    def rewrite(rewriter: Any, call: Any) -> Any:
        if not _operator(call, "relax.matmul") or not isinstance(call.args[0], relax.Var):
            return call
        inner = rewriter.lookup_binding(call.args[0])
        if isinstance(inner, relax.Call) and _operator(inner, "relax.nn.softmax"):
            return relax.op.matmul(inner.args[0], call.args[1])
        return call

    return _pass("DropSoftmax", lambda module: _rewritten(module, rewrite))


def drop_scale() -> Any:
    """A normalization behind a sum forgets its scale."""

    def rewrite(rewriter: Any, call: Any) -> Any:
        if not _operator(call, "relax.nn.layer_norm") or not isinstance(call.args[0], relax.Var):
            return call
        inner = rewriter.lookup_binding(call.args[0])
        if isinstance(inner, relax.Call) and _operator(inner, "relax.add"):
            attributes = call.attrs
            ones = relax.op.ones_like(call.args[1])
            return relax.op.nn.layer_norm(
                call.args[0], ones, call.args[2], attributes.axes, attributes.epsilon
            )
        return call

    return _pass("DropScale", lambda module: _rewritten(module, rewrite))


def merge_storage() -> Any:
    """After memory is planned, a buffer gets the storage of one that is read after it is written.

    Of the storages of one size, the last takes the place of the one before it.
    """

    def merged(module: Any) -> Any:
        sizes: dict[int, list[Any]] = {}
        for block in module["main"].body.blocks:
            for binding in block.bindings:
                value = binding.value
                if isinstance(value, relax.Call) and _operator(value, "relax.memory.alloc_storage"):
                    (size,) = value.args[0].values
                    if isinstance(size, tvm.tirx.IntImm):
                        sizes.setdefault(int(size), []).append(binding.var)
        pairs = [same[-2:] for same in sizes.values() if len(same) > 1]
        if not pairs:
            return module
        kept, lost = pairs[0]

        def rewrite(rewriter: Any, call: Any) -> Any:
            if _operator(call, "relax.memory.alloc_tensor") and call.args[0].same_as(lost):
                return relax.Call(call.op, [kept, *call.args[1:]], call.attrs, call.ty_args)
            return call

        return _rewritten(module, rewrite)

    return _pass("MergeStorage", merged)
