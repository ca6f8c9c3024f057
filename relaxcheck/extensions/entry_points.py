"""The entry points by which an installed package brings extensions, found in one place.

Metadata is read at the first question, and an object is imported when it is used. An entry point
that cannot be used is recorded as ``Broken``: it stops a command that needs it (``require``), and
no other.
"""

from collections.abc import Collection, Container, Iterable, Iterator, Mapping
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

KINDS = "relaxcheck.kinds"
"""Kinds of cases (``harness.kind.Kind``), by their names."""

RENDERINGS = "relaxcheck.renderings"
"""The text of such cases (``reports.rendering.Rendering``), by the name of the kind."""

GROUPS = (
    PIPELINES,
    OPERATORS,
    REFERENCE,
    PYTORCH,
    ONNXRUNTIME,
    REGISTRATIONS,
    FIXES,
    KINDS,
    RENDERINGS,
)
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


@dataclass(frozen=True, slots=True)
class Broken:
    """An entry point that cannot be used, and the reason: one line that names both.

    ``spare``: relaxcheck has something of that name itself, so that no case needs it.
    """

    group: str
    name: str
    distribution: str
    message: str
    spare: bool = False


_broken: dict[tuple[str, str], Broken] = {}
"""Those that were recorded in this process or, by ``record``, in another, by group and name."""


def registered(group: str) -> Mapping[str, Registered]:
    """The entry points of ``group``, by name.

    Recorded as broken are those of which two packages have one of the same name, and those whose
    value is no name of an object in a module.
    """
    return _registered(group)


def usable(
    group: str, type_: type[T], taken: Container[str] = ()
) -> Iterator[tuple[Registered, T]]:
    """The entry points of ``group`` with their objects, each of which is to be a ``type_``.

    Those that cannot be used, or have a name that is ``taken``, are recorded as broken.
    """
    for each in registered(group).values():
        if each.name in taken:
            skip(each, "relaxcheck has one of that name itself", spare=True)
            continue
        try:
            made = each.load_as(type_)
        except ExtensionError as error:
            skip(each, error)
        else:
            yield each, made


def skip(each: Registered, error: ExtensionError | str, *, spare: bool = False) -> None:
    """Record that ``each`` cannot be used; ``error`` names it, or is only the reason."""
    message = str(error) if isinstance(error, ExtensionError) else f"{each.title}: {error}"
    record([Broken(each.group, each.name, each.distribution, message, spare)])


def record(entries: Iterable[Broken]) -> None:
    """Record ``entries`` as broken; of those of one group and name the first."""
    for each in entries:
        _broken.setdefault((each.group, each.name), each)


def broken() -> tuple[Broken, ...]:
    """The entry points that turned out to be broken so far."""
    return tuple(_broken.values())


def require(*groups: str, names: Collection[str] | None = None) -> None:
    """Check that no entry point of ``groups``, of those called ``names`` if given, is broken.

    Those that this process did not use yet do not count.

    Raises:
        ExtensionError: one is; the message counts the others.
    """
    demand(
        each for each in broken() if each.group in groups and (names is None or each.name in names)
    )


def demand(entries: Iterable[Broken]) -> None:
    """Raise ``ExtensionError`` if there are ``entries``: the first, and a count of the others."""
    if listed := tuple(entries):
        raise ExtensionError(listed[0].message + _others(len(listed) - 1))


def warning(entries: Collection[Broken]) -> str:
    """The line about ``entries``, which the command at hand did without."""
    first, *others = entries
    return f"left out: {first.message}{_others(len(others))}"


def _others(number: int) -> str:
    more = f"{number} more cannot be used: " if number else ""
    return f" ({more}relaxcheck releases doctor lists all)"


def folders() -> tuple[str, ...]:
    """The folders that all registered objects are imported from, each once.

    An entry point without a module is recorded as broken.
    """
    every = (each for group in GROUPS for each in registered(group).values())
    return tuple(dict.fromkeys(str(folder) for each in every for folder in _folder(each)))


def sources() -> str:
    """A hash of the packages that bring more than pipelines; "" if there is none.

    Their operators, oracles, registrations and fixes decide how any case ends.
    """
    every = (each for group in GROUPS if group != PIPELINES for each in registered(group).values())
    return "".join(sorted({digest(each.value) for each in every if _folder(each)}))


def _folder(each: Registered) -> tuple[Path, ...]:
    """The folder of its module; none if there is no such module."""
    try:
        return (folder_of(each.value),)
    except ExtensionError as error:
        skip(each, f"{error}")
        return ()


@cache
def _registered(group: str) -> Mapping[str, Registered]:
    # Another release's environment does not have them.
    search_also(folders_of_extensions())
    by_name: dict[str, Registered] = {}
    twice: set[str] = set()
    for each in sorted(_read(group), key=lambda each: (each.name, each.distribution)):
        if not is_own(each.value):
            skip(each, f"{each.value!r} is not of the form module:object")
            continue
        other = by_name.setdefault(each.name, each)
        if other != each:
            # Which of them is meant, nobody said.
            twice.add(each.name)
            skip(each, f"{other.distribution} has one of that name too")
    return {name: each for name, each in by_name.items() if name not in twice}


def _read(group: str) -> Iterator[Registered]:
    for each in metadata.entry_points(group=group):
        about = each.dist
        owner = "an unnamed package" if about is None else f"{about.name} {about.version}"
        yield Registered(group, each.name, each.value.partition("[")[0].strip(), owner)
