"""One spelling, over the releases, of the functions and bindings that passes rewrite.

A match_cast, a call and a function have their types in ``ty``, ``ty_args`` and ``ret_ty``; earlier
in ``struct_info``, ``sinfo_args`` and ``ret_struct_info``. Constants are shared by all dialects;
earlier Relax had its own.
"""

from collections.abc import Callable, Sequence
from typing import Any

import tvm
from tvm import relax

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.tvm_api import Expr, PrimExpr
from relaxcheck.fixes.tvm_api.shapes import (
    Type,
    dims_of,
    name_of,
    nothing_type,
    shape_type,
    simplified,
    unshaped_like,
)

Binding = Any
Function = Any
Module = Any
Pass = Any

_CONSTANT: Any = getattr(relax, "Constant", None) or tvm.ir.GenericConst


_UPDATE: Any = getattr(relax.expr, "_update_type", None) or relax.expr._update_struct_info


def renamed(variable: Expr, name: str) -> Expr:
    """The variable of a function, of the same type, by another ``name``."""
    result = tvm.ir.GlobalVar(name)
    _UPDATE(result, tvm_api.type_of(variable))
    return result


def type_arguments(call: Expr) -> list[Type]:
    """The type arguments of ``call``."""
    return list(call.ty_args if hasattr(call, "ty_args") else call.sinfo_args)


def identity_of(variable: Expr) -> Any:
    """The key under which mutators know ``variable``; earlier a separate identifier."""
    return variable.vid if hasattr(variable, "vid") else variable


def is_constant(value: Expr) -> bool:
    """True if ``value`` is a constant tensor; a data type may have the same class."""
    return isinstance(value, _CONSTANT) and hasattr(tvm_api.tensor_of(value), "shape")


def type_of_cast(cast: Binding) -> Type:
    """The type of a match_cast's variable."""
    return cast.ty if hasattr(cast, "ty") else cast.struct_info


def buffer_dims(function: Any, number: int) -> list[PrimExpr] | None:
    """The dimensions of a lowered function's parameter; None for a scalar."""
    parameter = function.params[number]
    # In earlier releases a buffer is not its parameter.
    buffers = getattr(function, "buffer_map", None)
    if buffers is not None:
        return list(buffers[parameter].shape) if parameter in buffers else None
    shape = getattr(parameter, "shape", None)
    return None if shape is None else list(shape)


def is_well_formed(module: Module) -> bool:
    """True unless ``relax.analysis.well_formed`` refuses ``module``; earlier that returned it."""
    analysis: Any = relax.analysis
    # The one that returns it has a name of its own since the other raises.
    accepts = getattr(analysis, "check_well_formed", None) or analysis.well_formed
    return bool(accepts(module))


def return_type(function: Function) -> Type:
    """The static return type of ``function``."""
    return function.ret_ty if hasattr(function, "ret_ty") else function.ret_struct_info


def assertion(condition: PrimExpr, message: str, values: Sequence[PrimExpr]) -> Binding:
    """A binding that raises AssertionError with ``message`` if ``condition`` fails at run time.

    ``values`` fill each ``{}`` of ``message`` in turn.
    """
    wrapped: Any = getattr(relax, "PrimValue", None) or (lambda value: value)
    arguments = [wrapped(simplified(value)) for value in values]
    call = relax.op.assert_op(wrapped(simplified(condition)), arguments, format=message)
    return relax.VarBinding(relax.Var("_", nothing_type()), call)


def definitions(symbols: Sequence[PrimExpr], values: Sequence[PrimExpr]) -> list[Binding]:
    """Bindings that define ``symbols`` as ``values``.

    The values get a binding of their own: TVM does not compute an expression that occurs only as
    the source of a match_cast. TVM must not learn that symbols and values are equal: it would
    substitute one for the other, in some expressions and not in others.
    """
    shape = relax.Var("sizes", shape_type(values))
    type_ = shape_type(symbols)
    cast = relax.MatchCast(relax.Var("symbols", type_), shape, type_)
    return [relax.VarBinding(shape, relax.ShapeExpr(list(values))), *by_way_of_no_shape(cast)]


