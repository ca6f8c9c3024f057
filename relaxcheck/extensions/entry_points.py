"""The entry points by which an installed package brings extensions, found in one place.

Metadata is read at the first question, and an object is imported when it is used, so that a package
that is broken or slow disturbs no command that does not need it.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any, TypeVar

from relaxcheck.extensions.naming import (
    ExtensionError,
    digest,
    folder_of,
    folders_of_extensions,
    imported,
    is_own,
    search_also,
)

T = TypeVar("T")

PIPELINES = "relaxcheck.pipelines"
"""Functions that return a pass for ``relax.build(relax_pipeline=…)``."""

OPERATORS = "relaxcheck.operators"
"""Records of operators (``generators.operators.record.Operator``), by the operator's name."""

REFERENCE = "relaxcheck.oracles.reference"
"""Functions of the float64 reference with its bounds, by the operator's name."""

PYTORCH = "relaxcheck.oracles.pytorch"
"""Functions of the PyTorch oracle, by the operator's name."""

ONNXRUNTIME = "relaxcheck.oracles.onnxruntime"
"""Functions that add an operator to ONNX Runtime's graph, by the operator's name."""

REGISTRATIONS = "relaxcheck.registrations"
"""Functions without parameters that register with TVM what records need, once a process."""

FIXES = "relaxcheck.fixes"
"""Fixes (``fixes.framework.fix.Fix``), by their names: legalizations, passes, rebindings."""

GROUPS = (PIPELINES, OPERATORS, REFERENCE, PYTORCH, ONNXRUNTIME, REGISTRATIONS, FIXES)
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

    def load_as(self, type_: type[T]) -> T:
        """Its object, which is to be a ``type_``, named like the entry point if it has a name.

        Raises:
            ExtensionError: it cannot be imported, is something else, or has another name.
        """
        made = self.load()
        if not isinstance(made, type_):
            raise ExtensionError(
                f"{self.title}: {self.value} is a {type(made).__name__}, and is to be a "
                f"{type_.__module__}.{type_.__qualname__}"
            )
        own = getattr(made, "name", self.name)
        if own != self.name:
            raise ExtensionError(f"{self.title}: {self.value} has another name, {own}")
        return made


def registered(group: str) -> Mapping[str, Registered]:
    """The entry points of ``group``, by name.

    Raises:
        ExtensionError: two packages have one of the same name, or its value is no name of an
            object in a module.
    """
    return _registered(group)


def folders() -> tuple[str, ...]:
    """The folders that all registered objects are imported from, each once.

    Raises:
        ExtensionError: there is no module for one.
    """
    every = (each for group in GROUPS for each in registered(group).values())
    return tuple(dict.fromkeys(str(_folder(each)) for each in every))


def sources() -> str:
    """A hash of the packages that bring more than pipelines; "" if there is none.

    Their operators, oracles, registrations and fixes decide how any case ends.
    """
    every = (each for group in GROUPS if group != PIPELINES for each in registered(group).values())
    return "".join(sorted({digest(each.value) for each in every}))


def _folder(each: Registered) -> Path:
    try:
        return folder_of(each.value)
    except ExtensionError as error:
        raise ExtensionError(f"{each.title}: {error}") from error


@cache
def _registered(group: str) -> Mapping[str, Registered]:
    # Another release's environment does not have them.
    search_also(folders_of_extensions())
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
