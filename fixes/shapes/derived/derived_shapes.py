"""Functions whose inputs contain a symbol only within expressions: ``(2*m,)``, ``(m + n,)``.

TVM reads the value of a symbol from an input that has the plain symbol as a dimension. Without one
the function does not compile: "PrimExpr has not been computed". Here each such dimension gets a
symbol of its own, from which the others are solved (``equations.py``). Conditions for that are
checked at run time, before anything else.
"""

from typing import Any

from tvm import relax

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework import probes
from relaxcheck.fixes.framework.fix import FaultPart, Fix, ModulePass
from relaxcheck.fixes.proving.checks import place, undecided
from relaxcheck.fixes.shapes.derived.equations import Equation, solve
from relaxcheck.fixes.tvm_api import Expr, PrimExpr
from relaxcheck.fixes.tvm_api import functions as tvm_api_functions
from relaxcheck.fixes.tvm_api import shapes as tvm_api_shapes
from relaxcheck.fixes.tvm_api.functions import Binding, Function


def _rewrite(name: str, function: Function) -> Function:
    """``function`` with a symbol for each dimension that contains an unknown one.

    Raises:
        ValueError: a symbol cannot be found, or never has a valid value.
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
    known = {
        v for equation in equations for v in tvm_api_shapes.variables(equation.expression)
    } - unknown
    solution = solve(name, equations, known)
    values = dict(zip(solution.symbols, solution.values, strict=True))
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
        returns=tvm_api_shapes.substitute_type(tvm_api_functions.return_type(function), values),
    )
    return tvm_api_functions.asserting(new_function) if checks else new_function


def _unknown(function: Function) -> set[PrimExpr]:
    """The symbols in the inputs' shapes that are nowhere a plain dimension or an input."""
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
    """``parameter`` with symbols for dimensions that contain ``unknown``; adds to ``equations``."""
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


def finds_symbols() -> bool:
    """True if a symbol is found whose double is the only dimension of the only input."""
    half = tvm_api.shape_var("m")
    zeros = relax.op.zeros(relax.ShapeExpr([half]), "float32")
    try:
        probes.PIPELINE(None)(probes.program(lambda x: zeros, (half * 2,)))
    except Exception:
        return False
    return True


FIX = Fix(
    name="derived_shapes",
    operators=(),
    fault=(
        "a function does not compile if a symbol occurs in its inputs only within expressions, as"
        " in 2*m or m + n"
    ),
    issue=None,
    parts=(FaultPart("symbols within dimensions", lambda: not finds_symbols()),),
    passes=(ModulePass(PASS),),
    after="shape_guard",
)
