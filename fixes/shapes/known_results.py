"""Calls of whose results TVM knows only the rank.

TVM lowers no call on such a result, as the lowered function needs a shape. If another call computes
the shape, such as ``shape_of``, whose type tells it, it is written out. Slices to symbolic bounds
get their dimensions. Where values determine these, as for ``dynamic_strided_slice``, each gets a
symbol, whose value comes from the result at run time. The types of all that follows are inferred
again.

For TVM, the dimension -1 of ``reshape`` is the quotient of two numbers of elements. If it cannot
simplify that, as with ``min(max(m - 1, 0), m) - min(2, m)`` and ``m - 3``, nothing that uses the
result compiles. Here it is the product of the argument's dimensions that remains without the given
ones.
"""

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import tvm
from tvm import relax, tirx
from tvm.relax.expr_functor import PyExprMutator, mutator

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework import probes
from relaxcheck.fixes.framework.fix import FaultPart, Fix, ModulePass
from relaxcheck.fixes.lowerings.slices import symbolic_slices
from relaxcheck.fixes.proving import needs as shape_needs
from relaxcheck.fixes.proving import prover
from relaxcheck.fixes.shapes.known_rank import with_symbols
from relaxcheck.fixes.tvm_api import Call, Expr, PrimExpr
from relaxcheck.fixes.tvm_api import functions as tvm_api_functions
from relaxcheck.fixes.tvm_api import shapes as tvm_api_shapes
from relaxcheck.fixes.tvm_api.functions import Binding, Function, Module

SHAPED = (
    *(f"relax.{name}" for name in ("reshape", "broadcast_to", "collapse_sum_to")),
    *(f"relax.{name}" for name in ("zeros", "ones", "full")),
    "relax.image.resize2d",
)
"""The operators with a shape argument."""


def _written(argument: Expr) -> Expr:
    """The dimensions of ``argument`` if it is a shape whose type tells them, else itself."""
    type_ = tvm_api.type_of(argument)
    dims = tvm_api_shapes.dims_of(type_) if tvm_api_shapes.is_shape_type(type_) else None
    if dims is None or isinstance(argument, relax.ShapeExpr):
        return argument
    return relax.ShapeExpr(dims)


def written_out(call: Call) -> Call:
    """``call`` with its shape argument written out; itself if nothing changes."""
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
    """``shape``, which reshapes ``data``, with its inferred dimension free of quotients."""
    have = tvm_api_shapes.dims_of(tvm_api.type_of(data))
    if have is None or not isinstance(shape, relax.ShapeExpr):
        return shape
    dims = list(shape.values)
    quotients = [at for at, dim in enumerate(dims) if _is_quotient_of_symbols(dim)]
    if len(quotients) != 1:
        return shape
    (at,) = quotients
    left = _left_of(have, [*dims[:at], *dims[at + 1 :]])
    if left is None or tvm_api_shapes.alike(left, dims[at]):
        return shape
    return relax.ShapeExpr([*dims[:at], left, *dims[at + 1 :]])


def _is_quotient_of_symbols(dim: PrimExpr) -> bool:
    return isinstance(dim, tirx.FloorDiv) and bool(tvm_api_shapes.variables(dim.b))


def _left_of(dims: Sequence[PrimExpr], known_dims: Sequence[PrimExpr]) -> PrimExpr | None:
    """The factor by which ``known_dims`` must be multiplied for the product of ``dims``, if proved.

    No dimension is negative: that is refused where the program starts.
    """
    count = tvm_api.integer(1)
    sizes = [dim >= 0 for dim in (*dims, *known_dims) if tvm_api.as_int(dim) is None]

    def same(left: PrimExpr, right: PrimExpr) -> bool:
        return prover.proves(tvm_api.equal(left, right), premises=sizes)

    left = [factor for dim in dims for factor in _factors(dim)]
    for wanted in (factor for dim in known_dims for factor in _factors(dim)):
        at = next((at for at, factor in enumerate(left) if same(factor, wanted)), None)
        if at is not None:
            del left[at]
    whole, known = math.prod(dims, start=count), math.prod(known_dims, start=count)
    tried = (math.prod(left, start=count), count)
    return next((rest for rest in tried if same(whole, known * rest)), None)


def _factors(dim: PrimExpr) -> list[PrimExpr]:
    return [*_factors(dim.a), *_factors(dim.b)] if isinstance(dim, tirx.Mul) else [dim]


def _calls(function: Function) -> Iterator[tuple[Expr, Call]]:
    """The operator calls bound to variables, each after its variable."""
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
    """The calls with a shape argument that can be written out, and is not."""
    return [call for _, call in _calls(function) if not written_out(call).same_as(call)]


