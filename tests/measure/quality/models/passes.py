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


def _behind(name: str, outer: str, inner: str, changed: Callable[[Any, Any], Any]) -> Any:
    """A pass that puts ``changed`` in place of calls of ``outer`` on the result of ``inner``."""

    def rewrite(rewriter: Any, call: Any) -> Any:
        if not _operator(call, outer) or not isinstance(call.args[0], relax.Var):
            return call
        before = rewriter.lookup_binding(call.args[0])
        is_inner = isinstance(before, relax.Call) and _operator(before, inner)
        return changed(call, before) if is_inner else call

    return _pass(name, lambda module: _rewritten(module, rewrite))


def lose_gate() -> Any:
    """A product with a sigmoid becomes one with the sigmoid's operand."""
    return _behind(
        "LoseGate",
        "relax.multiply",
        "relax.sigmoid",
        lambda call, gate: relax.op.multiply(gate.args[0], call.args[1]),
    )


def drop_softmax() -> Any:
    """The product of a softmax and a matrix becomes that of the softmax's operand."""
    return _behind(
        "DropSoftmax",
        "relax.matmul",
        "relax.nn.softmax",
        lambda call, softmax: relax.op.matmul(softmax.args[0], call.args[1]),
    )


def drop_scale() -> Any:
    """A normalization behind a sum forgets its scale."""

    def changed(call: Any, added: Any) -> Any:
        data, scale, shift = call.args
        ones = relax.op.ones_like(scale)
        return relax.op.nn.layer_norm(data, ones, shift, call.attrs.axes, call.attrs.epsilon)

    return _behind("DropScale", "relax.nn.layer_norm", "relax.add", changed)


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
