"""An oracle's operators: functions declared under Relax names, found in a folder of modules."""

import pkgutil
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, TypeVar

from relaxcheck.extensions.entry_points import skip, usable

Function = TypeVar("Function", bound=Callable[..., Any])


def declare(
    table: dict[str, Function],
) -> Callable[[str], Callable[[Function], Function]]:
    """Return the decorator that enters a function into ``table`` under a Relax operator name.

    The decorator raises ``ValueError`` when the name is already taken.
    """

    def operator(name: str) -> Callable[[Function], Function]:
        def enter(function: Function) -> Function:
            if name in table:
                raise ValueError(f"operator {name} is declared twice")
            table[name] = function
            return function

        return enter

    return operator


def extend(
    group: str, declared: Callable[[str], Callable[[Any], Any]], table: Mapping[str, object]
) -> None:
    """Have ``declared``, a decorator by name, declare the functions of the entry points ``group``.

    It enters them into ``table``. Those that cannot be imported, or whose operators have a function
    already, are recorded as broken.
    """
    for each, made in usable(group, object, {*table}):
        if callable(made):
            declared(each.name)(made)
        else:
            skip(each, f"{each.value} is a {type(made).__name__}, not a function")


def discover(package: str) -> None:
    """Import every module of ``package`` and its folders, so that its declarations take effect.

    A new operator is a new file in a folder; there is no list to extend.
    """
    for module in pkgutil.walk_packages(import_module(package).__path__, f"{package}."):
        import_module(module.name)
