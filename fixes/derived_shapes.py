"""Functions whose inputs tell a symbol only by what is derived from it: ``(2*m,)``, ``(m + n,)``.

TVM takes the value of a symbol from an input that has it alone as a dimension. Where none has, the
function does not compile: "PrimExpr has not been computed". Here each such dimension gets a symbol
of its own, by which the others are found (``shape_equations.py``); what must be checked is
checked at run time, before anything else.
"""

from typing import Any

from tvm import relax

from fixes import probes_of_shapes as probes
from fixes import tvm_api, tvm_api_functions, tvm_api_shapes
from fixes.fix import Fix, ModulePass, Part
from fixes.run_time_checks import place, undecided
from fixes.shape_equations import Equation, solve
from fixes.tvm_api import Expr, PrimExpr
from fixes.tvm_api_functions import Binding, Function


def _rewrite(name: str, function: Function) -> Function:
    """``function`` with a symbol for each dimension that is derived from an unknown one.

    Raises:
        ValueError: a symbol cannot be found, or not for any input.
    """
    unknown = _unknown(function)
    if not unknown:
        return function
    equations: list[Equation] = []
    parameters: list[Expr] = []
    casts: list[Binding] = []
    for parameter in function.params:
        new = _fresh(parameter, unknown, equations)
        parameters.append(new)
        if new is not parameter:
            cast = relax.MatchCast(parameter, new, tvm_api.type_of(parameter))
            casts += tvm_api_functions.by_way_of_no_shape(cast)
    known = {v for one in equations for v in tvm_api_shapes.variables(one.expression)} - unknown
    solution = solve(name, equations, known)
    found = dict(zip(solution.symbols, solution.values, strict=True))
    checks = [check.assertion() for check in undecided(solution.checks)]
    bindings = [
        *checks,
        *tvm_api_functions.definitions(solution.symbols, solution.values),
        *casts,
    ]
    new_function = tvm_api_functions.rebuilt(
        function,
        [relax.BindingBlock(bindings), *tvm_api_functions.sequence(function.body).blocks],
        parameters=parameters,
        returns=tvm_api_shapes.substitute_type(tvm_api_functions.return_type(function), found),
    )
    return tvm_api_functions.asserting(new_function) if checks else new_function


def _unknown(function: Function) -> set[PrimExpr]:
    """The symbols of the inputs' shapes that are nowhere a dimension, or an input, alone."""
    alone: set[PrimExpr] = set()
    derived: set[PrimExpr] = set()
    for parameter in function.params:
        value = tvm_api_shapes.value_of_parameter(parameter)
        if value is not None:
            alone.add(value)
        for _, _, dim in tvm_api_shapes.dims_within(tvm_api.type_of(parameter)):
            if tvm_api.is_variable(dim):
                alone.add(dim)
            else:
                derived.update(tvm_api_shapes.variables(dim))
    return derived - alone


def _fresh(parameter: Expr, unknown: set[PrimExpr], equations: list[Equation]) -> Expr:
    """``parameter`` with symbols for what is derived from ``unknown``; says so in ``equations``."""
    before = len(equations)

    def replace(path: tuple[int, ...], axis: int, dim: PrimExpr) -> PrimExpr:
        if not unknown.intersection(tvm_api_shapes.variables(dim)):
            return dim
        suffix = "_".join(map(str, (*path, axis)))
        symbol = tvm_api.shape_var(f"{tvm_api_shapes.name_of(parameter)}_{suffix}")
        equations.append(Equation(dim, symbol, place(path, axis, parameter)))
        return symbol

    type_ = tvm_api_shapes.with_dims(tvm_api.type_of(parameter), replace)
    if len(equations) == before:
        return parameter
    return relax.Var(tvm_api_shapes.name_of(parameter), type_)


PASS: Any = tvm_api_functions.rewriting("SolveDerivedShapes", _rewrite)


FIX = Fix(
    name="derived_shapes",
    operators=(),
    fault=(
        "a function does not compile whose inputs have a symbol only within their dimensions, as"
        " in 2*m or m + n"
    ),
    issue=None,
    parts=(Part("symbols within dimensions", lambda: not probes.finds_symbols()),),
    passes=(ModulePass(PASS),),
)
