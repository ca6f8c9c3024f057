"""The names that TVM's modules bind a function to, by the function."""

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

_Place = tuple[ModuleType, str]


@dataclass(slots=True)
class BoundNames:
    """An index of the functions that the modules of TVM bind, each module read once.

    There are tens of thousands of names, and hundreds of functions to look up.
    """

    _read: set[str] = field(default_factory=set)
    _places: dict[int, list[_Place]] = field(default_factory=dict)

    def rebind(self, old: Callable[..., Any], new: Callable[..., Any]) -> Iterator[_Place]:
        """Bind each name of ``old`` to ``new``; yields module and name just before."""
        self._read_new_modules()
        # A name may have been bound to something else, and its function's id be that of another.
        places = [
            (module, name)
            for module, name in self._places.pop(id(old), [])
            if vars(module).get(name) is old
        ]
        for module, name in places:
            yield module, name
            setattr(module, name, new)
        self._places.setdefault(id(new), []).extend(places)

    def _read_new_modules(self) -> None:
        for name in sys.modules.keys() - self._read:
            self._read.add(name)
            module = sys.modules.get(name)
            if module is not None and name.partition(".")[0] == "tvm":
                for bound, value in list(vars(module).items()):
                    if callable(value):
                        self._places.setdefault(id(value), []).append((module, bound))
