"""What operators need of symbolic dimensions (``shape_needs.py``), checked at run time.

What the analyzer proves is not checked; what it refutes is refused at compile time. The rest
becomes assertions at the head of the function, before anything is computed, with a message that
names the dimensions and their values, and the inputs that they come from. A dimension that is
known only in mid-function, by a match_cast, is checked right after it; within the branch of an if,
all is checked at the head of the branch.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

import tvm
from tvm import relax

from fixes import probes_of_shapes as probes
from fixes import shape_needs, tvm_api, tvm_api_functions, tvm_api_shapes
from fixes.fix import Fix, ModulePass, Part
from fixes.run_time_checks import Check, origins, scalars, undecided
from fixes.shape_needs import Need
from fixes.tvm_api import Expr, PrimExpr, equal, show
from fixes.tvm_api_functions import Binding, Function
from fixes.tvm_api_shapes import dims_of, variables

Place = tuple[int, int]
"""After which binding of which block; (-1, -1) is the head."""

_HEAD: Place = (-1, -1)


@dataclass(slots=True)
class Symbols:
    """What is known of the symbols at some place of a function.

    ``origins`` tells in words where inputs have them. ``places`` is where in the sequence at hand
    each is defined; ``names`` are the dimensions of which they are other names. ``signed`` are
    scalar inputs, which may be negative.
    """

    origins: dict[PrimExpr, str]
    places: dict[PrimExpr, Place]
    names: dict[PrimExpr, PrimExpr] = field(default_factory=dict)
    signed: frozenset[PrimExpr] = frozenset()

    def place_of(self, check: Check) -> Place | None:
        """Where all the symbols of ``check`` are known; None where one never is."""
        places = [_HEAD]
        for symbol in check.variables():
            if symbol not in self.places:
                return None
            places.append(self.places[symbol])
        return max(places)

    def within(self) -> "Symbols":
        """The same, for a sequence within this one: all are known at its head."""
        places = dict.fromkeys(self.places, _HEAD)
        return Symbols(self.origins, places, dict(self.names), self.signed)


def check_of(need: Need, subject: str, symbols: Symbols) -> Check:
    """``need`` as a check; ``subject`` is the function and the operator."""
    condition = tvm_api_shapes.substitute(need.condition, symbols.names)
    values = [tvm_api_shapes.substitute(value, symbols.names) for value in need.values]
    found = [v for value in (*need.values, *values) for v in variables(value)]
    known = dict.fromkeys(symbols.origins[v] for v in found if v in symbols.origins)
    got = " and ".join("{}" for _ in values)
    where = f" ({', '.join(known)})" if known else ""
    return Check(condition, f"{subject}: {need.why}, got {got}{where}", tuple(values))


def _checks(name: str, binding: Binding, symbols: Symbols) -> Iterator[Check]:
    """What ``binding`` needs."""
    if isinstance(binding, relax.MatchCast):
        for need in _cast_needs(binding, symbols):
            yield check_of(need, f"{name}: match_cast", symbols)
    elif isinstance(binding.value, relax.Call) and isinstance(binding.value.op, tvm.ir.Op):
        for need in shape_needs.of(binding.value):
            operator = str(binding.value.op.name).removeprefix("relax.")
            yield check_of(need, f"{name}: {operator}", symbols)


def _checks_of_loosened(name: str, binding: Binding, symbols: Symbols) -> Iterator[Check]:
    """What ``binding`` needs if it is a cast that is not left as it is: later it is not seen."""
    if _refers_to_others(binding, symbols):
        yield from _checks(name, binding, symbols)


def _cast_needs(cast: Binding, symbols: Symbols) -> Iterator[Need]:
    """That the dimensions that are known already are those of the type that is cast to."""
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
    """Whether it casts a tensor to the type that this has."""
    return isinstance(binding, relax.MatchCast) and tvm_api_shapes.alike(
        tvm_api.type_of(binding.value), tvm_api_functions.type_of_cast(binding)
    )


def _refers_to_others(binding: Binding, symbols: Symbols) -> bool:
    """Whether it casts a dimension to one that has known symbols, and is written otherwise."""
    if not isinstance(binding, relax.MatchCast):
        return False
    dims = dims_of(tvm_api.type_of(binding.value)) or []
    wanted = dims_of(tvm_api_functions.type_of_cast(binding)) or []
    return any(
        any(symbol in symbols.places for symbol in variables(want))
        and not tvm_api_shapes.alike(dim, want)
        for dim, want in zip(dims, wanted, strict=False)
    )


def _define(binding: Binding, at: Place, symbols: Symbols) -> None:
    """Note the symbols that ``binding`` defines, and those that are others by another name."""
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
    """A sequence with its branches guarded, and where its own checks go."""

    sequence: Expr
    checks: list[tuple[Place, Check]]
    changed: bool = False
    in_dataflow: bool = False

    def settled(self) -> "_Plan":
        """The plan, which knows now whether a check is to stand within a dataflow block."""
        blocks = self.sequence.blocks
        self.in_dataflow |= any(
            at != _HEAD and isinstance(blocks[at[0]], relax.DataflowBlock) for at, _ in self.checks
        )
        return self


Checks = Callable[[str, Binding, Symbols], Iterator[Check]]


def _plan(name: str, sequence: Expr, symbols: Symbols, checks: Checks = _checks) -> _Plan:
    """``sequence`` with the ``checks`` of its bindings, and no casts that TVM loses itself in."""
    blocks = []
    plan = _Plan(sequence, [])
    for number, block in enumerate(sequence.blocks):
        bindings: list[Binding] = []
        for binding in block.bindings:
            found = list(checks(name, binding, symbols))
            if _is_idle(binding):
                # What is lowered may be typed otherwise than now, and be cast to its own symbol.
                bindings.append(relax.VarBinding(binding.var, binding.value))
                plan.changed = True
            elif _refers_to_others(binding, symbols):
                dataflow = isinstance(block, relax.DataflowBlock)
                bindings += tvm_api_functions.by_way_of_no_shape(binding, dataflow)
                plan.changed = True
            else:
                bindings.append(_guarded_branches(name, binding, symbols, checks, plan))
            _define(binding, (number, len(bindings) - 1), symbols)
            for check in found:
                at = symbols.place_of(check)
                if at is not None:
                    plan.checks.append((at, check))
        blocks.append(type(block)(bindings) if plan.changed else block)
    left = undecided((check for _, check in plan.checks), symbols.signed)
    plan.checks = [(at, check) for at, check in plan.checks if any(check is one for one in left)]
    if plan.changed:
        plan.sequence = relax.SeqExpr(blocks, sequence.body)
    return plan.settled()


def _guarded_branches(
    name: str, binding: Binding, symbols: Symbols, checks: Checks, plan: _Plan
) -> Binding:
    """``binding`` with what it chooses from guarded; says in ``plan`` whether that changed it."""
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
    """The sequence with its checks; no place of one is within a dataflow block."""
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
    """What is known at the head of ``function``."""
    found = origins(function)
    return Symbols(found, dict.fromkeys(found, _HEAD), signed=scalars(function))


def _rewrite(name: str, function: Function) -> Function:
    """``function`` with the checks that only run time decides.

    Raises:
        ValueError: a need can never be met.
    """
    return _with_checks(function, partial(_planned, name))


def with_checks(name: str, function: Function, checks: Sequence[Check]) -> Function:
    """``function``, called ``name``, with ``checks``, each as soon as its symbols are known.

    What it takes to place them runs a pass of TVM's that does not end for a match_cast to symbols
    that its own value has; these are checked here.

    Raises:
        ValueError: one can never hold.
    """
    left = undecided(checks, scalars(function))

    def plan(one: Function) -> _Plan:
        symbols = inputs_symbols(one)
        sequence = tvm_api_functions.sequence(one.body)
        found = _plan(name, sequence, symbols, _checks_of_loosened)
        placed = [(symbols.place_of(check), check) for check in left]
        found.checks += [(at, check) for at, check in placed if at is not None]
        return found.settled()

    return _with_checks(function, plan)


def _with_checks(function: Function, find: Callable[[Function], _Plan]) -> Function:
    """``function`` as ``find`` plans it."""
    plan = find(function)
    if not plan.checks and not plan.changed:
        return function
    if not plan.in_dataflow:
        guarded = tvm_api_functions.rebuilt(function, _guarded(plan).blocks)
        return tvm_api_functions.asserting(guarded)
    # No assertion may stand in a dataflow block: its bindings come out, and all that is pure goes
    # into blocks again.
    function = tvm_api_functions.applied(relax.transform.ToNonDataflow(), function)
    guarded = tvm_api_functions.rebuilt(function, _guarded(find(function)).blocks)
    guarded = tvm_api_functions.asserting(guarded)
    return tvm_api_functions.applied(relax.transform.ConvertToDataflow(1), guarded)


PASS = tvm_api_functions.rewriting("GuardShapes", _rewrite)


def _unchecked(name: str, binding: Binding, symbols: Symbols) -> Iterator[Check]:
    """Nothing: all is checked already."""
    return iter(())


def _loosened(name: str, function: Function) -> Function:
    """``function`` with no cast to its value's own symbols.

    Where what is cast to goes out of a dataflow block, TVM puts the two casts that there are in
    place of such a one together again, when it canonicalizes what it has fused.
    """
    sequence = tvm_api_functions.sequence(function.body)
    plan = _plan(name, sequence, inputs_symbols(function), _unchecked)
    if not plan.changed:
        return function
    return tvm_api_functions.rebuilt(function, plan.sequence.blocks)


LOOSENING = tvm_api_functions.rewriting("LoosenCasts", _loosened)


FIX = Fix(
    name="shape_guard",
    operators=tuple(sorted(shape_needs.TABLE)),
    fault=(
        "what a call needs of symbolic dimensions is not checked at run time: where they do not go"
        " together, it reads out of bounds or computes something else"
    ),
    issue=None,
    parts=(
        Part("products", lambda: not probes.refuses_products()),
        Part("channels", lambda: not probes.refuses_channels()),
        Part("windows", lambda: not probes.refuses_windows(), deadly=True),
        Part("reshapes", lambda: not probes.refuses_reshapes()),
        Part("extents", lambda: not probes.tells_negative_extents()),
        Part("casts", lambda: not probes.refuses_casts()),
        Part("casts to own symbols", lambda: not probes.casts_to_own_symbol(), deadly=True),
    ),
    passes=(ModulePass(PASS), ModulePass(LOOSENING, after="FuseTIR")),
)
