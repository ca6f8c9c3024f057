"""The entry points by which an installed package brings extensions, found in one place.

Metadata is read at the first question, and an object is imported when it is used, so that a package
that is broken or slow disturbs no command that does not need it.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from typing import Any

from relaxcheck.extensions.naming import ExtensionError, imported, is_own

PIPELINES = "relaxcheck.pipelines"
"""Functions that return a pass for ``relax.build(relax_pipeline=…)``."""

GROUPS = (PIPELINES,)
"""Every group of entry points that is read."""


@dataclass(frozen=True, slots=True)
class Registered:
    """The entry point ``name`` of the ``group``, whose object is ``value``: ``module:attribute``.

    ``distribution`` is the installed package that has it.
    """

    group: str
    name: str
    value: str
    distribution: str

    @property
    def title(self) -> str:
        """The entry point for a message: ``fused of mine 0.1 (relaxcheck.pipelines)``."""
        return f"{self.name} of {self.distribution} ({self.group})"

    def load(self) -> Any:
        """Its object.

        Raises:
            ExtensionError: it cannot be imported.
        """
        return imported(self.value, self.title)


def registered(group: str) -> Mapping[str, Registered]:
    """The entry points of ``group``, by name.

    Raises:
        ExtensionError: two packages have one of the same name, or its value is no name of an
            object in a module.
    """
    return _registered(group)


@cache
def _registered(group: str) -> Mapping[str, Registered]:
    by_name: dict[str, Registered] = {}
    for each in sorted(_read(group), key=lambda each: (each.name, each.distribution)):
        if not is_own(each.value):
            raise ExtensionError(f"{each.title}: {each.value!r} is not of the form module:object")
        other = by_name.setdefault(each.name, each)
        if other != each:
            raise ExtensionError(f"{each.title}: {other.distribution} has one of that name too")
    return by_name


def _read(group: str) -> Iterator[Registered]:
    for each in metadata.entry_points(group=group):
        about = each.dist
        owner = "an unnamed package" if about is None else f"{about.name} {about.version}"
        yield Registered(group, each.name, each.value.partition("[")[0].strip(), owner)
