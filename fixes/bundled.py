"""Every fix, and what puts them on; ``relaxcheck.fixes`` has these names for its users."""

from collections.abc import Collection
from typing import Any

from relaxcheck.extensions.entry_points import FIXES, require
from relaxcheck.fixes import frontends, lowerings, passes, shapes
from relaxcheck.fixes.bucketing.bucketed import Bucketed, bucketed
from relaxcheck.fixes.framework.discovery import discovered
from relaxcheck.fixes.framework.fix import Fix
from relaxcheck.fixes.framework.installation import Installation, chosen, installed, uninstall
from relaxcheck.fixes.framework.installation import assume_needed as _assume_needed
from relaxcheck.fixes.framework.installation import install as _install
from relaxcheck.fixes.framework.installation import legalize_map as _legalize_map
from relaxcheck.fixes.framework.passes import lowered_pipeline as _lowered_pipeline
from relaxcheck.fixes.framework.passes import pipeline as _pipeline
from relaxcheck.fixes.frontends.torch_rnn.exporting import exporting_recurrences
from relaxcheck.fixes.frontends.torch_rnn.importing import CONVERTERS as RECURRENCES
from relaxcheck.fixes.tvm_api import Legalization

ALL = discovered((lowerings, passes, shapes, frontends))
"""Every fix, in the order in which they are put on and in which their passes run.

The order of passes matters: shapes are completed before requirements on them are checked; the
symbols of derived dimensions are solved last, since their definitions must precede every use.
"""


def install(names: Collection[str] | None = None) -> Installation:
    """Put on every fix that the running TVM needs, or those of ``names`` alone.

    Does nothing if fixes are on already. In a ``with`` statement, the end of the block takes off
    what this call put on. The logger "relaxcheck.fixes" reports each fix at level INFO.

    Raises:
        ValueError: there is no fix of such a name.
        ExtensionError: of all fixes, one of an installed package cannot be used.
    """
    if names is None:
        require(FIXES)
        return _install(ALL)
    if unknown := sorted(set(names) - {fix.name for fix in ALL}):
        raise ValueError(f"no fix {unknown[0]!r}; there are {', '.join(fix.name for fix in ALL)}")
    return _install(fix for fix in ALL if fix.name in names)


def assume_needed(names: Collection[str]) -> None:
    """Take ``names`` as those of all needed fixes, which another process with this TVM probed."""
    _assume_needed(ALL, names)


def legalize_map() -> dict[str, Legalization]:
    """The lowering of each covered operator, by operator name."""
    return _legalize_map(ALL)


def pipeline(target: Any | None = None) -> Any:
    """The value for ``relax_pipeline`` of ``relax.build``: the fixes' passes within TVM's own.

    TVM's own is the default pipeline for ``target``, a CPU, which fuses; without a target, that of
    ``relax.build``, which does not. Fixes that are not passes are put on by ``install()`` alone.

    Raises:
        ValueError: ``target`` is not a CPU.
    """
    return _pipeline(chosen(ALL), target)


def lowered_pipeline() -> Any:
    """The fixes' passes on lowered functions alone, to run before ``tvm.compile``.

    ``pipeline`` includes them where a whole program is compiled.
    """
    return _lowered_pipeline(chosen(ALL))


__all__ = [
    "ALL",
    "RECURRENCES",
    "Bucketed",
    "Fix",
    "Installation",
    "assume_needed",
    "bucketed",
    "exporting_recurrences",
    "install",
    "installed",
    "legalize_map",
    "lowered_pipeline",
    "pipeline",
    "uninstall",
]
