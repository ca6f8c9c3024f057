"""Broadcasting where only run time tells which dimension is 1.

TVM knows no shape for the sum of tensors of ``(m,)`` and ``(n,)``, and does not lower it. Here
each operand is stretched to the common shape first, by a function that reads index 0 along a
dimension that is 1, and the operator is left with operands of one shape. That the dimensions are
equal, or one of them 1, is checked at run time.

Other operators whose operands have dimensions that must be equal, and are written with different
symbols, get operands that are cast to the same ones.
"""

from collections.abc import Callable, Sequence
from typing import Any

from tvm import relax, te
from tvm.relax.expr_functor import PyExprMutator, mutator

from fixes import (
    known_results,
    prover,
    shape_guard,
    shape_needs,
    tvm_api,
    tvm_api_functions,
    tvm_api_shapes,
)
from fixes import probes_of_shapes as probes
from fixes.broadcast_elements import all_seen, element
from fixes.fix import Fix, ModulePass, Part
from fixes.run_time_checks import Check
from fixes.shape_needs import Need
from fixes.tvm_api import Call, Expr, PrimExpr, Tensor, as_int, equal
from fixes.tvm_api_functions import Binding, Function, Module
from fixes.tvm_api_shapes import Type, dims_of, name_of, select, substitute

Dims = list[PrimExpr]


def _stands_alone(symbol: PrimExpr, other: PrimExpr) -> bool:
    """Whether ``symbol`` is one, and ``other`` is not made of it."""
    return tvm_api.is_variable(symbol) and not any(
        symbol.same_as(one) for one in tvm_api_shapes.variables(other)
    )


def common_shape(shapes: Sequence[Dims], choose: Callable[[PrimExpr, PrimExpr], PrimExpr]) -> Dims:
    """The shape that tensors of ``shapes`` are broadcast to, if they can be.

    ``choose`` gives the dimension for two symbolic ones.
    """

    def common(left: PrimExpr, right: PrimExpr) -> PrimExpr:
        if as_int(left) == 1 or prover.equal(left, right):
            return right
        if as_int(right) == 1:
            return left
        numbers = [one for one in (left, right) if as_int(one) is not None]
        return numbers[0] if numbers else choose(left, right)

    result: Dims = []
    for dims in shapes:
        longer, shorter = (dims, result) if len(dims) > len(result) else (result, dims)
        offset = len(longer) - len(shorter)
        both = zip(longer[offset:], shorter, strict=True)
        result = [*longer[:offset], *(common(left, right) for left, right in both)]
    return result


def _topi_sees(operands: Sequence[Expr]) -> bool:
    """Whether TOPI finds the shape that operands are broadcast to as TVM's types do."""
    shapes = [dims_of(tvm_api.type_of(operand)) or [] for operand in operands]
    common = common_shape(shapes, lambda left, right: right)
    return all(
        as_int(have) == 1 or all_seen([have], [want])
        for dims in shapes
        for have, want in zip(dims, common[len(common) - len(dims) :], strict=True)
    )


def _stretch(tensor: Tensor, dims: Dims) -> Tensor:
    """``tensor`` repeated along the dimensions that are 1, so that it is of shape ``dims``."""
    return te.compute(dims, lambda *at: element(tensor, at, dims), name="stretched")