def _unnamed(function: Function) -> list[Call]:
    """The calls whose results need symbols: those that other calls use as arguments.

    The shapes of their own arguments are known, and no fix infers the result's from them.
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
        and any(variable.same_as(symbol) for symbol in used)
    ]


@mutator
class _Retyping(PyExprMutator):  # type: ignore[misc]
    """Writes out shape arguments, and names the dimensions of the result of one call."""

    def __init__(self, module: Module, unnamed: Call | None) -> None:
        super().__init__(module)
        self.unnamed = unnamed

    def visit_match_cast_(self, cast: Binding) -> None:
        tvm_api_functions.visit_cast(self, cast)

    def visit_call_(self, call: Call) -> Expr:
        new = written_out(self.visit_expr_post_order(call))
        if self.unnamed is None or not call.same_as(self.unnamed):
            return new
        result = self.builder_.emit(new)
        type_ = tvm_api.type_of(result)
        dims = symbolic_slices.sliced_dims(new) if new.op.name == symbolic_slices.OPERATOR else None
        if dims is not None:
            typed = tvm_api.tensor_type(dims, tvm_api.dtype_of(type_))
        else:
            typed = with_symbols(type_, str(new.op.name).rpartition(".")[2])
        return self.builder_.match_cast(result, typed)


def named(module: Module) -> Module:
    """``module`` with shapes for all results that this pass can complete; itself if none.

    A result can be completed once all shapes that it depends on are known.
    """
    for variable, _ in tvm_api_functions.functions(module):
        name = str(variable.name_hint)
        if _unwritten(module[name]):
            module = _retyped(module, name, None)
        # One at a time: its shape may complete others.
        while unnamed := _unnamed(module[name]):
            module = _retyped(module, name, unnamed[0])
    return module


def _retyped(module: Module, name: str, unnamed: Call | None) -> Module:
    """``module`` with the types in function ``name`` inferred again."""
    retyping = _Retyping(module, unnamed)
    function = retyping.visit_expr(module[name])
    module = retyping.builder_.get()
    module.update_func(module.get_global_var(name), tvm_api_functions.inferred(function))
    return relax.transform.Normalize()(module)


def _run(module: Module, context: Any) -> Module:
    return named(module)


PASS = tvm_api_functions.module_pass("NameResults", _run)


def lowers_computed_shapes() -> bool:
    """True if a tensor is stretched to the shape of another."""
    builder = relax.BlockBuilder()
    x, y = probes.inputs([(2,), (1,)])
    with builder.function("main", [x, y]):
        shape = builder.emit(relax.op.shape_of(x))
        builder.emit_func_output(builder.emit(relax.op.broadcast_to(y, shape)))
    try:
        return bool(
            (probes.run(builder.get(), *(np.ones(n, "float32") for n in (2, 1))) == 1).all()
        )
    except Exception:
        return False


def compiles_inferred_sizes() -> bool:
    """True if a program compiles on a slice whose first dimension reshape must infer."""
    m = tvm_api.shape_var("m")

    def make(builder: Any, x: Any) -> Any:
        part = builder.emit(relax.op.strided_slice(x, [0], [2], [-1], [1]))
        rows = builder.emit(relax.op.reshape(part, (-1, m - 3)))
        return builder.emit(relax.op.nn.relu(rows))

    builder = relax.BlockBuilder()
    (x,) = probes.inputs([(m,)])
    with builder.function("main", [x]):
        builder.emit_func_output(make(builder, x))
    try:
        return probes.run(builder.get(), np.ones(5, "float32")).shape == (1, 2)
    except Exception:
        return False


def lowers_slices() -> bool:
    """True if the sum of a tensor and a slice with computed bounds is lowered."""
    builder = relax.BlockBuilder()
    x, y = probes.inputs([(2,), (tvm_api.shape_var("n"),)])
    bounds = [tvm_api.const(np.array([bound], "int64")) for bound in (1, 2, 1)]
    with builder.function("main", [x, y]):
        sliced = builder.emit(relax.op.dynamic_strided_slice(x, *bounds))
        builder.emit_func_output(builder.emit(relax.op.add(sliced, y)))
    try:
        return bool(
            (probes.run(builder.get(), *(np.ones(n, "float32") for n in (2, 1))) == 2).all()
        )
    except Exception:
        return False


FIX = Fix(
    name="known_results",
    operators=(*SHAPED, "relax.dynamic_strided_slice"),
    fault=(
        "calls are not lowered if another call or values determine the shape of an operand; nor is"
        " what follows a reshape whose inferred size is a quotient of symbols"
    ),
    issue=None,
    parts=(
        FaultPart("given shapes", lambda: not lowers_computed_shapes()),
        FaultPart("slices", lambda: not lowers_slices()),
        FaultPart("sizes that reshape finds", lambda: not compiles_inferred_sizes()),
    ),
    passes=(ModulePass(PASS),),
    after="known_rank",
)
