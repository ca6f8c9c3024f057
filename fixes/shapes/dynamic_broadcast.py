"""Broadcasting where only run time shows which dimension is 1.

TVM does not know the shape of the sum of tensors of ``(m,)`` and ``(n,)``, and does not lower it.
Here each operand is first stretched to the common shape, by a function that reads index 0 along a
dimension that is 1; the operator then gets operands of one shape. A run-time check requires the
dimensions to be equal, or one of them to be 1.

Operators that need equal dimensions, written with different symbols, get operands cast to the same
ones.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from tvm import relax, te
from tvm.relax.expr_functor import PyExprMutator, mutator

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework import probes
from relaxcheck.fixes.framework.broadcast_elements import all_seen, element
from relaxcheck.fixes.framework.fix import FaultPart, Fix, ModulePass
from relaxcheck.fixes.proving import guards, prover
from relaxcheck.fixes.proving import needs as shape_needs
from relaxcheck.fixes.proving.checks import Check
from relaxcheck.fixes.proving.needs import Need
from relaxcheck.fixes.shapes import known_results
from relaxcheck.fixes.tvm_api import Call, Expr, PrimExpr, Tensor, as_int, equal
from relaxcheck.fixes.tvm_api import functions as tvm_api_functions
from relaxcheck.fixes.tvm_api import shapes as tvm_api_shapes
from relaxcheck.fixes.tvm_api.functions import Binding, Function, Module
from relaxcheck.fixes.tvm_api.shapes import Type, dims_of, name_of, select, substitute

Dims = list[PrimExpr]


def _stands_alone(symbol: PrimExpr, other: PrimExpr) -> bool:
    """True if ``symbol`` is a plain symbol that does not occur in ``other``."""
    return tvm_api.is_variable(symbol) and not any(
        symbol.same_as(variable) for variable in tvm_api_shapes.variables(other)
    )


def common_shape(shapes: Sequence[Dims], choose: Callable[[PrimExpr, PrimExpr], PrimExpr]) -> Dims:
    """The shape that tensors of ``shapes`` broadcast to, if they do.

    ``choose`` picks one of two symbolic dimensions.
    """

    def common(left: PrimExpr, right: PrimExpr) -> PrimExpr:
        if as_int(left) == 1 or prover.equal(left, right):
            return right
        if as_int(right) == 1:
            return left
        numbers = [dim for dim in (left, right) if as_int(dim) is not None]
        return numbers[0] if numbers else choose(left, right)

    result: Dims = []
    for dims in shapes:
        longer, shorter = (dims, result) if len(dims) > len(result) else (result, dims)
        offset = len(longer) - len(shorter)
        both = zip(longer[offset:], shorter, strict=True)
        result = [*longer[:offset], *(common(left, right) for left, right in both)]
    return result


def _topi_sees(operands: Sequence[Expr]) -> bool:
    """True if TOPI infers the same broadcast shape as TVM's types."""
    shapes = [dims_of(tvm_api.type_of(operand)) or [] for operand in operands]
    common = common_shape(shapes, lambda left, right: right)
    return all(
        as_int(have) == 1 or all_seen([have], [want])
        for dims in shapes
        for have, want in zip(dims, common[len(common) - len(dims) :], strict=True)
    )


def _stretch(tensor: Tensor, dims: Dims) -> Tensor:
    """``tensor`` repeated along dimensions that are 1, to shape ``dims``."""
    return te.compute(dims, lambda *at: element(tensor, at, dims), name="stretched")


