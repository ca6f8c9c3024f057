"""Places calls after the match_cast that defines their dimensions.

FuseOps puts a fused call in the place of the first of its operators. If a later one uses a symbol
that a match_cast in between defines, the call stands before it: "PrimExpr has not been computed".
"""

from typing import Any

import tvm
from tvm import relax

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework import probes
from relaxcheck.fixes.framework.fix import FaultPart, Fix, ModulePass, Rebinding
from relaxcheck.fixes.tvm_api import Expr, PrimExpr
from relaxcheck.fixes.tvm_api import functions as tvm_api_functions
from relaxcheck.fixes.tvm_api import shapes as tvm_api_shapes
from relaxcheck.fixes.tvm_api.functions import Binding, Function


def _used(expr: Expr) -> set[Any]:
    """The variables and symbols in the value of a binding."""
    if isinstance(expr, relax.Call):
        parts = [expr.op, *expr.args]
        types = [
            v
            for argument in tvm_api_functions.type_arguments(expr)
            for v in tvm_api_shapes.symbols_of(argument)
        ]
        return set(types).union(*map(_used, parts))
    if isinstance(expr, relax.Tuple):
        return set().union(*map(_used, expr.fields))
    if isinstance(expr, relax.TupleGetItem):
        return _used(expr.tuple_value)
    if isinstance(expr, relax.ShapeExpr):
        return {v for dim in expr.values for v in tvm_api_shapes.variables(dim)}
    if isinstance(expr, relax.Var):
        return {expr}
    value = tvm_api_shapes.integer_of(expr)
    return set() if value is None else set(tvm_api_shapes.variables(value))


def _needed(binding: Binding, defined: set[PrimExpr]) -> set[Any]:
    """The definitions that must precede ``binding``, which itself defines ``defined``."""
    if isinstance(binding, relax.MatchCast):
        type_ = tvm_api_functions.type_of_cast(binding)
    else:
        type_ = tvm_api.type_of(binding.var)
    return (_used(binding.value) | set(tvm_api_shapes.symbols_of(type_))) - defined


def _ordered(bindings: list[Binding], known: set[PrimExpr]) -> list[Binding]:
    """``bindings`` in their order, except that each follows those that it needs.

    ``known`` are the symbols defined before; adds those of ``bindings``. Leaves ``bindings`` alone
    if they need each other.
    """
    makers: dict[Any, int] = {}
    needs = []
    for number, binding in enumerate(bindings):
        new: set[PrimExpr] = set()
        if isinstance(binding, relax.MatchCast):
            dims = tvm_api_shapes.dims_within(tvm_api_functions.type_of_cast(binding))
            new = {dim for _, _, dim in dims if tvm_api.is_variable(dim)} - known
            known |= new
        makers.update(dict.fromkeys([binding.var, *new], number))
        needs.append(_needed(binding, new))
    order: list[int] = []
    left = list(range(len(bindings)))
    while left:
        for number in left:
            before = {makers[need] for need in needs[number] if need in makers} - {number}
            if before.issubset(order):
                break
        else:
            return bindings
        order.append(number)
        left.remove(number)
    return [bindings[number] for number in order]


def _rewrite(name: str, function: Function) -> Function:
    known = {
        symbol
        for parameter in function.params
        for symbol in tvm_api_shapes.symbols_of(tvm_api.type_of(parameter))
    }
    blocks = []
    changed = False
    for block in tvm_api_functions.sequence(function.body).blocks:
        bindings = list(block.bindings)
        ordered = _ordered(bindings, known)
        # Bindings outside a dataflow block may have effects.
        if isinstance(block, relax.DataflowBlock) and ordered != bindings:
            block, changed = relax.DataflowBlock(ordered), True
        blocks.append(block)
    return tvm_api_functions.rebuilt(function, blocks) if changed else function


PASS = tvm_api_functions.rewriting("OrderShapeDefinitions", _rewrite)


def _rebindings() -> tuple[Rebinding, ...]:
    """FuseOps as it stands, with its calls in order: TVM's own pipelines have no passes of ours."""
    from tvm.relax.transform import transform

    before = transform.FuseOps

    def FuseOps(fuse_opt_level: int = -1) -> Any:
        return tvm.transform.Sequential([before(fuse_opt_level), PASS], name="FuseOps")

    return (Rebinding(before, FuseOps),)


def fused_call_has_its_dimensions() -> bool:
    """True if calls before and after a match_cast are fused and still compile."""
    m, k = tvm_api.shape_var("m"), tvm_api.shape_var("k")
    builder = relax.BlockBuilder()
    x = relax.Var("x", tvm_api.tensor_type((m,), "float32"))
    y = relax.Var("y", tvm_api.unshaped_type(1, "float32"))
    with builder.function("main", [x, y]):
        with builder.dataflow():
            before = builder.emit(relax.op.negative(x))
            builder.match_cast(y, tvm_api.tensor_type((k,), "float32"))
            after = relax.op.broadcast_to(before, relax.ShapeExpr([k, m]))
            result = builder.emit_output(builder.emit(after))
        builder.emit_func_output(result)
    try:
        probes.PIPELINE(tvm.target.Target(probes.TARGET))(builder.get())
    except Exception:
        return False
    return True


FIX = Fix(
    name="shape_order",
    operators=(),
    fault=(
        "FuseOps puts a call before the match_cast that defines its dimensions, and the function"
        " does not compile"
    ),
    issue="apache/tvm#20177",
    parts=(FaultPart("fused calls", lambda: not fused_call_has_its_dimensions()),),
    rebindings=_rebindings,
    passes=(ModulePass(PASS, after="FuseOps"),),
    after="general_functions",
)
