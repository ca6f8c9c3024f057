"""The names that TVM's modules bind a function to, by the function."""

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any


@dataclass(slots=True)
class BoundNames:
    """An index of the objects that the modules of TVM bind, each module read once.

    There are tens of thousands of names, and hundreds of functions to look up: an entry for each
    name would cost more than to look through the few modules that bind a function.
    """

    _read: set[str] = field(default_factory=set)
    _seen: tuple[int, str] = (0, "")
    """The number of modules at the last reading, and the name of the newest."""
    _modules: list[tuple[ModuleType, set[int]]] = field(default_factory=list)
    """Each module of TVM with the ids of all that its names are bound to."""

    def rebind(
        self, old: Callable[..., Any], new: Callable[..., Any]
    ) -> Iterator[tuple[ModuleType, str]]:
        """Bind each name of ``old`` to ``new``; yields module and name just before."""
        self._read_new_modules()
        wanted = id(old)
        for module, bound in [each for each in self._modules if wanted in each[1]]:
            # A name may have been bound to something else, and its object's id be that of another.
            for name in [name for name, value in vars(module).items() if value is old]:
                yield module, name
                setattr(module, name, new)
                bound.add(id(new))

    def _read_new_modules(self) -> None:
        # A new module is the last of them: to compare all names costs more than the rest of a fix.
        seen = len(sys.modules), next(reversed(sys.modules))
        if seen == self._seen:
            return
        self._seen = seen
        for name, module in list(sys.modules.items()):
            if name.partition(".")[0] != "tvm" or name in self._read or module is None:
                continue
            self._read.add(name)
            self._modules.append((module, set(map(id, list(vars(module).values())))))
