"""Preparing a process that compiles for what extensions bring."""

from functools import cache

from relaxcheck.extensions import entry_points
from relaxcheck.extensions.naming import ExtensionError, described
from relaxcheck.extensions.pipelines import chosen, function


def prepare() -> None:
    """Register with TVM what installed packages bring; import the functions that the user named.

    A registration that cannot be imported, or raises, is recorded as broken.

    Raises:
        ExtensionError: a named function cannot be imported, or is none.
    """
    for each in entry_points.registered(entry_points.REGISTRATIONS).values():
        _register(each)
    for name in chosen():
        function(name)


@cache
def _register(each: entry_points.Registered) -> None:
    """Call the function ``each``, once a process."""
    try:
        register = each.load()
    except ExtensionError as error:
        entry_points.skip(each, error)
        return
    try:
        register()
    except Exception as error:
        entry_points.skip(each, f"it raised {described(error)}")