@mutator
class _Broadcasting(PyExprMutator):  # type: ignore[misc]
    """Stretches operands in one function; ``checks`` collects its requirements."""

    def __init__(self, module: Module, name: str, function: Function) -> None:
        super().__init__(module)
        self.name = name
        self.symbols = guards.inputs_symbols(function)
        self.checks: list[Check] = []
        self.changes = False
        self.chosen: dict[tuple[str, str], PrimExpr] = {}
        self.depth = 0

    def visit_if_(self, choice: Expr) -> Expr:
        self.depth += 1
        try:
            return self.visit_expr_post_order(choice)
        finally:
            self.depth -= 1

    def visit_match_cast_(self, cast: Binding) -> None:
        tvm_api_functions.visit_cast(self, cast)

    def visit_call_(self, call: Call) -> Expr:
        # A shape argument may just have been completed.
        call = known_results.written_out(self.visit_expr_post_order(call))
        name = str(getattr(call.op, "name", ""))
        # Needs of a branch must not be checked if it is not taken: leave branches alone.
        if name not in shape_needs.TABLE or self.depth:
            return call
        needs = list(shape_needs.of(call))
        known = tvm_api_shapes.is_known(tvm_api.type_of(self.builder_.normalize(call)))
        needed = needs if not known else []
        if not needed and (
            not known or name not in shape_needs.ELEMENTWISE or _topi_sees(call.args)
        ):
            return call
        if name in shape_needs.ELEMENTWISE:
            operands = self._broadcast(list(call.args), 0)
        else:
            operands = self._unified(list(call.args), needs)
            if name == "relax.matmul":
                operands = self._broadcast(operands, 2)
        if not _differ(operands, call.args):
            # The guard checks these needs as well.
            return call
        self.changes = True
        subject = f"{self.name}: {name.removeprefix('relax.')}"
        self.checks += [guards.check_of(need, subject, self.symbols) for need in needed]
        return relax.Call(call.op, operands, call.attrs, tvm_api_functions.type_arguments(call))

    def _broadcast(self, operands: list[Expr], last: int) -> list[Expr]:
        """``operands`` stretched to a common shape, except for the ``last`` dimensions of each."""
        shapes = [dims_of(tvm_api.type_of(operand)) for operand in operands]
        known = [dims for dims in shapes if dims is not None]
        if len(known) < len(operands):
            return operands
        front = [dims[: len(dims) - last] for dims in known]
        common = common_shape(front, self._chosen)
        return [
            self._stretched(operand, [*common[len(common) - len(lead) :], *dims[len(lead) :]])
            for operand, dims, lead in zip(operands, known, front, strict=True)
        ]

    def _unified(self, operands: list[Expr], needs: Sequence[Need]) -> list[Expr]:
        """``operands`` with the same dimension where they must be equal: one symbol if possible.

        A dimension that contains the symbol that it must equal, such as ``min(m, 2) + max(m - 2,
        0)`` and m, is replaced as a whole.
        """
        same: dict[PrimExpr, PrimExpr] = {}
        whole: list[tuple[PrimExpr, PrimExpr]] = []
        for need in needs:
            if not need.equal:
                continue
            left, right = (substitute(value, same) for value in need.values)
            if all_seen([left], [right]):
                continue
            if _stands_alone(right, left):
                same = {v: substitute(dim, {right: left}) for v, dim in same.items()}
                same[right] = left
            elif _stands_alone(left, right):
                same = {v: substitute(dim, {left: right}) for v, dim in same.items()}
                same[left] = right
            else:
                whole.append((right, left) if tvm_api.is_variable(left) else (left, right))
        return [self._with_symbols(operand, same, whole) for operand in operands]

    def _with_symbols(
        self,
        operand: Expr,
        same: dict[PrimExpr, PrimExpr],
        whole: Sequence[tuple[PrimExpr, PrimExpr]],
    ) -> Expr:
        if isinstance(operand, relax.Tuple):
            fields = [self._with_symbols(field, same, whole) for field in operand.fields]
            return relax.Tuple(fields) if _differ(fields, operand.fields) else operand
        type_ = tvm_api.type_of(operand)

        def replaced(path: tuple[int, ...], axis: int, dim: PrimExpr) -> PrimExpr:
            new = substitute(dim, same)
            return next((to for old, to in whole if tvm_api_shapes.alike(new, old)), new)

        wanted = tvm_api_shapes.with_dims(type_, replaced)
        return operand if tvm_api_shapes.alike(wanted, type_) else self._cast(operand, wanted)

    def _chosen(self, left: PrimExpr, right: PrimExpr) -> PrimExpr:
        """A symbol for the one of two dimensions that is not 1."""
        key = (str(left), str(right))
        if key not in self.chosen:
            plain = all(map(tvm_api.is_variable, (left, right)))
            name = f"{name_of(left)}_or_{name_of(right)}" if plain else "common"
            symbol = tvm_api.shape_var(name)
            # In terms of the inputs' symbols: TVM drops a definition that another one uses.
            dims = (substitute(dim, self.symbols.names) for dim in (left, right))
            # The shorter one occurs twice. If that were an earlier choice, the expression would
            # double with each broadcast of a chain.
            short, long = sorted(dims, key=lambda dim: len(str(dim)))
            value = select(equal(short, 1), long, short)
            self.symbols.names[symbol] = value
            sizes = self.builder_.emit(relax.ShapeExpr([value]))
            self._cast(sizes, tvm_api_shapes.shape_type([symbol]))
            self.chosen[key] = symbol
        return self.chosen[key]

    def _cast(self, value: Expr, type_: Type) -> Expr:
        """``value`` as ``type_``, by way of an unknown shape, which TVM cannot see through."""
        middle = self.builder_.match_cast(value, tvm_api_shapes.unshaped_like(type_))
        return self.builder_.match_cast(middle, type_)

    def _stretched(self, argument: Expr, common: Dims) -> Expr:
        """``argument`` stretched to the last dimensions of ``common``, except where TVM broadcasts
        a 1.
        """
        dims = dims_of(tvm_api.type_of(argument)) or []
        last = common[len(common) - len(dims) :]
        wanted = [
            have if as_int(have) == 1 else want for have, want in zip(dims, last, strict=True)
        ]
        # Its producer may be lowered to a function that writes its dimensions differently; neither
        # TOPI nor FuseTIR sees that they are equal.
        plain = all(as_int(dim) is not None or tvm_api.is_variable(dim) for dim in dims)
        if all(prover.equal(have, want) for have, want in zip(dims, wanted, strict=True)):
            # TVM does not know equalities that only our prover can prove.
            if plain and all_seen(dims, wanted):
                return argument
            typed = tvm_api.tensor_type(wanted, tvm_api.dtype_of(argument))
            return self._cast(argument, typed)
        if not plain:
            argument = self._cast(argument, tvm_api.type_of(argument))
        call = self.builder_.call_te(_stretch, argument, wanted, primfunc_name_hint="stretch")
        return self.builder_.emit(call)


