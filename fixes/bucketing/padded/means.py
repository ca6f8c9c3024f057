"""Rewrites means over padded axes as sums divided by the number of valid elements.

``mean(x)`` becomes ``sum(x) / sum(ones)``; ``padded/reductions.py`` corrects both sums. A variance
becomes the mean of squared differences from the mean. Operations keep TVM's order, so that
roundings agree. Attention over padded keys gets a bias of zeros, in which those past the end can be
hidden.
"""

from collections.abc import Sequence
from typing import Any

from tvm import relax
from tvm.relax.expr_functor import PyExprMutator, mutator

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.bucketing.padded.reductions import reduced
from relaxcheck.fixes.bucketing.padding import Site, is_operator, listed
from relaxcheck.fixes.tvm_api import Call, Expr, PrimExpr
from relaxcheck.fixes.tvm_api.functions import Module

_MEANS = ("mean", "variance", "std")


@mutator
class _Writing(PyExprMutator):  # type: ignore[misc]
    """Rewrites means and attention over padded axes."""

    def __init__(self, module: Module, symbol: PrimExpr) -> None:
        super().__init__(module)
        self.symbol = symbol

    def visit_call_(self, call: Call) -> Expr:
        new = self.visit_expr_post_order(call)
        if not is_operator(call):
            return new
        site = Site(call, self.symbol)
        if site.name in _MEANS and "float" in tvm_api.dtype_of(call) and reduced(site):
            return self._mean(site, new.args[0])
        if site.name == "nn.attention" and 1 in site.padded(1) and len(call.args) == 3:
            return self._biased(site, new)
        return new

    def _biased(self, site: Site, new: Call) -> Expr:
        """The same attention, with a bias of zeros."""
        attrs = site.call.attrs
        (batch, queries, heads, _), keys = site.dims(0), site.dims(1)[1]
        if attrs.window_size is not None or attrs.causal_mask is not None:
            return new
        shape = relax.ShapeExpr([batch, heads, queries, keys])
        zeros = self._emit(relax.op.zeros(shape, tvm_api.dtype_of(site.call.args[0])))
        scale = None if attrs.scale is None else float(attrs.scale)
        return relax.op.nn.attention(*new.args, zeros, scale=scale)

    def _mean(self, site: Site, data: Expr) -> Expr:
        dims, keep = site.dims(0), bool(site.call.attrs.keepdims)
        axes = listed(site.call.attrs.axis) or range(len(dims))
        own = [axis % len(dims) for axis in axes]
        # Integers, as a narrow float cannot count far enough.
        ones = self._emit(relax.op.ones(relax.ShapeExpr([dims[axis] for axis in own]), "int64"))
        whole = self._emit(relax.op.sum(ones))
        count = self._emit(relax.op.astype(whole, tvm_api.dtype_of(site.call)))
        if site.name == "mean":
            return self._average(data, own, keep, count)
        middle = self._emit(self._average(data, own, True, count))
        apart = self._emit(relax.op.subtract(data, middle))
        square = self._emit(relax.op.multiply(apart, apart))
        spread = self._average(square, own, keep, count)
        return spread if site.name == "variance" else relax.op.sqrt(self._emit(spread))

    def _average(self, data: Expr, axes: Sequence[int], keep: bool, count: Expr) -> Expr:
        total = self._emit(relax.op.sum(data, list(axes), keepdims=keep))
        return relax.op.divide(total, count)

    def _emit(self, expr: Expr) -> Expr:
        return self.builder_.emit(expr)


def with_own_counts(module: Module, name: str, symbol: PrimExpr) -> Module:
    """``module``, with everything over padded axes in function ``name`` in a form that can be
    masked.
    """
    writing: Any = _Writing(module, symbol)
    new = writing.visit_expr(module[name])
    counted = writing.builder_.get()
    counted.update_func(counted.get_global_var(name), new)
    return relax.transform.Normalize()(counted)