def by_way_of_no_shape(cast: Binding, dataflow: bool = False) -> list[Binding]:
    """``cast``, a match_cast, split in two by way of an unknown shape.

    TVM then checks it at run time, instead of substituting one side for the other.
    """
    wanted = type_of_cast(cast)
    unknown = unshaped_like(wanted)
    kind = relax.DataflowVar if dataflow else relax.Var
    middle = kind(f"{name_of(cast.var)}_unshaped", unknown)
    return [
        relax.MatchCast(middle, cast.value, unknown),
        relax.MatchCast(cast.var, middle, wanted),
    ]


def visit_cast(mutator: Any, cast: Binding) -> None:
    """Visit a match_cast with ``mutator``, which replaces its value.

    If the value has a shape only thanks to the mutator, forget the shape first: TVM would
    substitute its dimensions for the symbols that it is cast to, even symbols of the inputs.
    """
    value, wanted = mutator.visit_expr(cast.value), type_of_cast(cast)
    before, after = (dims_of(tvm_api.type_of(operand)) for operand in (cast.value, value))
    if before is None and after is not None:
        value = mutator.builder_.match_cast(value, unshaped_like(wanted))
    mutator.builder_.emit_normalized(relax.MatchCast(cast.var, value, wanted))


def sequence(body: Expr) -> Any:
    """The body of a function as a sequence of binding blocks."""
    return body if isinstance(body, relax.SeqExpr) else relax.SeqExpr([], body)


def rebuilt(
    function: Function,
    blocks: Sequence[Any],
    *,
    parameters: Sequence[Expr] | None = None,
    returns: Type | None = None,
) -> Function:
    """``function`` with other blocks, and other parameters or return type if given."""
    new = relax.Function(
        list(function.params) if parameters is None else list(parameters),
        relax.SeqExpr(list(blocks), sequence(function.body).body),
        return_type(function) if returns is None else returns,
        bool(function.is_pure),
    )
    return new.with_attrs(function.attrs) if function.attrs else new


def asserting(function: Function) -> Function:
    """``function``, still declared pure after assertions were added to it.

    A failing assertion ends the run; a passing one has no visible effect.
    """
    return function.with_attr("relax.force_pure", True) if function.is_pure else function


def applied(pass_: Pass, function: Function) -> Function:
    """``function`` after ``pass_``, run on it alone in a module."""
    name = tvm.ir.GlobalVar("alone")
    module = tvm.IRModule({name: function.without_attr("global_symbol")})
    module = pass_(relax.transform.Normalize()(module))
    new = module["alone"]
    return new.with_attrs(function.attrs) if function.attrs else new


def functions(module: Module) -> list[tuple[Any, Function]]:
    """The Relax functions of ``module`` with their global variables, sorted by name."""
    relax_functions = [(g, f) for g, f in module.functions.items() if isinstance(f, relax.Function)]
    return sorted(relax_functions, key=lambda pair: str(pair[0].name_hint))


def inferred(function: Function) -> Function:
    """``function`` with the return type inferred from its body."""
    new = relax.Function(list(function.params), function.body, None, bool(function.is_pure))
    return new.with_attrs(function.attrs) if function.attrs else new


def module_pass(name: str, run: Callable[[Module, Any], Module]) -> Pass:
    """A module pass ``name`` that runs ``run(module, context)``."""
    return tvm.transform.module_pass(run, opt_level=0, name=name)


def rewriting(name: str, rewrite: Callable[[str, Function], Function]) -> Pass:
    """A pass that replaces each Relax function by ``rewrite(name, function)``."""

    def run(module: Module, context: Any) -> Module:
        changed = {}
        for variable, function in functions(module):
            new = rewrite(str(variable.name_hint), function)
            if not new.same_as(function):
                changed[variable] = new
        if not changed:
            return module
        module = module.clone()
        for variable, new in changed.items():
            module.update_func(variable, new)
        return relax.transform.Normalize()(module)

    return module_pass(name, run)
