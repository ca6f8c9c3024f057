"""Putting fixes on and taking them off again, exactly."""

import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from types import ModuleType, TracebackType
from typing import Any

from fixes import tvm_api
from fixes.fix import LEGALIZE, Fix, OperatorAttribute, Rebinding
from fixes.tvm_api import Legalization

TVM_LEVEL = 10
"""The level at which TVM registers an operator's attributes, and at which they are put back."""


@dataclass(frozen=True, slots=True)
class _Attribute:
    """What an operator's attribute was before: ``original`` is None where there was none."""

    operator: Any
    key: str
    original: Any


@dataclass(frozen=True, slots=True)
class _Binding:
    """A name in a module of TVM, and the function that it was bound to before."""

    module: ModuleType
    name: str
    original: Any


@dataclass(slots=True)
class _State:
    """What is on now; empty lists and no names where nothing is."""

    fixes: tuple[Fix, ...] | None = None
    attributes: list[_Attribute] = field(default_factory=list)
    bindings: list[_Binding] = field(default_factory=list)


_state = _State()


@dataclass(frozen=True, slots=True)
class Installation:
    """The fixes that are on; as a context manager, takes off at its end what it put on."""

    fixes: tuple[Fix, ...]
    owner: bool

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
    """Put on those of ``fixes`` that the running TVM needs, unless some are on already."""
    if _state.fixes is not None:
        return Installation(_state.fixes, owner=False)
    # All are asked before the first is put on: one fix must not hide another's fault.
    needed = tuple(fix for fix in fixes if fix.needed())
    _state.fixes = needed
    try:
        for fix in needed:
            for attribute in fix.attributes:
                _set(attribute)
            for rebinding in fix.rebindings():
                _rebind(rebinding)
    except BaseException:
        uninstall()
        raise
    return Installation(needed, owner=True)


def uninstall() -> None:
    """Put back everything that ``install`` replaced; nothing where nothing is on."""
    while _state.bindings:
        binding = _state.bindings.pop()
        setattr(binding.module, binding.name, binding.original)
    while _state.attributes:
        attribute = _state.attributes.pop()
        attribute.operator.reset_attr(attribute.key)
        if attribute.original is not None:
            attribute.operator.set_attr(attribute.key, attribute.original, TVM_LEVEL)
    _state.fixes = None


def installed() -> tuple[Fix, ...]:
    """The fixes that are on now."""
    return _state.fixes or ()


def chosen(fixes: Iterable[Fix]) -> tuple[Fix, ...]:
    """The fixes that are on, or else those of ``fixes`` that are needed."""
    if _state.fixes is not None:
        return _state.fixes
    return tuple(fix for fix in fixes if fix.needed())


def legalize_map(fixes: Iterable[Fix]) -> dict[str, Legalization]:
    """Operator name to lowering, for the fixes that are on, or else those that are needed."""
    found: dict[str, Legalization] = {}
    for fix in chosen(fixes):
        for attribute in fix.attributes:
            name = attribute.operator
            if attribute.key == LEGALIZE and tvm_api.get_op(name) is not None:
                # What one fix gives is what the next one replaces.
                before = found[name] if name in found else _original(attribute)
                found[name] = attribute.replace(before)
    return found


def _original(attribute: OperatorAttribute) -> Any:
    for before in _state.attributes:
        if before.operator.name == attribute.operator and before.key == attribute.key:
            return before.original
    return tvm_api.get_op(attribute.operator).get_attr(attribute.key)


def _set(attribute: OperatorAttribute) -> None:
    operator = tvm_api.get_op(attribute.operator)
    if operator is None:
        return
    original = operator.get_attr(attribute.key)
    replacement = attribute.replace(original)
    _state.attributes.append(_Attribute(operator, attribute.key, original))
    # A level equal to the present one is refused, and a plant of ours may sit above TVM's.
    operator.reset_attr(attribute.key)
    operator.set_attr(attribute.key, replacement, tvm_api.LEGALIZATION_LEVEL)


def _rebind(rebinding: Rebinding) -> None:
    for module_name, module in list(sys.modules.items()):
        if module is None or module_name.partition(".")[0] != "tvm":
            continue
        for name, value in list(vars(module).items()):
            if value is rebinding.original:
                _state.bindings.append(_Binding(module, name, value))
                setattr(module, name, rebinding.replacement)
