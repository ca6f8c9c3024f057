"""Calls whose results TVM knows by their number of dimensions alone.

No call on such a result is lowered: what computes it would need a shape to be written in. Where the
shape is given by another call, such as ``shape_of``, whose type tells it, it is written out. Slices
to symbolic bounds get the dimensions that they have. Where values decide these, as of
``dynamic_strided_slice``, each gets a symbol, whose value the result has at run time. What follows
is typed again.

The dimension -1 of ``reshape`` is to TVM the quotient of two numbers of elements. Where it does not
see what that is, as of ``min(max(m - 1, 0), m) - min(2, m)`` and ``m - 3``, nothing that is made of
the result compiles. Here it is what is left of the argument's dimensions without those that are
given.
"""

import math
from collections.abc import Iterator, Sequence
from typing import Any

import tvm
from tvm import relax, tirx
from tvm.relax.expr_functor import PyExprMutator, mutator

from fixes import probes_of_shapes as probes
from fixes import (
    prover,
    shape_needs,
    symbolic_slices,
    tvm_api,
    tvm_api_functions,
    tvm_api_shapes,
)
from fixes.fix import Fix, ModulePass, Part
from fixes.known_rank import with_symbols
from fixes.tvm_api import Call, Expr, PrimExpr
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
    """``call`` with the shape that it is given written out; itself if that changes nothing."""
    name = str(getattr(call.op, "name", ""))
    if name not in SHAPED:
        return call
    arguments = [_written(argument) for argument in call.args]
    if name == "relax.reshape":
        arguments = [arguments[0], _settled(*arguments)]
    if all(new.same_as(old) for new, old in zip(arguments, call.args, strict=True)):
        return call
    return relax.Call(call.op, arguments, call.attrs, tvm_api_functions.type_arguments(call))


def _settled(data: Expr, shape: Expr) -> Expr:
    """``shape``, that ``data`` is given, with the dimension that TVM found without its quotient."""
    have = tvm_api_shapes.dims_of(tvm_api.type_of(data))
    if have is None or not isinstance(shape, relax.ShapeExpr):
        return shape
    dims = list(shape.values)
    found = [at for at, dim in enumerate(dims) if _is_quotient_of_symbols(dim)]
    if len(found) != 1:
        return shape
    (at,) = found
    left = _left_of(have, [*dims[:at], *dims[at + 1 :]])
    if left is None or tvm_api_shapes.alike(left, dims[at]):
        return shape
    return relax.ShapeExpr([*dims[:at], left, *dims[at + 1 :]])


def _is_quotient_of_symbols(dim: PrimExpr) -> bool:
    return isinstance(dim, tirx.FloorDiv) and bool(tvm_api_shapes.variables(dim.b))


def _left_of(dims: Sequence[PrimExpr], given: Sequence[PrimExpr]) -> PrimExpr | None:
    """What ``given`` have to be multiplied by for the product of ``dims``, if that is proved.

    Nothing is a dimension that is negative: that is refused where the program starts.
    """
    one = tvm_api.integer(1)
    sizes = [dim >= 0 for dim in (*dims, *given) if tvm_api.as_int(dim) is None]

    def same(left: PrimExpr, right: PrimExpr) -> bool:
        return prover.proves(tvm_api.equal(left, right), given=sizes)

    left = [factor for dim in dims for factor in _factors(dim)]
    for wanted in (factor for dim in given for factor in _factors(dim)):
        at = next((at for at, factor in enumerate(left) if same(factor, wanted)), None)
        if at is not None:
            del left[at]
    whole, known = math.prod(dims, start=one), math.prod(given, start=one)
    tried = (math.prod(left, start=one), one)
    return next((rest for rest in tried if same(whole, known * rest)), None)


def _factors(dim: PrimExpr) -> list[PrimExpr]:
    return [*_factors(dim.a), *_factors(dim.b)] if isinstance(dim, tirx.Mul) else [dim]


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
    return [call for _, call in _calls(function) if not written_out(call).same_as(call)]


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
        " knows its number of dimensions alone, or the size that reshape finds as a quotient"
    ),
    issue=None,
    parts=(
        Part("given shapes", lambda: not probes.lowers_given_shapes()),
        Part("slices", lambda: not probes.lowers_slices()),
        Part("sizes that reshape finds", lambda: not probes.compiles_found_sizes()),
    ),
    passes=(ModulePass(PASS),),
)
