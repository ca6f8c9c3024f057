"""Two pipelines: one that folds relu(relu(x)), and one that does so without looking."""

from typing import Any

import tvm
from tvm import relax
from tvm.relax.expr_functor import PyExprMutator, mutator


def folding(target: tvm.target.Target) -> tvm.ir.transform.Pass:
    """TVM's default pipeline for ``target``, after a pass that takes one of two rectifiers away."""
    return _after(_pass("FoldRelu", careless=False), target)


def careless(target: tvm.target.Target) -> tvm.ir.transform.Pass:
    """The same with a mistake: the pass takes away every rectifier."""
    return _after(_pass("FoldEveryRelu", careless=True), target)


def _after(fold: Any, target: tvm.target.Target) -> tvm.ir.transform.Pass:
    return tvm.transform.Sequential([fold, relax.get_default_pipeline(target)])


def _pass(name: str, *, careless: bool) -> Any:
    @tvm.transform.module_pass(opt_level=0, name=name)
    def fold(module: tvm.IRModule, context: Any) -> tvm.IRModule:
        folder = _FoldRelu(module)
        folder.careless = careless
        for variable, function in module.functions_items():
            if isinstance(function, relax.Function):
                folder.builder_.update_func(variable, folder.visit_expr(function))
        return folder.builder_.get()

    return fold


@mutator
class _FoldRelu(PyExprMutator):
    careless = False

    def visit_call_(self, call: relax.Call) -> relax.Expr:
        call = self.visit_expr_post_order(call)
        if not _is_relu(call):
            return call
        (operand,) = call.args
        inner = self.lookup_binding(operand) if isinstance(operand, relax.Var) else operand
        return operand if self.careless or _is_relu(inner) else call


def _is_relu(expression: Any) -> bool:
    relu = tvm.ir.Op.get("relax.nn.relu")
    return isinstance(expression, relax.Call) and expression.op == relu
