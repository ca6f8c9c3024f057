"""Names of code of a user's own, ``package.module:function``, and their import."""

import hashlib
import importlib
import importlib.util
import os
import re
import sys
import traceback
from collections.abc import Iterable
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from typing import Any

_WORD = r"[A-Za-z_]\w{0,99}"
_OWN = re.compile(rf"{_WORD}(?:\.{_WORD}){{0,9}}:{_WORD}", re.ASCII)


FOLDERS_VARIABLE = "RELAXCHECK_EXTENSIONS_PATH"
"""The environment variable that has the folders to import extensions from, behind ``sys.path``."""


class ExtensionError(Exception):
    """An extension cannot be used; the message is one line that names it and says why."""


def is_own(name: object) -> bool:
    """True if ``name`` has the form ``package.module:function``."""
    return isinstance(name, str) and _OWN.fullmatch(name) is not None


def parts(name: str) -> tuple[str, str]:
    """The module and the attribute that ``name`` stands for."""
    module, _, attribute = name.partition(":")
    return module, attribute


def folder_of(name: str) -> Path:
    """The folder to import ``name`` from: one of ``sys.path``, or the working directory.

    Nothing is imported to find it.

    Raises:
        ExtensionError: there is no such module, or it is part of Python or built into it.
    """
    top = parts(name)[0].partition(".")[0]
    spec = _spec(top)
    if spec is None:
        raise ExtensionError(
            f"{name}: there is no module {top}, neither in {Path.cwd()} nor on Python's path; "
            "install it, or put its folder on PYTHONPATH"
        )
    if spec.submodule_search_locations:
        return Path(next(iter(spec.submodule_search_locations))).absolute().parent
    if not spec.has_location or spec.origin is None:
        raise ExtensionError(f"{name}: {top} is built into Python")
    return Path(spec.origin).absolute().parent


def _spec(top: str) -> ModuleSpec | None:
    try:
        found = importlib.util.find_spec(top)
    except ValueError:
        # A module such as __main__ has none.
        found = None
    return found or PathFinder.find_spec(top, [str(Path.cwd())])


def imported(name: str, title: str) -> Any:
    """The object that ``name`` stands for; ``title`` begins the message of an error.

    Raises:
        ExtensionError: its module cannot be imported, or has no such attribute.
    """
    module, attribute = parts(name)
    try:
        holder = importlib.import_module(module)
    # A module that ends the process is as unusable as one that raises.
    except (Exception, SystemExit) as error:
        raise ExtensionError(f"{title}: importing {module} raised {described(error)}") from error
    try:
        return getattr(holder, attribute)
    except AttributeError:
        where = getattr(holder, "__file__", None) or "that module"
        raise ExtensionError(f"{title}: {where} defines no {attribute}") from None


def described(error: BaseException) -> str:
    """``error`` in one line: its type, the first line of its message, its place."""
    words = " ".join(str(error).split())[:300]
    place = traceback.extract_tb(error.__traceback__)[-1:]
    where = f" ({Path(place[0].filename).name}, line {place[0].lineno})" if place else ""
    return f"{type(error).__name__}{f': {words}' if words else ''}{where}"


def digest(name: str) -> str:
    """A hash of the sources of the package or module that ``name`` is in.

    Raises:
        ExtensionError: there is none.
    """
    top = parts(name)[0].partition(".")[0]
    root = folder_of(name)
    files = sorted((root / top).rglob("*.py")) or [root / f"{top}.py"]
    whole = hashlib.sha256()
    for file in files:
        text = file.read_bytes() if file.is_file() else b""
        whole.update(f"{file.relative_to(root)} {len(text)}\n".encode() + text)
    return whole.hexdigest()[:16]


def folders_of_extensions() -> tuple[str, ...]:
    """The folders that extensions are imported from, beside Python's path."""
    return tuple(filter(None, os.environ.get(FOLDERS_VARIABLE, "").split(os.pathsep)))


def search_also(folders: Iterable[str]) -> None:
    """Have Python import from ``folders`` what it finds nowhere else."""
    sys.path += [folder for folder in folders if folder not in sys.path]
