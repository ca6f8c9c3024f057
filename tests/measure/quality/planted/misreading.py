"""Planted bugs of TVM's importer of exported PyTorch programs.

A ``Misreading`` is in the entries of the importer's table for some functions of ATen: it changes
what the right entry reads of a node, or its result. A ``Miswiring`` is in a method of the importer.
The right ones are those of the fixes, where these have some: a plant is the only bug there is.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from relaxcheck.harness.outcomes.outcome import Verdict
from tests.measure.quality.planted.plant import Plant, PlantError

TABLE = "create_convert_map"
"""The method of the importer that returns its table of functions."""


@dataclass(frozen=True, slots=True)
class Reading:
    """A node of FX that is about to be converted; ``entry`` is the right one for it."""

    importer: Any
    call: Any
    entry: Callable[[Any], Any]

    def made(self, changed: Mapping[str, Any] = MappingProxyType({})) -> Any:
        """The result of the right entry, for the node with some arguments changed.

        Only what is stated is changed, not what the node leaves out. ``changed`` are values by the
        names of ATen's schema.
        """
        right_args, right_keywords = self.call.args, dict(self.call.kwargs)
        args, keywords = list(right_args), dict(right_keywords)
        for name, value in changed.items():
            position = self._position(name)
            if name in keywords:
                keywords[name] = value
            elif position is not None and position < len(args):
                args[position] = value
        self.call.args, self.call.kwargs = tuple(args), keywords
        try:
            return self.entry(self.call)
        finally:
            self.call.args, self.call.kwargs = right_args, right_keywords

    def argument(self, name: str) -> Any:
        """The argument ``name`` as FX has it; the schema's default where it is left out."""
        position = self._position(name)
        if name in self.call.kwargs:
            return self.call.kwargs[name]
        if position is not None and position < len(self.call.args):
            return self.call.args[position]
        return self.default(name)

    def default(self, name: str) -> Any:
        """The default of the argument ``name``."""
        return next(each.default_value for each in self._schema if each.name == name)

    def value(self, name: str) -> Any:
        """The Relax value of the argument ``name``, a tensor."""
        return self.importer.env[self.argument(name)]

    def emit(self, value: Any) -> Any:
        """A variable bound to ``value``."""
        return self.importer.block_builder.emit(value)

    @property
    def _schema(self) -> Any:
        return self.call.target._schema.arguments

    def _position(self, name: str) -> int | None:
        for at, each in enumerate(self._schema):
            if each.name == name:
                return None if each.kwarg_only else at
        return None


Change = Callable[[Reading], Any]
"""Converts a node wrongly."""


@dataclass(frozen=True, slots=True)
class Misreading:
    """A plant: ``change`` converts the nodes of ``functions``, names of entries of the table.

    ``families``, without their prefix, are hunted in besides those of graphs. ``verdicts`` are
    right for it, the usual one first.
    """

    name: str
    description: str
    functions: tuple[str, ...]
    change: Change
    families: tuple[str, ...]
    verdicts: tuple[Verdict, ...] = (Verdict.WRONG_VALUE,)

    @contextmanager
    def placed(self, importer: Any) -> Iterator[None]:
        """A context in which the class ``importer`` has this plant."""
        with _replaced(importer, TABLE, lambda right: lambda own: self.planted(own, right(own))):
            yield

    def planted(self, importer: Any, table: Mapping[str, Any]) -> dict[str, Any]:
        """The ``table`` of ``importer`` with this plant.

        Raises:
            PlantError: the importer has none of its functions.
        """
        entries = {name: table[name] for name in self.functions if name in table}
        if not entries:
            raise PlantError(f"{self.name}: the importer converts no {' or '.join(self.functions)}")

        def wrong(entry: Callable[[Any], Any]) -> Callable[[Any], Any]:
            return lambda call: self.change(Reading(importer, call, entry))

        return {**table, **{name: wrong(entry) for name, entry in entries.items()}}

    @property
    def plant(self) -> Plant:
        """The same as a plant without an edit of a source text."""
        return Plant(self.name, self.description, self.verdicts, (), ())


@dataclass(frozen=True, slots=True)
class Miswiring:
    """A plant: ``method`` of the importer is what ``change`` makes of the right one."""

    name: str
    description: str
    method: str
    change: Callable[[Callable[..., Any]], Any]
    families: tuple[str, ...]
    verdicts: tuple[Verdict, ...] = (Verdict.WRONG_VALUE,)

    @contextmanager
    def placed(self, importer: Any) -> Iterator[None]:
        """A context in which the class ``importer`` has this plant."""
        with _replaced(importer, self.method, self.change):
            yield

    @property
    def plant(self) -> Plant:
        """The same as a plant without an edit of a source text."""
        return Plant(self.name, self.description, self.verdicts, (), ())


Planted = Misreading | Miswiring


@contextmanager
def _replaced(owner: Any, name: str, change: Callable[[Callable[..., Any]], Any]) -> Iterator[None]:
    """A context in which the attribute ``name`` of ``owner`` is what ``change`` makes of it."""
    # A static method is to be put back as it was.
    right = owner.__dict__.get(name)
    setattr(owner, name, change(getattr(owner, name)))
    try:
        yield
    finally:
        if right is None:
            delattr(owner, name)
        else:
            setattr(owner, name, right)
