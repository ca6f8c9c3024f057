"""Calls whose results TVM knows by their number of dimensions alone.

No call on such a result is lowered: what computes it would need a shape to be written in. Where the
shape is given by another call, such as ``shape_of``, whose type tells it, it is written out. Slices
to symbolic bounds get the dimensions that they have. Where values decide these, as of
``dynamic_strided_slice``, each gets a symbol, whose value the result has at run time. What follows
is typed again.
"""

from collections.abc import Iterator
from typing import Any

import tvm
from tvm import relax
from tvm.relax.expr_functor import PyExprMutator, mutator

from fixes import probes_of_shapes as probes
from fixes import shape_needs, symbolic_slices, tvm_api, tvm_api_functions, tvm_api_shapes
from fixes.fix import Fix, ModulePass, Part
from fixes.known_rank import with_symbols
from fixes.tvm_api import Call, Expr
from fixes.tvm_api_functions import Binding, Function, Module

SHAPED = (
    *(f"relax.{name}" for name in ("reshape", "broadcast_to", "collapse_sum_to")),
    *(f"relax.{name}" for name in ("zeros", "ones", "full")),
    "relax.image.resize2d",
)
"""The operators that are given a shape."""


def _written(argument: Expr) -> Expr:
    """The dimensions of ``argument`` if it is a shape whose type tells them, else itself."""
    type_ = tvm_api.type_of(argument)
    dims = tvm_api_shapes.dims_of(type_) if tvm_api_shapes.is_shape_type(type_) else None
    if dims is None or isinstance(argument, relax.ShapeExpr):
        return argument
    return relax.ShapeExpr(dims)


def written_out(call: Call) -> Call:
    """``call`` with the shape that it is given written out, if that can be."""
    if str(getattr(call.op, "name", "")) not in SHAPED:
        return call
    arguments = [_written(argument) for argument in call.args]
    return relax.Call(call.op, arguments, call.attrs, tvm_api_functions.type_arguments(call))


def _calls(function: Function) -> Iterator[tuple[Expr, Call]]:
    """The calls of operators that variables are bound to, each after its variable."""
    sequences: list[Any] = []

    def visit(expr: Expr) -> None:
        if isinstance(expr, relax.SeqExpr):
            sequences.append(expr)

    relax.analysis.post_order_visit(function, visit)
    for sequence in sequences:
        for block in sequence.blocks:
            for binding in block.bindings:
                value = getattr(binding, "value", None)
                if isinstance(value, relax.Call) and isinstance(value.op, tvm.ir.Op):
                    yield binding.var, value


def _unwritten(function: Function) -> list[Call]:
    """The calls that are given a shape which is not written out, and can be."""
    return [
        call
        for _, call in _calls(function)
        if str(call.op.name) in SHAPED
        and any(not _written(argument).same_as(argument) for argument in call.args)
    ]


def _unnamed(function: Function) -> list[Call]:
    """The calls whose results are to get symbols: other calls have them as arguments.

    Their own arguments' shapes are known, and no fix makes the result's known of these.
    """
    calls = list(_calls(function))
    used: list[Expr] = []
    for _, call in calls:
        for argument in call.args:
            used += argument.fields if isinstance(argument, relax.Tuple) else [argument]
    return [
        call
        for variable, call in calls
        if str(call.op.name) not in shape_needs.TABLE
        and tvm_api.is_tensor(variable)
        and not tvm_api.has_shape(variable)
        and all(tvm_api_shapes.is_known(tvm_api.type_of(argument)) for argument in call.args)
        and any(variable.same_as(one) for one in used)
    ]


@mutator
class _Retyping(PyExprMutator):  # type: ignore[misc]
    """Writes out the shapes that calls are given, and names the dimensions of one's result."""

    def __init__(self, module: Module, unnamed: Call | None) -> None:
        super().__init__(module)
        self.unnamed = unnamed

    def visit_match_cast_(self, cast: Binding) -> None:
        tvm_api_functions.visit_cast(self, cast)

    def visit_call_(self, call: Call) -> Expr:
        new = written_out(self.visit_expr_post_order(call))
        if self.unnamed is None or not call.same_as(self.unnamed):
            return new
        found = self.builder_.emit(new)
        type_ = tvm_api.type_of(found)
        dims = symbolic_slices.sliced_dims(new) if new.op.name == symbolic_slices.OPERATOR else None
        if dims is not None:
            typed = tvm_api.tensor_type(dims, tvm_api.dtype_of(type_))
        else:
            typed = with_symbols(type_, str(new.op.name).rpartition(".")[2])
        return self.builder_.match_cast(found, typed)


def named(module: Module) -> Module:
    """``module`` with a shape for each result that this pass can give one; itself if there is none.

    Of a result it can once the shapes of all that it is computed of are known.
    """
    for variable, _ in tvm_api_functions.functions(module):
        name = str(variable.name_hint)
        if _unwritten(module[name]):
            module = _retyped(module, name, None)
        # One at a time: with its shape, those of others may be known.
        while unnamed := _unnamed(module[name]):
            module = _retyped(module, name, unnamed[0])
    return module


def _retyped(module: Module, name: str, unnamed: Call | None) -> Module:
    """``module`` with the function ``name`` typed again."""
    retyping = _Retyping(module, unnamed)
    function = retyping.visit_expr(module[name])
    module = retyping.builder_.get()
    module.update_func(module.get_global_var(name), tvm_api_functions.inferred(function))
    return relax.transform.Normalize()(module)


def _run(module: Module, context: Any) -> Module:
    return named(module)


PASS = tvm_api_functions.module_pass("NameResults", _run)

FIX = Fix(
    name="known_results",
    operators=(*SHAPED, "relax.dynamic_strided_slice"),
    fault=(
        "calls on a result are not lowered whose shape another call gives, or values decide: TVM"
        " knows its number of dimensions alone"
    ),
    issue=None,
    parts=(
        Part("given shapes", lambda: not probes.lowers_given_shapes()),
        Part("slices", lambda: not probes.lowers_slices()),
    ),
    passes=(ModulePass(PASS),),
)
