"""Preparing a process that compiles for what extensions bring."""

from functools import cache

from relaxcheck.extensions import entry_points
from relaxcheck.extensions.naming import ExtensionError, described
from relaxcheck.extensions.pipelines import chosen, function


def prepare() -> None:
    """Register with TVM what installed packages bring; import the functions that the user named.

    Raises:
        ExtensionError: one cannot be imported, is no function, or raised.
    """
    for each in entry_points.registered(entry_points.REGISTRATIONS).values():
        _register(each)
    for name in chosen():
        function(name)


@cache
def _register(each: entry_points.Registered) -> None:
    """Call the function ``each``, once a process."""
    register = each.load()
    try:
        register()
    except Exception as error:
        raise ExtensionError(f"{each.title}: it raised {described(error)}") from error
