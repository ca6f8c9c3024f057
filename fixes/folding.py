"""FoldConstant on programs that are not lowered yet, which it may fail on or leave broken.

To see whether a call of an operator can be folded the pass lowers it, whatever its arguments are.
That fails where a shape is not known. Where the lowering makes several calls, some of them stay,
of functions that are not put into the module. And a tensor that is to be made of a shape with a
symbol ends the process, up to 0.25. Here the pass is given calls of constants alone, apart from the
module, in which its constants then take their place.
"""

from typing import Any

import tvm
from tvm import relax
from tvm.relax.expr_functor import PyExprMutator, mutator
from tvm.relax.transform import _ffi_api, transform

from fixes import probes_of_passes as probes
from fixes import tvm_api, tvm_api_functions, tvm_api_shapes
from fixes.fix import Fix, Part, Rebinding
from fixes.tvm_api import Call, Expr
from fixes.tvm_api_functions import Binding, Function, Module

_ORIGINAL = transform.FoldConstant

_CALL_TIR = "relax.call_tir"

_Values = dict[Expr, Expr]
"""By variable."""


def FoldConstant() -> Any:
    """The pass of this name, but only what is a constant is lowered."""
    folding = _ffi_api.FoldConstant()

    def run(module: Module, context: Any) -> Module:
        changed = {}
        for variable, function in tvm_api_functions.functions(module):
            shapes, values = _known(module, function, folding)
            if shapes or values:
                try:
                    new = _Replacing(module, shapes, values).visit_expr(function)
                except tvm.error.InternalError as error:
                    # A dimension with a condition within another, which a mutator of Python's takes
                    # for a call of Relax's: this function is left as it is.
                    if "FInferType" not in str(error):
                        raise
                    continue
                changed[variable] = relax.analysis.remove_all_unused(
                    tvm_api_functions.inferred(new)
                )
        if not changed:
            return module
        module = module.clone()
        for variable, function in changed.items():
            module.update_func(variable, function)
        return module

    return tvm.transform.module_pass(run, opt_level=0, name="FoldConstant")


def _known(module: Module, function: Function, folding: Any) -> tuple[_Values, _Values]:
    """The shapes that ``function`` has written out, and the values of what is folded."""
    bound: _Values = {}
    foldable: _Values = {}
    for block, binding in _bindings(function):
        if not isinstance(binding, relax.VarBinding):
            continue
        bound[binding.var] = binding.value
        if _is_foldable(binding.value, foldable, isinstance(block, relax.DataflowBlock)):
            foldable[binding.var] = binding.value
    if any(isinstance(value, relax.Call) for value in foldable.values()):
        bound |= _folded(module, foldable, folding)
    shapes = {one: value for one, value in bound.items() if isinstance(value, relax.ShapeExpr)}
    values = {one: value for one, value in bound.items() if tvm_api_functions.is_constant(value)}
    return shapes, values


def _bindings(function: Function) -> list[tuple[Any, Binding]]:
    """The bindings of ``function`` after the block that each is in, definitions before uses."""
    found: list[tuple[Any, Binding]] = []

    def visit(sequence: Any) -> None:
        for block in sequence.blocks:
            for binding in block.bindings:
                value = binding.value
                if isinstance(value, relax.If):
                    visit(tvm_api_functions.sequence(value.true_branch))
                    visit(tvm_api_functions.sequence(value.false_branch))
                found.append((block, binding))

    visit(tvm_api_functions.sequence(function.body))
    return found


def _is_foldable(value: Expr, foldable: _Values, dataflow: bool) -> bool:
    """Whether ``value`` is made of constants, and stands where TVM folds it."""
    if isinstance(value, relax.TupleGetItem):
        return value.tuple_value in foldable
    if not isinstance(value, relax.Call):
        return _is_settled(value, foldable)
    if not isinstance(value.op, tvm.ir.Op):
        return False
    if value.op.name == _CALL_TIR:
        return len(value.args) == 2 and _is_settled(value.args[1], foldable)
    return dataflow and all(_is_settled(one, foldable) for one in value.args)


