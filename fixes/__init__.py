"""Fixes for the faults of the running TVM release, from Python; ``uninstall()`` undoes each.

``install()`` puts on every fix that the running TVM needs, for the whole process::

    from relaxcheck import fixes

    fixes.install()            # until fixes.uninstall()
    with fixes.install():      # or until the end of the block
        ...

``legalize_map()`` returns the lowerings alone, for ``LegalizeOps(customize_legalize_map=...)``.
Fixes that need the whole program are passes, which ``pipeline(target)`` includes::

    relax.build(module, target, relax_pipeline=fixes.pipeline(target))

``exporting_recurrences()`` and ``RECURRENCES`` bring PyTorch's recurrent modules, of any sequence
length, to the importer (``frontends/torch_rnn``).

Each fix is one file in ``lowerings``, ``passes``, ``shapes`` or ``frontends``. They import Relax,
and are imported by the first use of one of these names: ``sym_api`` does without Relax.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relaxcheck.fixes.bundled import (
        ALL,
        RECURRENCES,
        Bucketed,
        Fix,
        Installation,
        assume_needed,
        bucketed,
        exporting_recurrences,
        install,
        installed,
        legalize_map,
        lowered_pipeline,
        pipeline,
        uninstall,
    )

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


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.bundled"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
