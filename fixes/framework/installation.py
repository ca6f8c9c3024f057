"""Puts fixes on and takes them off again, exactly."""

import logging
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from types import ModuleType, TracebackType
from typing import Any

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework.bound_names import BoundNames
from relaxcheck.fixes.framework.fix import LEGALIZE, Fix, MethodRebinding, OperatorAttribute
from relaxcheck.fixes.tvm_api import Legalization

LOG = logging.getLogger("relaxcheck.fixes")

TVM_LEVEL = 10
"""The level at which TVM registers operator attributes; used to restore them."""


@dataclass(frozen=True, slots=True)
class _Attribute:
    """The former value of an operator attribute; ``original`` is None if there was none."""

    operator: Any
    key: str
    original: Any


@dataclass(frozen=True, slots=True)
class _Binding:
    """A name in a module or class of TVM, and the function formerly bound to it."""

    owner: ModuleType | type
    name: str
    original: Any


@dataclass(slots=True)
class _State:
    """The present state; empty lists and None while no fixes are on."""

    fixes: tuple[Fix, ...] | None = None
    attributes: list[_Attribute] = field(default_factory=list)
    bindings: list[_Binding] = field(default_factory=list)


_state = _State()


@dataclass(frozen=True, slots=True, repr=False)
class Installation:
    """The fixes that are on. As a context manager, takes off at its end those that it put on."""

    fixes: tuple[Fix, ...]
    owner: bool

    def __repr__(self) -> str:
        names = ", ".join(fix.name for fix in self.fixes) or "none"
        return f"<{len(self.fixes)} fixes on: {names}>"

    def __enter__(self) -> "Installation":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self.owner:
            uninstall()


def install(fixes: Iterable[Fix]) -> Installation:
    """Put on those of ``fixes`` that the running TVM needs, unless some are on already.

    Logs one line a fix at level INFO. The probes run once in a process.
    """
    if _state.fixes is not None:
        return Installation(_state.fixes, owner=False)
    # Probe all before putting on the first: one fix must not hide another's fault.
    needed = needed_of(tuple(fixes))
    _state.fixes = needed
    names = BoundNames()
    try:
        for fix in needed:
            for attribute in fix.attributes:
                _set(attribute)
            for each in fix.rebindings():
                if isinstance(each, MethodRebinding):
                    _replace(each)
                    continue
                for module, name in names.rebind(each.original, each.replacement):
                    _state.bindings.append(_Binding(module, name, each.original))
            LOG.info("fix %s is on: %s", fix.name, fix.fault)
    except BaseException:
        uninstall()
        raise
    return Installation(needed, owner=True)


def uninstall() -> None:
    """Restore everything that ``install`` replaced. Does nothing while no fixes are on."""
    while _state.bindings:
        binding = _state.bindings.pop()
        setattr(binding.owner, binding.name, binding.original)
    while _state.attributes:
        attribute = _state.attributes.pop()
        attribute.operator.reset_attr(attribute.key)
        if attribute.original is not None:
            attribute.operator.set_attr(attribute.key, attribute.original, TVM_LEVEL)
    _state.fixes = None


def installed() -> tuple[Fix, ...]:
    """The fixes that are on."""
    return _state.fixes or ()


def chosen(fixes: Iterable[Fix]) -> tuple[Fix, ...]:
    """The fixes that are on, or else those of ``fixes`` that are needed."""
    if _state.fixes is not None:
        return _state.fixes
    return needed_of(tuple(fixes))


_NEED: dict[Fix, bool] = {}
"""The probed fixes: True for one that the running TVM needs. Clear it after a change to TVM."""


def needed_of(fixes: tuple[Fix, ...]) -> tuple[Fix, ...]:
    """Those of ``fixes`` that the running TVM needs; to be called while none is on.

    Probing compiles programs, once in a process.
    """
    for fix in fixes:
        if fix not in _NEED:
            _NEED[fix] = fix.needed()
    return tuple(fix for fix in fixes if _NEED[fix])


def assume_needed(fixes: Iterable[Fix], names: Collection[str]) -> None:
    """Take the need for ``fixes`` as known: those of ``names`` are needed, by another process."""
    _NEED.update((fix, fix.name in names) for fix in fixes)


def legalize_map(fixes: Iterable[Fix]) -> dict[str, Legalization]:
    """Lowerings by operator name, of the fixes that are on, or else of those that are needed."""
    lowerings: dict[str, Legalization] = {}
    for fix in chosen(fixes):
        for attribute in fix.attributes:
            name = attribute.operator
            if attribute.key == LEGALIZE and tvm_api.get_op(name) is not None:
                # A later fix wraps the lowering of an earlier one.
                before = lowerings[name] if name in lowerings else _original(attribute)
                lowerings[name] = attribute.replace(before)
    return lowerings


def _original(attribute: OperatorAttribute) -> Any:
    for before in _state.attributes:
        if before.operator.name == attribute.operator and before.key == attribute.key:
            return before.original
    return tvm_api.get_op(attribute.operator).get_attr(attribute.key)


def _replace(method: MethodRebinding) -> None:
    # Another fix may have put a class of its own above TVM's, and call what it inherits.
    owner = next(each for each in reversed(method.owner.__mro__) if _defines(each, method.name))
    # As the class holds it: getattr would unwrap a static or class method.
    original = vars(owner)[method.name]
    _state.bindings.append(_Binding(owner, method.name, original))
    setattr(owner, method.name, method.replacement)


def _defines(owner: type, name: str) -> bool:
    """True if ``owner`` itself has a method ``name`` that is more than a declaration."""
    there = vars(owner).get(name)
    return there is not None and not getattr(there, "__isabstractmethod__", False)


def _set(attribute: OperatorAttribute) -> None:
    operator = tvm_api.get_op(attribute.operator)
    if operator is None:
        return
    original = operator.get_attr(attribute.key)
    replacement = attribute.replace(original)
    _state.attributes.append(_Attribute(operator, attribute.key, original))
    # TVM refuses a level equal to the present one, and a test may have registered above TVM's.
    operator.reset_attr(attribute.key)
    operator.set_attr(attribute.key, replacement, tvm_api.LEGALIZATION_LEVEL)
