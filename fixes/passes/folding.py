"""FoldConstant on programs before lowering, where it may fail or break the module.

To find out whether an operator call can be folded, the pass lowers it, whatever its arguments. That
fails if a shape is unknown. If a call is lowered to several, some of them remain, to functions that
the module does not contain. Up to 0.25, a tensor made from a symbolic shape ends the process. Here
the pass receives only calls with constant arguments, outside the module; their constants then
replace them. A shape is left to the runtime if its sizes are narrower than the 64 bits that the
pass reads of each. So is a tensor without elements whose first dimension is not 0: ``Tensor::Load``
takes it for one whose file ends too soon.
"""

from typing import Any

import numpy as np
import tvm
from tvm import relax
from tvm.relax.expr_functor import PyExprMutator, mutator
from tvm.relax.transform import _ffi_api, transform

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework import probes
from relaxcheck.fixes.framework.fix import FaultPart, Fix, Rebinding
from relaxcheck.fixes.framework.patch import Body
from relaxcheck.fixes.tvm_api import Call, Expr
from relaxcheck.fixes.tvm_api import functions as tvm_api_functions
from relaxcheck.fixes.tvm_api import shapes as tvm_api_shapes
from relaxcheck.fixes.tvm_api.functions import Binding, Function, Module

_ORIGINAL = transform.FoldConstant

_CALL_TIR = "relax.call_tir"

_TO_SHAPE = "relax.tensor_to_shape"

_Values = dict[Expr, Expr]
"""Values by variable."""


def FoldConstant() -> Any:
    """The pass of this name, which lowers only calls of constants."""
    folding = _ffi_api.FoldConstant()

    def run(module: Module, context: Any) -> Module:
        changed = {}
        for variable, function in tvm_api_functions.functions(module):
            shapes, values = _known(module, function, folding)
            if shapes or values:
                try:
                    new = _Replacing(module, shapes, values).visit_expr(function)
                except tvm.error.InternalError as error:
                    # A dimension with a condition nested in another, which a Python mutator takes
                    # for a Relax call: leave this function alone.
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
    """The shapes that ``function`` writes out, and the values of its folded variables."""
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
    shapes = {
        variable: value for variable, value in bound.items() if isinstance(value, relax.ShapeExpr)
    }
    values = {variable: value for variable, value in bound.items() if _is_readable(value)}
    return shapes, values


def _is_readable(value: Expr) -> bool:
    """True if ``value`` is a constant that a library can be loaded with."""
    if not tvm_api_functions.is_constant(value):
        return False
    shape = tvm_api.tensor_of(value).shape
    return len(shape) == 0 or int(shape[0]) == 0 or all(int(size) for size in shape)


def _bindings(function: Function) -> list[tuple[Any, Binding]]:
    """The bindings of ``function``, each with its block, definitions before uses."""
    bindings: list[tuple[Any, Binding]] = []

    def visit(sequence: Any) -> None:
        for block in sequence.blocks:
            for binding in block.bindings:
                value = binding.value
                if isinstance(value, relax.If):
                    visit(tvm_api_functions.sequence(value.true_branch))
                    visit(tvm_api_functions.sequence(value.false_branch))
                bindings.append((block, binding))

    visit(tvm_api_functions.sequence(function.body))
    return bindings


def _is_foldable(value: Expr, foldable: _Values, dataflow: bool) -> bool:
    """True if ``value`` consists of constants, in a place where TVM folds."""
    if isinstance(value, relax.TupleGetItem):
        return value.tuple_value in foldable
    if not isinstance(value, relax.Call):
        return _is_settled(value, foldable)
    if not isinstance(value.op, tvm.ir.Op):
        return False
    if value.op.name == _TO_SHAPE and tvm_api.dtype_of(value.args[0]) != "int64":
        return False
    if value.op.name == _CALL_TIR:
        return len(value.args) == 2 and _is_settled(value.args[1], foldable)
    return dataflow and all(_is_settled(arg, foldable) for arg in value.args)


def _is_settled(value: Expr, foldable: _Values) -> bool:
    """True if nothing in ``value`` depends on run time, given that ``foldable`` does not."""
    if tvm_api_functions.is_constant(value) or value in foldable:
        return True
    if isinstance(value, relax.Tuple):
        return all(_is_settled(field, foldable) for field in value.fields)
    if isinstance(value, relax.ShapeExpr):
        return all(tvm_api.as_int(dim) is not None for dim in value.values)
    number = tvm_api_shapes.integer_of(value)
    return number is not None and tvm_api.as_int(number) is not None


