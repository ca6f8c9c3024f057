"""Guards functions against dimensions that do not meet the needs of their operators (``needs.py``).

Needs that are proved are not checked; refuted ones are refused at compile time. The rest become
assertions at the head of the function, before anything is computed; the message names the
dimensions, their values, and the inputs that they come from. A dimension defined by a match_cast is
checked right after it. Within a branch of an ``if``, all checks stand at the head of the branch.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

import tvm
from tvm import relax

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.proving import needs as shape_needs
from relaxcheck.fixes.proving.checks import Check, origins, scalars, undecided
from relaxcheck.fixes.proving.needs import Need
from relaxcheck.fixes.tvm_api import Expr, PrimExpr, equal, show
from relaxcheck.fixes.tvm_api import functions as tvm_api_functions
from relaxcheck.fixes.tvm_api import shapes as tvm_api_shapes
from relaxcheck.fixes.tvm_api.functions import Binding, Function
from relaxcheck.fixes.tvm_api.shapes import dims_of, variables

Position = tuple[int, int]
"""(block, binding) to stand behind; (-1, -1) is the head."""

_HEAD: Position = (-1, -1)


@dataclass(slots=True)
class Symbols:
    """Knowledge about symbols at a place of a function.

    ``origins`` describes where inputs define them, ``places`` where the present sequence does.
    ``names`` maps symbols that are other names of a dimension to it. ``signed`` are scalar inputs,
    which may be negative.
    """

    origins: dict[PrimExpr, str]
    places: dict[PrimExpr, Position]
    names: dict[PrimExpr, PrimExpr] = field(default_factory=dict)
    signed: frozenset[PrimExpr] = frozenset()

    def place_of(self, check: Check) -> Position | None:
        """The first place where all symbols of ``check`` are defined; None if one never is."""
        places = [_HEAD]
        for symbol in check.variables():
            if symbol not in self.places:
                return None
            places.append(self.places[symbol])
        return max(places)

    def within(self) -> "Symbols":
        """The same for a nested sequence: all are defined at its head."""
        places = dict.fromkeys(self.places, _HEAD)
        return Symbols(self.origins, places, dict(self.names), self.signed)


def check_of(need: Need, subject: str, symbols: Symbols) -> Check:
    """``need`` as a check; ``subject`` names the function and the operator."""
    condition = tvm_api_shapes.substitute(need.condition, symbols.names)
    values = [tvm_api_shapes.substitute(value, symbols.names) for value in need.values]
    names = [v for value in (*need.values, *values) for v in variables(value)]
    known = dict.fromkeys(symbols.origins[v] for v in names if v in symbols.origins)
    got = " and ".join("{}" for _ in values)
    where = f" ({', '.join(known)})" if known else ""
    return Check(condition, f"{subject}: {need.why}, got {got}{where}", tuple(values))


def _checks(name: str, binding: Binding, symbols: Symbols) -> Iterator[Check]:
    """The checks that ``binding`` needs."""
    if isinstance(binding, relax.MatchCast):
        for need in _cast_needs(binding, symbols):
            yield check_of(need, f"{name}: match_cast", symbols)
    elif isinstance(binding.value, relax.Call) and isinstance(binding.value.op, tvm.ir.Op):
        for need in shape_needs.of(binding.value):
            operator = str(binding.value.op.name).removeprefix("relax.")
            yield check_of(need, f"{name}: {operator}", symbols)


def _checks_of_loosened(name: str, binding: Binding, symbols: Symbols) -> Iterator[Check]:
    """The checks that ``binding`` needs if it is a cast that will be rewritten: no later pass sees
    it.
    """
    if _refers_to_others(binding, symbols):
        yield from _checks(name, binding, symbols)


def _cast_needs(cast: Binding, symbols: Symbols) -> Iterator[Need]:
    """Dimensions known before a cast must equal those of the type that it casts to."""
    dims = dims_of(tvm_api.type_of(cast.value))
    wanted = dims_of(tvm_api_functions.type_of_cast(cast))
    if dims is None or wanted is None or len(dims) != len(wanted):
        return
    new: dict[PrimExpr, PrimExpr] = {}
    for dim, want in zip(dims, wanted, strict=True):
        if tvm_api.is_variable(want) and want not in symbols.places and want not in new:
            new[want] = dim
    for axis, (dim, want) in enumerate(zip(dims, wanted, strict=True)):
        known = tvm_api_shapes.substitute(want, new)
        why = f"dimension {axis}, which is {show(dim)}, must be {show(want)}"
        yield Need(equal(dim, known), why, (dim, known))


def _is_idle(binding: Binding) -> bool:
    """True if it casts a tensor to the type that the tensor has."""
    return isinstance(binding, relax.MatchCast) and tvm_api_shapes.alike(
        tvm_api.type_of(binding.value), tvm_api_functions.type_of_cast(binding)
    )


def _refers_to_others(binding: Binding, symbols: Symbols) -> bool:
    """True if it casts a dimension to a different expression of known symbols."""
    if not isinstance(binding, relax.MatchCast):
        return False
    dims = dims_of(tvm_api.type_of(binding.value)) or []
    wanted = dims_of(tvm_api_functions.type_of_cast(binding)) or []
    return any(
        any(symbol in symbols.places for symbol in variables(want))
        and not tvm_api_shapes.alike(dim, want)
        for dim, want in zip(dims, wanted, strict=False)
    )


def _define(binding: Binding, at: Position, symbols: Symbols) -> None:
    """Record the symbols that ``binding`` defines, and those that rename a dimension."""
    if not isinstance(binding, relax.MatchCast):
        return
    wanted = tvm_api_functions.type_of_cast(binding)
    dims = dims_of(tvm_api.type_of(binding.value)) or []
    for axis, (_, _, want) in enumerate(tvm_api_shapes.dims_within(wanted)):
        if not tvm_api.is_variable(want) or want in symbols.places:
            continue
        symbols.places[want] = at
        if axis < len(dims):
            symbols.names[want] = tvm_api_shapes.substitute(dims[axis], symbols.names)


@dataclass(slots=True)
class _Plan:
    """A sequence with guarded branches, and the places of its own checks."""

    sequence: Expr
    checks: list[tuple[Position, Check]]
    changed: bool = False
    in_dataflow: bool = False

    def settled(self) -> "_Plan":
        """This plan, with ``in_dataflow`` set if a check must stand within a dataflow block."""
        blocks = self.sequence.blocks
        self.in_dataflow |= any(
            at != _HEAD and isinstance(blocks[at[0]], relax.DataflowBlock) for at, _ in self.checks
        )
        return self


Checks = Callable[[str, Binding, Symbols], Iterator[Check]]


def _plan(name: str, sequence: Expr, symbols: Symbols, checks: Checks = _checks) -> _Plan:
    """Plan the ``checks`` of the bindings of ``sequence``; rewrite casts that TVM cannot handle."""
    blocks = []
    plan = _Plan(sequence, [])
    for number, block in enumerate(sequence.blocks):
        bindings: list[Binding] = []
        for binding in block.bindings:
            needed = list(checks(name, binding, symbols))
            if _is_idle(binding):
                # Lowering may change the type of the value, which is then cast to its own symbol.
                bindings.append(relax.VarBinding(binding.var, binding.value))
                plan.changed = True
            elif _refers_to_others(binding, symbols):
                dataflow = isinstance(block, relax.DataflowBlock)
                bindings += tvm_api_functions.by_way_of_no_shape(binding, dataflow)
                plan.changed = True
            else:
                bindings.append(_guarded_branches(name, binding, symbols, checks, plan))
            _define(binding, (number, len(bindings) - 1), symbols)
            for check in needed:
                at = symbols.place_of(check)
                if at is not None:
                    plan.checks.append((at, check))
        blocks.append(type(block)(bindings) if plan.changed else block)
    left = undecided((check for _, check in plan.checks), symbols.signed)
    plan.checks = [(at, check) for at, check in plan.checks if any(check is kept for kept in left)]
    if plan.changed:
        plan.sequence = relax.SeqExpr(blocks, sequence.body)
    return plan.settled()


def _guarded_branches(
    name: str, binding: Binding, symbols: Symbols, checks: Checks, plan: _Plan
) -> Binding:
    """``binding`` with its branches guarded; notes in ``plan`` whether that changed it."""
    choice = binding.value
    if not isinstance(choice, relax.If):
        return binding
    branches = [
        _plan(name, branch, symbols.within(), checks)
        for branch in (choice.true_branch, choice.false_branch)
    ]
    if not any(branch.changed or branch.checks for branch in branches):
        return binding
    plan.changed = True
    plan.in_dataflow |= any(branch.in_dataflow for branch in branches)
    return relax.VarBinding(binding.var, relax.If(choice.cond, *map(_guarded, branches)))


def _guarded(plan: _Plan) -> Expr:
    """The sequence with its checks, none of which may fall within a dataflow block."""
    if not plan.checks:
        return plan.sequence
    head = [check.assertion() for at, check in plan.checks if at == _HEAD]
    blocks = [relax.BindingBlock(head)] if head else []
    for number, block in enumerate(plan.sequence.blocks):
        bindings: list[Binding] = []
        for index, binding in enumerate(block.bindings):
            bindings.append(binding)
            bindings += [check.assertion() for at, check in plan.checks if at == (number, index)]
        blocks.append(type(block)(bindings) if len(bindings) > len(block.bindings) else block)
    return relax.SeqExpr(blocks, plan.sequence.body)


def _planned(name: str, function: Function) -> _Plan:
    symbols = inputs_symbols(function)
    return _plan(name, tvm_api_functions.sequence(function.body), symbols)


def inputs_symbols(function: Function) -> Symbols:
    """The knowledge at the head of ``function``."""
    by_symbol = origins(function)
    return Symbols(by_symbol, dict.fromkeys(by_symbol, _HEAD), signed=scalars(function))


def guarded(name: str, function: Function) -> Function:
    """``function`` with the checks that only run time decides.

    Raises:
        ValueError: a need can never be met.
    """
    return _with_checks(function, partial(_planned, name))


def with_checks(name: str, function: Function, checks: Sequence[Check]) -> Function:
    """``function``, called ``name``, with each of ``checks`` as soon as its symbols are defined.

    Placing them runs a pass of TVM that does not terminate on a match_cast to symbols of its own
    value; such casts are checked here.

    Raises:
        ValueError: a check can never hold.
    """
    left = undecided(checks, scalars(function))

    def plan(function: Function) -> _Plan:
        symbols = inputs_symbols(function)
        sequence = tvm_api_functions.sequence(function.body)
        planned = _plan(name, sequence, symbols, _checks_of_loosened)
        placed = [(symbols.place_of(check), check) for check in left]
        planned.checks += [(at, check) for at, check in placed if at is not None]
        return planned.settled()

    return _with_checks(function, plan)


def _with_checks(function: Function, find: Callable[[Function], _Plan]) -> Function:
    """``function`` as planned by ``find``."""
    plan = find(function)
    if not plan.checks and not plan.changed:
        return function
    if not plan.in_dataflow:
        guarded = tvm_api_functions.rebuilt(function, _guarded(plan).blocks)
        return tvm_api_functions.asserting(guarded)
    # Assertions must not stand in a dataflow block: take its bindings out, then put everything pure
    # into blocks again.
    function = tvm_api_functions.applied(relax.transform.ToNonDataflow(), function)
    guarded = tvm_api_functions.rebuilt(function, _guarded(find(function)).blocks)
    guarded = tvm_api_functions.asserting(guarded)
    return tvm_api_functions.applied(relax.transform.ConvertToDataflow(1), guarded)


def _unchecked(name: str, binding: Binding, symbols: Symbols) -> Iterator[Check]:
    """No checks: everything is checked already."""
    return iter(())


def loosened(name: str, function: Function) -> Function:
    """``function`` without casts to symbols of the value itself.

    If the variable of a split cast leaves its dataflow block, TVM joins the two casts again when it
    canonicalizes the fused function.
    """
    sequence = tvm_api_functions.sequence(function.body)
    plan = _plan(name, sequence, inputs_symbols(function), _unchecked)
    if not plan.changed:
        return function
    return tvm_api_functions.rebuilt(function, plan.sequence.blocks)
