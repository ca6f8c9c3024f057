"""Names of TVM's modules are bound anew, wherever a function has first, and back."""

import sys
from types import ModuleType

import pytest

from relaxcheck.fixes.framework.bound_names import BoundNames


def _module(name: str, **names: object) -> ModuleType:
    module = ModuleType(name)
    vars(module).update(names)
    return module


def old() -> None: ...


def new() -> None: ...


def newest() -> None: ...


@pytest.fixture
def modules(monkeypatch: pytest.MonkeyPatch) -> tuple[ModuleType, ...]:
    made = (
        _module("tvm.one", f=old, g=old, h=new),
        _module("tvm.two", f=old),
        _module("elsewhere", f=old),
    )
    for module in made:
        monkeypatch.setitem(sys.modules, module.__name__, module)
    return made


def test_every_name_of_a_function_in_tvm_is_bound_anew(modules: tuple[ModuleType, ...]) -> None:
    first, second, elsewhere = modules
    places = list(BoundNames().rebind(old, new))
    assert sorted(places, key=str) == [(first, "f"), (first, "g"), (second, "f")]
    assert (first.f, first.g, second.f, elsewhere.f) == (new, new, new, old)


def test_a_function_bound_anew_is_replaced_too(modules: tuple[ModuleType, ...]) -> None:
    first, second, _ = modules
    names = BoundNames()
    list(names.rebind(old, new))
    assert len(list(names.rebind(new, newest))) == 4
    assert (first.f, first.h, second.f) == (newest, newest, newest)
    assert list(names.rebind(old, new)) == []


def test_a_module_that_is_imported_later_is_read_then(
    modules: tuple[ModuleType, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    names = BoundNames()
    list(names.rebind(new, newest))
    late = _module("tvm.late", f=old)
    monkeypatch.setitem(sys.modules, "tvm.late", late)
    assert (late, "f") in list(names.rebind(old, new))


def test_a_name_that_was_bound_to_something_else_stays(modules: tuple[ModuleType, ...]) -> None:
    first, second, _ = modules
    names = BoundNames()
    list(names.rebind(new, newest))
    second.f = newest
    assert sorted(names.rebind(old, new), key=str) == [(first, "f"), (first, "g")]
    assert second.f is newest
