"""Holding bindings back from a pass: it sees opaque calls in their places, and rewrites the rest.

Once the pass has run, the values come back in the places of the opaque calls, on whatever arguments
these have by then.
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import tvm
from tvm import relax
from tvm.relax.transform import transform

from relaxcheck.fixes.tvm_api import type_of
from relaxcheck.fixes.tvm_api.calls import call_packed
from relaxcheck.harness.triage.bisection.trace import Held

# TVM has no type information of its own.
Module = Any
Pass = Any

_active = ContextVar("active", default=False)

_OPAQUE = "relaxcheck.held."
"""Begins the names of the functions that opaque calls call; nothing defines them."""

_PACKED = "relax.call_pure_packed"
_MADE = ("relax.builtin.alloc_tensor", "relax.memory.alloc_tensor", "relax.memory.alloc_storage")
"""Calls that memory is planned for; others of functions that write have no result to hold."""


@relax.expr_functor.mutator
class _Holding(relax.PyExprMutator):  # type: ignore[misc]
    """Puts opaque calls in the place of the values ``held``; lists all that can be."""

    def __init__(self, module: Module, function: str, held: Collection[str]) -> None:
        super().__init__(module)
        self._function, self._held = function, held
        self.bindings: list[Held] = []
        self.values: dict[str, Any] = {}

    def visit_var_binding_(self, binding: Any) -> None:
        if not _can_be_held(binding.value):
            super().visit_var_binding_(binding)
            return
        called = _called(binding.value)
        own = Held(self._function, len(self.bindings), _name(binding.var), called)
        self.bindings.append(own)
        if own.key not in self._held:
            super().visit_var_binding_(binding)
            return
        self.values[own.key] = binding.value
        opaque = call_packed(_OPAQUE + own.key, _variables(binding.value), [type_of(binding.var)])
        super().visit_var_binding_(relax.VarBinding(binding.var, opaque))


@relax.expr_functor.mutator
class _Restoring(relax.PyExprMutator):  # type: ignore[misc]
    """Puts ``values`` in the place of the opaque calls."""

    def __init__(self, module: Module, values: Mapping[str, Any]) -> None:
        super().__init__(module)
        self._module, self._values = module, values

    def visit_call_(self, op: Any) -> Any:
        call = self.visit_expr_post_order(op)
        key = _key(call)
        if key is None:
            return call
        return _on(self._values[key], iter(call.args[1:]), self._module)


def _name(variable: Any) -> str:
    return str(variable.name_hint if hasattr(variable, "name_hint") else variable.name)


def _called(call: Any) -> str:
    """The operator that is called, or the function."""
    function = call.args[0] if str(getattr(call.op, "name", "")) == "relax.call_tir" else call.op
    if isinstance(function, tvm.ir.GlobalVar):
        return str(function.name_hint)
    return str(call.op.name).removeprefix("relax.")


def _can_be_held(value: Any) -> bool:
    """True of a call that has a result, and no effect but for memory that it allocates."""
    if not isinstance(value, relax.Call):
        return False
    if isinstance(value.op, tvm.ir.GlobalVar):
        return bool(getattr(type_of(value), "fields", True))
    name = str(getattr(value.op, "name", ""))
    if name in _MADE:
        return True
    effects = ("relax.memory.", "relax.vm.", "relax.builtin.", "relax.call_pure_packed")
    is_pure = isinstance(value.op, tvm.ir.Op) and value.op.get_attr("FPurity")
    return bool(is_pure) and not name.startswith(effects)


def _variables(value: Any) -> list[Any]:
    """The variables in the arguments of a call, in order, once for each place."""
    if isinstance(value, relax.Var):
        return [value]
    parts = getattr(value, "args", None) if isinstance(value, relax.Call) else None
    if isinstance(value, relax.Tuple):
        parts = value.fields
    return [each for part in parts or () for each in _variables(part)]


def _on(value: Any, variables: Iterator[Any], module: Module) -> Any:
    """``value`` on other ``variables``, in their order; functions are those of ``module``."""
    match value:
        case relax.Var():
            return next(variables)
        case relax.Tuple():
            return relax.Tuple([_on(each, variables, module) for each in value.fields])
        case tvm.ir.GlobalVar():
            return module.get_global_var(value.name_hint)
        case relax.Call():
            arguments = [_on(each, variables, module) for each in value.args]
            types = getattr(value, "ty_args", None) or getattr(value, "sinfo_args", None)
            op = _on(value.op, variables, module)
            return relax.Call(op, arguments, value.attrs, types)
    return value


def _key(call: Any) -> str | None:
    """The binding that the opaque ``call`` stands for; None of any other call."""
    if str(getattr(call.op, "name", "")) != _PACKED:
        return None
    name = str(getattr(call.args[0], "global_symbol", ""))
    return name.removeprefix(_OPAQUE) if name.startswith(_OPAQUE) else None


def bindings(module: Module) -> tuple[Held, ...]:
    """The bindings of ``module`` that can be held back, function by function."""
    return tuple(each for _, own, _ in _held_in(module, ()) for each in own.bindings)


def _held_in(module: Module, held: Collection[str]) -> Iterator[tuple[Any, Any, Any]]:
    """Each Relax function with its variable, the mutator that saw it, and what that left."""
    for variable, function in module.functions.items():
        if isinstance(function, relax.Function):
            own = _Holding(module, str(variable.name_hint), held)
            yield variable, own, own.visit_expr(function)


def applied(own: Pass, module: Module, held: Collection[str]) -> Module:
    """The result of the pass ``own`` on ``module`` with the bindings ``held``, by key, held back.

    Raises:
        Exception: whatever TVM raises, in the pass or of a module that no longer fits together.
    """
    functions: dict[Any, Any] = dict(module.functions.items())
    values: dict[str, Any] = {}
    for variable, mutator, opaque in _held_in(module, held):
        functions[variable] = opaque
        values |= mutator.values
    before = tvm.IRModule(functions, attrs=module.attrs, global_infos=module.global_infos)
    after = own(before)
    there = {str(each.name_hint) for each in after.functions}
    whole = dict(after.functions.items())
    # The pass may have dropped what only held calls use.
    whole |= {
        variable: function
        for variable, function in module.functions.items()
        if str(variable.name_hint) not in there
    }
    after = tvm.IRModule(whole, attrs=after.attrs, global_infos=after.global_infos)
    restored = {
        variable: _Restoring(after, values).visit_expr(function)
        if isinstance(function, relax.Function)
        else function
        for variable, function in after.functions.items()
    }
    return tvm.IRModule(restored, attrs=after.attrs, global_infos=after.global_infos)


@contextmanager
def wrapped(name: str, around: Callable[[Pass, Module], Module]) -> Iterator[None]:
    """Have each pass ``name`` that is made meanwhile run as ``around`` says; a missing one not."""
    places = [place for place in (relax.transform, transform) if hasattr(place, name)]
    own = {place: getattr(place, name) for place in places}
    token = _active.set(True)

    def making(*arguments: Any, **options: Any) -> Pass:
        made = own[places[0]](*arguments, **options)
        info = made.info
        return tvm.transform.module_pass(
            lambda module, context: around(made, module),
            opt_level=int(info.opt_level),
            name=str(info.name),
            required=[str(each) for each in info.required],
        )

    try:
        for place in places:
            setattr(place, name, making)
        yield
    finally:
        _active.reset(token)
        for place in places:
            setattr(place, name, own[place])


def is_active() -> bool:
    """True while bindings may be held back from some pass."""
    return _active.get()
