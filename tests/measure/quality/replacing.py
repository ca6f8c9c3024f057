"""Functions of the harness, replaced in this process by those of a control."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Generic, TypeVar

CaseT = TypeVar("CaseT")


@dataclass(frozen=True, slots=True)
class Standing(Generic[CaseT]):
    """Stands where compiled code would: the case, which runs, and is not ``checked`` alone."""

    case: CaseT
    checked: str = ""


def replace(replaced: Mapping[ModuleType, Mapping[str, Callable[..., Any]]]) -> None:
    """Put functions in the place of those of the same names, by module.

    Raises:
        TypeError: a module has no such function.
    """
    for module, functions in replaced.items():
        for name, function in functions.items():
            if not callable(getattr(module, name)):
                raise TypeError(f"{module.__name__}.{name} is no function")
            setattr(module, name, function)