def _differ(new: Sequence[Expr], old: Sequence[Expr]) -> bool:
    return not all(expr.same_as(other) for expr, other in zip(new, old, strict=True))


def _broadcast(module: Module) -> tuple[Module, bool]:
    """``module`` with stretched operands, and whether any are."""
    stretched = False
    for variable, function in tvm_api_functions.functions(module):
        name = str(variable.name_hint)
        rewriting = _Broadcasting(module, name, function)
        new = rewriting.visit_expr(function)
        if not rewriting.changes:
            continue
        stretched = True
        module = rewriting.builder_.get()
        new = guards.with_checks(name, tvm_api_functions.inferred(new), rewriting.checks)
        module.update_func(module.get_global_var(name), new)
        module = relax.transform.Normalize()(module)
    return module, stretched


def _run(module: Module, context: Any) -> Module:
    module, stretched = _broadcast(module)
    while stretched:
        # A result that has a shape now may feed calls whose shape depends on values.
        named = known_results.named(module)
        if named.same_as(module):
            break
        module, stretched = _broadcast(named)
    return module


PASS = tvm_api_functions.module_pass("BroadcastAtRunTime", _run)


def broadcasts() -> bool:
    """True if a symbolic dimension of 1 broadcasts to another symbolic one."""
    m, n = tvm_api.shape_var("m"), tvm_api.shape_var("n")
    arrays = np.ones(1, "float32"), np.ones(3, "float32")
    try:
        return bool((probes.run(probes.program(relax.op.add, (m,), (n,)), *arrays) == 2).all())
    except Exception:
        return False


FIX = Fix(
    name="dynamic_broadcast",
    operators=tuple(sorted(shape_needs.ELEMENTWISE)),
    fault="a call is not lowered if only run time shows which of its operands' dimensions are 1",
    issue=None,
    parts=(FaultPart("symbols", lambda: not broadcasts()),),
    passes=(ModulePass(PASS),),
    after="known_results",
)
