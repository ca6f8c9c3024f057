"""A call stands after the match_cast that finds its dimensions.

FuseOps puts a fused call where the first of its operators was. Where a later one has a symbol that
a match_cast in between finds, the call then stands before it: "PrimExpr has not been computed".
"""

from typing import Any

from tvm import relax

from fixes import probes_of_shapes as probes
from fixes import tvm_api, tvm_api_functions, tvm_api_shapes
from fixes.fix import Fix, ModulePass, Part
from fixes.tvm_api import Expr, PrimExpr
from fixes.tvm_api_functions import Binding, Function


def _used(expr: Expr) -> set[Any]:
    """The variables and symbols in the value of a binding."""
    if isinstance(expr, relax.Call):
        parts = [expr.op, *expr.args]
        types = [
            v
            for one in tvm_api_functions.type_arguments(expr)
            for v in tvm_api_shapes.symbols_of(one)
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
    """What must be there before ``binding``, which defines the symbols ``defined``."""
    if isinstance(binding, relax.MatchCast):
        type_ = tvm_api_functions.type_of_cast(binding)
    else:
        type_ = tvm_api.type_of(binding.var)
    return (_used(binding.value) | set(tvm_api_shapes.symbols_of(type_))) - defined


def _ordered(bindings: list[Binding], known: set[PrimExpr]) -> list[Binding]:
    """``bindings``, each after those that it needs, else in their order.

    ``known`` are the symbols that are defined before; those of ``bindings`` are added to them.
    Bindings that need each other are left where they are.
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
            before = {makers[one] for one in needs[number] if one in makers} - {number}
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
        # What is not in a dataflow block may have effects.
        if isinstance(block, relax.DataflowBlock) and ordered != bindings:
            block, changed = relax.DataflowBlock(ordered), True
        blocks.append(block)
    return tvm_api_functions.rebuilt(function, blocks) if changed else function


PASS = tvm_api_functions.rewriting("OrderShapeDefinitions", _rewrite)


FIX = Fix(
    name="shape_order",
    operators=(),
    fault=(
        "FuseOps puts a call before the match_cast that finds its dimensions, and the function"
        " does not compile"
    ),
    issue="apache/tvm#20177",
    parts=(Part("fused calls", lambda: not probes.fused_call_has_its_dimensions()),),
    passes=(ModulePass(PASS, after="FuseOps"),),
)
