"""The operators that a module of an oracle declares."""

from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

from relaxcheck.oracles.reference.evaluate import OPERATORS


def declared_in(
    *modules: ModuleType, table: Mapping[str, Callable[..., Any]] = OPERATORS
) -> set[str]:
    """The operators of ``table``, the reference's unless said, that ``modules`` declare."""
    names = {module.__name__ for module in modules}
    return {name for name, function in table.items() if function.__module__ in names}
