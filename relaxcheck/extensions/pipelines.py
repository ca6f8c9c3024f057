"""Pass pipelines of a user's own, and which of them this process and its workers may import.

A case names its pipeline, ``package:function``, and may come from anywhere. So a name alone imports
nothing: the user has to ``allow`` it, or an installed package to register it. Workers know from
their environment what was allowed in the engine.
"""

import os
from collections.abc import Iterable
from functools import cache
from typing import Any

from relaxcheck.extensions import entry_points
from relaxcheck.extensions.naming import (
    FOLDERS_VARIABLE,
    ExtensionError,
    folder_of,
    folders_of_extensions,
    imported,
    is_own,
    search_also,
)

NAMES_VARIABLE = "RELAXCHECK_PIPELINES"
"""The environment variable that has the names that were allowed."""


def named(name: str) -> str:
    """The pipeline that a user calls ``name``: an entry point's name stands for its function.

    Raises:
        ExtensionError: the entry point of that name cannot be used.
    """
    registered = entry_points.registered(entry_points.PIPELINES).get(name)
    if registered is None:
        entry_points.require(entry_points.PIPELINES, names=(name,))
    return name if registered is None else registered.value


def chosen() -> tuple[str, ...]:
    """The names of the pipelines of the user's own that were allowed, in the order of that."""
    return tuple(filter(None, os.environ.get(NAMES_VARIABLE, "").split(",")))


def allow(names: Iterable[str]) -> None:
    """Allow this process and its children to import ``names``, which the user gave.

    Raises:
        ExtensionError: there is no module of that name.
    """
    for name in names:
        folders = dict.fromkeys([*folders_of_extensions(), str(folder_of(name))])
        os.environ[FOLDERS_VARIABLE] = os.pathsep.join(folders)
        os.environ[NAMES_VARIABLE] = ",".join(dict.fromkeys([*chosen(), name]))


def refusal(name: str) -> str:
    """The reason not to import the pipeline ``name``, in one line; "" if it may be imported."""
    registered = entry_points.registered(entry_points.PIPELINES).values()
    if name in chosen() or any(each.value == name for each in registered):
        return ""
    return (
        f"the case is compiled by {name}, code that is not TVM's and that a case file alone may "
        f"not have run; if it is yours, name it: --pipeline {name}"
    )


def check_allowed(name: str) -> None:
    """Check that the pipeline ``name``, if it is a user's own, may be imported.

    Raises:
        ExtensionError: nobody allowed it.
    """
    if is_own(name) and (reason := refusal(name)):
        raise ExtensionError(reason)


@cache
def function(name: str) -> Any:
    """The function ``name``, imported.

    Raises:
        ExtensionError: nobody allowed it, it cannot be imported, or it is no function.
    """
    check_allowed(name)
    search_also(folders_of_extensions())
    made = imported(name, f"pipeline {name}")
    if not callable(made):
        raise ExtensionError(f"pipeline {name}: it is a {type(made).__name__}, not a function")
    return made