def _is_settled(value: Expr, foldable: _Values) -> bool:
    """Whether nothing in ``value`` is left to run time; ``foldable`` are variables of that kind."""
    if tvm_api_functions.is_constant(value) or value in foldable:
        return True
    if isinstance(value, relax.Tuple):
        return all(_is_settled(one, foldable) for one in value.fields)
    if isinstance(value, relax.ShapeExpr):
        return all(tvm_api.as_int(dim) is not None for dim in value.values)
    number = tvm_api_shapes.integer_of(value)
    return number is not None and tvm_api.as_int(number) is not None


def _folded(module: Module, bindings: _Values, folding: Any) -> _Values:
    """What TVM makes of ``bindings`` where that is a constant or a shape."""
    # Longer than all others, and so none of them.
    name = max((str(one.name_hint) for one in module.get_global_vars()), key=len) + "_constants"
    builder = relax.BlockBuilder()
    with builder.function(name, []):
        with builder.dataflow():
            for variable, value in bindings.items():
                # As they are: what they are made of is bound by the same variables.
                builder.emit_normalized(relax.VarBinding(variable, value))
            result = builder.emit_output(relax.Tuple(list(bindings)))
        builder.emit_func_output(result)
    lowered = {
        variable: function
        for variable, function in module.functions.items()
        if not isinstance(function, relax.Function)
    }
    alone = tvm.ir.GlobalVar(name)
    function = folding(tvm.IRModule({**lowered, alone: builder.get()[name]}))[name]
    bound = {binding.var: binding.value for _, binding in _bindings(function)}
    found = {}
    for variable, one in zip(bindings, bound[function.body.body].fields, strict=True):
        value = _written(one, bound)
        if tvm_api_functions.is_constant(value) or isinstance(value, relax.ShapeExpr):
            found[variable] = value
    return found


def _written(value: Expr, bound: _Values) -> Expr:
    """What ``value`` is where it is a variable, or an item of a tuple, that is written out."""
    if isinstance(value, relax.TupleGetItem):
        whole = _written(value.tuple_value, bound)
        return (
            _written(whole.fields[value.index], bound) if isinstance(whole, relax.Tuple) else value
        )
    return _written(bound[value], bound) if value in bound else value


@mutator
class _Replacing(PyExprMutator):  # type: ignore[misc]
    """Puts values in the place of variables, and written-out shapes where operators take them."""

    def __init__(self, module: Module, shapes: _Values, values: _Values) -> None:
        super().__init__(module)
        self.shapes = shapes
        self.values = values

    def visit_match_cast_(self, cast: Binding) -> None:
        tvm_api_functions.visit_cast(self, cast)

    def visit_var_(self, variable: Expr) -> Expr:
        if variable in self.values:
            return self.values[variable]
        return self.visit_expr_post_order(variable)

    def visit_dataflow_var_(self, variable: Expr) -> Expr:
        return self.visit_var_(variable)

    def visit_call_(self, call: Call) -> Expr:
        if isinstance(call.op, tvm.ir.Op) and call.op.name != _CALL_TIR:
            given = [self.shapes.get(one, one) for one in call.args]
            types = tvm_api_functions.type_arguments(call)
            call = relax.Call(call.op, given, call.attrs, types)
        return self.visit_expr_post_order(call)


FIX = Fix(
    name="folding",
    operators=(),
    fault=(
        "FoldConstant lowers what it does not fold: it fails on unknown shapes, and leaves calls of"
        " functions that the module has not"
    ),
    issue=None,
    parts=(
        Part("unknown shapes", lambda: not probes.folds_around_unknown_shapes()),
        Part("several calls", lambda: not probes.folds_around_several_calls()),
        Part("symbols as tensors", lambda: not probes.folds_around_symbols(), deadly=True),
    ),
    rebindings=lambda: (Rebinding(_ORIGINAL, FoldConstant),),
)