def _folded(module: Module, bindings: _Values, folding: Any) -> _Values:
    """TVM's results for ``bindings``, as far as they are constants or shapes."""
    # Longer than all other names, and so distinct.
    name = max((str(var.name_hint) for var in module.get_global_vars()), key=len) + "_constants"
    builder = relax.BlockBuilder()
    with builder.function(name, []):
        with builder.dataflow():
            for variable, value in bindings.items():
                # Unchanged: their operands are bound to the same variables.
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
    folded = {}
    for variable, field in zip(bindings, bound[function.body.body].fields, strict=True):
        value = _written(field, bound)
        if tvm_api_functions.is_constant(value) or isinstance(value, relax.ShapeExpr):
            folded[variable] = value
    return folded


def _written(value: Expr, bound: _Values) -> Expr:
    """The expression behind a variable or tuple item, as far as it is written out."""
    if isinstance(value, relax.TupleGetItem):
        whole = _written(value.tuple_value, bound)
        return (
            _written(whole.fields[value.index], bound) if isinstance(whole, relax.Tuple) else value
        )
    return _written(bound[value], bound) if value in bound else value


@mutator
class _Replacing(PyExprMutator):  # type: ignore[misc]
    """Replaces variables by values, and shape arguments of operators by written-out shapes."""

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
            arguments = [self.shapes.get(arg, arg) for arg in call.args]
            types = tvm_api_functions.type_arguments(call)
            call = relax.Call(call.op, arguments, call.attrs, types)
        return self.visit_expr_post_order(call)


def folds_around_unknown_shapes() -> bool:
    """True if FoldConstant passes over calls with unknown shapes."""
    op, m = relax.op, tvm_api.shape_var("m")
    return _folds(lambda x, y: op.broadcast_to(x, op.shape_of(y)), (1, m), (3, m)) and _folds(
        lambda x, n: op.tanh(op.dynamic_strided_slice(x, n, n, n)), (m,), (1,), dtypes=_INDEXED
    )


def folds_around_several_calls() -> bool:
    """True if FoldConstant passes over a call that is lowered to several, without adding any."""
    m = tvm_api.shape_var("m")
    return _folds(
        lambda x, n: relax.op.dynamic_strided_slice(x, n, n, n), (m,), (1,), dtypes=_INDEXED
    )


def folds_around_symbols() -> bool:
    """True if FoldConstant passes over a tensor made from a symbolic shape."""
    op, m = relax.op, tvm_api.shape_var("m")
    return _folds(lambda x: op.shape_to_tensor(relax.ShapeExpr([m])), (m,)) and _folds(
        lambda x: op.shape_to_tensor(op.shape_of(x)), (m,)
    )


def folds_narrow_sizes() -> bool:
    """True if a shape that is made of sizes of 32 bits is right after FoldConstant."""
    sizes = tvm_api.const(np.array([2, 3], "int32"))
    builder = relax.BlockBuilder()
    with builder.function("main", []):
        with builder.dataflow():
            shape = builder.emit(relax.op.tensor_to_shape(sizes))
            result = builder.emit_output(relax.op.shape_to_tensor(shape))
        builder.emit_func_output(result)
    result = probes.run(relax.transform.FoldConstant()(builder.get()))
    return bool((result == [2, 3]).all())


def folds_no_nothing() -> bool:
    """True if a tensor without elements is no constant that cannot be loaded."""
    module = probes.program(lambda x: relax.op.add(x, relax.op.zeros((3, 0), "float32")), (3, 0))
    module = relax.transform.FoldConstant()(relax.transform.LegalizeOps()(module))
    return any("zeros" in str(call.args[0]) for call in probes.calls(module))


_INDEXED = ("float32", "int64")


def _folds(make: probes.Make, *shapes: probes.Shape, dtypes: tuple[str, ...] = ()) -> bool:
    """True if FoldConstant succeeds, and the module contains all functions that it calls."""
    module = probes.program(make, *shapes, dtypes=dtypes)
    try:
        module = relax.transform.FoldConstant()(module)
    except Exception:
        return False
    lowered = [call for call in probes.calls(module) if call.op.name == "relax.call_tir"]
    return all(call.args[0] in module.functions for call in lowered)


FIX = Fix(
    name="folding",
    operators=("relax.tensor_to_shape",),
    fault=(
        "FoldConstant lowers calls that it does not fold: it fails on unknown shapes, and leaves"
        " calls of functions that the module does not contain; it reads sizes of 16 and 32 bits as"
        " if they had 64; it makes constants without elements, which cannot be loaded"
    ),
    issue=None,
    parts=(
        FaultPart("unknown shapes", lambda: not folds_around_unknown_shapes()),
        FaultPart("several calls", lambda: not folds_around_several_calls()),
        FaultPart("symbols as tensors", lambda: not folds_around_symbols(), deadly=True),
        FaultPart("narrow sizes", lambda: not folds_narrow_sizes()),
        FaultPart("constants of nothing", lambda: not folds_no_nothing()),
    ),
    single=("relax.tensor_to_shape",),
    rebindings=lambda: (Rebinding(_ORIGINAL, FoldConstant),),
    after="empty_tensors",
    patch=(Body("relax/transform/transform.py", FoldConstant),),
)
