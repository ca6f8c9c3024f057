"""A planted bug: the edit of a source text, as a bad commit would make it, and what it should give.

The edit is made while the module is imported, in the process that has the bug; no file changes.
"""

import importlib
import importlib.machinery
import importlib.util
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.abc import MetaPathFinder
from pathlib import Path
from types import CodeType, ModuleType

from relaxcheck.harness.outcomes.outcome import Verdict


class PlantError(Exception):
    """An edit cannot be made: the text that it replaces is not there once."""


@dataclass(frozen=True, slots=True)
class Edit:
    """In the source of ``module``, ``old``, which stands there once, becomes ``new``."""

    module: str
    old: str
    new: str

    def made(self, source: str) -> str:
        """``source`` with this edit.

        Raises:
            PlantError: ``old`` stands in ``source`` never, or more than once.
        """
        count = source.count(self.old)
        if count != 1:
            raise PlantError(f"{self.module}: {self.old!r} stands there {count} times, not once")
        return source.replace(self.old, self.new)


@dataclass(frozen=True, slots=True)
class Plant:
    """One planted bug.

    ``verdicts`` are those that are right for it, the usual one first. ``blame`` are the axes of
    which attribution should name at least one: ``dilation`` stands for that of every spatial axis,
    for a fault of an invalid program it is what the fault is called. Where every case fails
    ``blame`` is empty, and attribution should name nothing. ``seconds`` is the deadline of a case.
    ``operators`` are those whose families the hunt draws from; where there are none, it draws from
    attention and transposed convolution, the families that plants without operators are in.
    ``gradient``: it is in the gradients of its operators, and so are these families.
    """

    name: str
    description: str
    verdicts: tuple[Verdict, ...]
    blame: tuple[str, ...]
    edits: tuple[Edit, ...]
    seconds: float = 60.0
    operators: tuple[str, ...] = ()
    gradient: bool = False

    @property
    def where(self) -> str:
        """The modules that are edited."""
        return ", ".join(dict.fromkeys(edit.module for edit in self.edits))

    def is_blamed(self, blamed: Mapping[str, str]) -> bool:
        """True if the attribution ``blamed``, axis to value, names an expected axis."""
        if not self.blame:
            return not blamed
        return any(
            axis == wanted or axis.startswith(f"{wanted}.")
            for axis in blamed
            for wanted in self.blame
        )


def one_edit(
    name: str,
    description: str,
    verdicts: tuple[Verdict, ...],
    blame: tuple[str, ...],
    module: str,
    old: str,
    new: str,
    operators: tuple[str, ...] = (),
) -> Plant:
    """The plant that one edit of one module makes."""
    edits = (Edit(module, old, new),)
    return Plant(name, description, verdicts, blame, edits, operators=operators)


class _Loader(importlib.machinery.SourceFileLoader):
    """Loads a module from its source with ``edits`` made in it."""

    def __init__(self, name: str, path: str, edits: Sequence[Edit]) -> None:
        super().__init__(name, path)
        self.edits = edits

    def get_code(self, fullname: str) -> CodeType:
        """The code of the edited source; never that of a cache."""
        return compile(edited(Path(self.path), self.edits), self.path, "exec", dont_inherit=True)


class _Finder(MetaPathFinder):
    """Finds the modules that are edited before anything else finds them."""

    def __init__(self, edits: Mapping[str, Sequence[Edit]]) -> None:
        self.edits = edits

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """The specification of an edited module, or None for all others."""
        if fullname not in self.edits:
            return None
        spec = importlib.machinery.PathFinder.find_spec(fullname, path)
        if spec is None or spec.origin is None:
            return None
        loader = _Loader(fullname, spec.origin, self.edits[fullname])
        return importlib.util.spec_from_file_location(
            fullname,
            spec.origin,
            loader=loader,
            submodule_search_locations=spec.submodule_search_locations,
        )


def edited(path: Path, edits: Sequence[Edit]) -> str:
    """The source in the file ``path`` with ``edits`` made in it, one after the other.

    Raises:
        PlantError: an edit cannot be made.
    """
    source = path.read_text(encoding="utf-8")
    for edit in edits:
        source = edit.made(source)
    return source


def by_module(plants: Sequence[Plant]) -> dict[str, list[Edit]]:
    """The edits of all ``plants``, by the module that they are made in."""
    edits: dict[str, list[Edit]] = {}
    for plant in plants:
        for edit in plant.edits:
            edits.setdefault(edit.module, []).append(edit)
    return edits


def sow(plants: Sequence[Plant]) -> None:
    """Have every import from now on give the modules with the edits of ``plants``.

    Raises:
        PlantError: a module to be edited has been imported before.
    """
    edits = by_module(plants)
    early = [module for module in edits if module in sys.modules]
    if early:
        raise PlantError(f"imported before they could be edited: {', '.join(early)}")
    sys.meta_path.insert(0, _Finder(edits))


def source_of(module: str) -> Path:
    """The file of ``module``, found without importing any of its packages' contents.

    Raises:
        PlantError: there is none.
    """
    root, *parts = module.split(".")
    spec = importlib.util.find_spec(root)
    for place in (spec.submodule_search_locations or ()) if spec is not None else ():
        base = Path(place).joinpath(*parts)
        for path in (base.with_suffix(".py"), base / "__init__.py"):
            if path.is_file():
                return path
    raise PlantError(f"there is no source of {module}")