@mutator
class _Broadcasting(PyExprMutator):  # type: ignore[misc]
    """Calls of one function, stretched where they must be; ``checks`` says what must hold."""

    def __init__(self, module: Module, name: str, function: Function) -> None:
        super().__init__(module)
        self.name = name
        self.symbols = shape_guard.inputs_symbols(function)
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
        # What gives a shape may have got one by what was done before.
        call = known_results.written_out(self.visit_expr_post_order(call))
        name = str(getattr(call.op, "name", ""))
        # What a branch needs must not be checked where it is not taken: it is left as it is.
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
            # What it needs, the guard sees as well.
            return call
        self.changes = True
        subject = f"{self.name}: {name.removeprefix('relax.')}"
        self.checks += [shape_guard.check_of(need, subject, self.symbols) for need in needed]
        return relax.Call(call.op, operands, call.attrs, tvm_api_functions.type_arguments(call))

    def _broadcast(self, operands: list[Expr], last: int) -> list[Expr]:
        """``operands``, stretched to one shape but for the ``last`` dimensions of each."""
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
        """``operands`` with one dimension for those that must be equal: one symbol if that can be.

        A dimension that is made of the symbol that it must be, as ``min(m, 2) + max(m - 2, 0)`` is
        of m, is replaced as a whole.
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
            fields = [self._with_symbols(one, same, whole) for one in operand.fields]
            return relax.Tuple(fields) if _differ(fields, operand.fields) else operand
        type_ = tvm_api.type_of(operand)

        def replaced(path: tuple[int, ...], axis: int, dim: PrimExpr) -> PrimExpr:
            new = substitute(dim, same)
            return next((to for old, to in whole if tvm_api_shapes.alike(new, old)), new)

        wanted = tvm_api_shapes.with_dims(type_, replaced)
        return operand if tvm_api_shapes.alike(wanted, type_) else self._cast(operand, wanted)

    def _chosen(self, left: PrimExpr, right: PrimExpr) -> PrimExpr:
        """A symbol that is the one of two dimensions that is not 1."""
        key = (str(left), str(right))
        if key not in self.chosen:
            plain = all(map(tvm_api.is_variable, (left, right)))
            name = f"{name_of(left)}_or_{name_of(right)}" if plain else "common"
            symbol = tvm_api.shape_var(name)
            # Of the inputs' symbols alone: TVM drops a definition that another one is made of.
            dims = (substitute(dim, self.symbols.names) for dim in (left, right))
            # The short one is in it twice: if that were what was chosen before, what comes of a
            # chain of broadcasts would be twice as long with each.
            short, long = sorted(dims, key=lambda dim: len(str(dim)))
            value = select(equal(short, 1), long, short)
            self.symbols.names[symbol] = value
            sizes = self.builder_.emit(relax.ShapeExpr([value]))
            self._cast(sizes, tvm_api_shapes.shape_type([symbol]))
            self.chosen[key] = symbol
        return self.chosen[key]

    def _cast(self, value: Expr, type_: Type) -> Expr:
        """``value`` as ``type_``, by way of no shape, which TVM cannot see through."""
        middle = self.builder_.match_cast(value, tvm_api_shapes.unshaped_like(type_))
        return self.builder_.match_cast(middle, type_)

    def _stretched(self, argument: Expr, common: Dims) -> Expr:
        """``argument`` of the last dimensions of ``common``; those that are 1 TVM broadcasts."""
        dims = dims_of(tvm_api.type_of(argument)) or []
        last = common[len(common) - len(dims) :]
        wanted = [
            have if as_int(have) == 1 else want for have, want in zip(dims, last, strict=True)
        ]
        # What gives it may be lowered to a function that writes other dimensions in another way, of
        # which neither TOPI nor FuseTIR sees that they are the same.
        plain = all(as_int(dim) is not None or tvm_api.is_variable(dim) for dim in dims)
        if all(prover.equal(have, want) for have, want in zip(dims, wanted, strict=True)):
            # What is proved here by more than TVM's analyzer, TVM has to be told.
            if plain and all_seen(dims, wanted):
                return argument
            typed = tvm_api.tensor_type(wanted, tvm_api.dtype_of(argument))
            return self._cast(argument, typed)
        if not plain:
            argument = self._cast(argument, tvm_api.type_of(argument))
        call = self.builder_.call_te(_stretch, argument, wanted, primfunc_name_hint="stretch")
        return self.builder_.emit(call)


def _differ(new: Sequence[Expr], old: Sequence[Expr]) -> bool:
    return not all(one.same_as(other) for one, other in zip(new, old, strict=True))


def _broadcast(module: Module) -> tuple[Module, bool]:
    """``module`` with operands stretched, and whether any are."""
    stretched = False
    for variable, function in tvm_api_functions.functions(module):
        name = str(variable.name_hint)
        rewriting = _Broadcasting(module, name, function)
        new = rewriting.visit_expr(function)
        if not rewriting.changes:
            continue
        stretched = True
        module = rewriting.builder_.get()
        new = shape_guard.with_checks(name, tvm_api_functions.inferred(new), rewriting.checks)
        module.update_func(module.get_global_var(name), new)
        module = relax.transform.Normalize()(module)
    return module, stretched


def _run(module: Module, context: Any) -> Module:
    module, stretched = _broadcast(module)
    while stretched:
        # What is computed of a result that has a shape now may be one that values decide.
        named = known_results.named(module)
        if named.same_as(module):
            break
        module, stretched = _broadcast(named)
    return module


PASS = tvm_api_functions.module_pass("BroadcastAtRunTime", _run)

FIX = Fix(
    name="dynamic_broadcast",
    operators=tuple(sorted(shape_needs.ELEMENTWISE)),
    fault=(
        "a call is not lowered whose operands have dimensions that may be equal, or 1, which only"
        " run time tells"
    ),
    issue=None,
    parts=(Part("symbols", lambda: not probes.broadcasts()),),
    passes=(ModulePass(PASS),),
)
