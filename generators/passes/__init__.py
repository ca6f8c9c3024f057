"""The passes of Relax as data: how each is made, applied and held to its meaning."""

from relaxcheck.generators.passes.record import Out, Pass
from relaxcheck.generators.passes.registry import (
    dataflow,
    layouts,
    lowering,
    modules,
    preparations,
    published,
)
from relaxcheck.generators.passes.registry.out import OUT as _OUT

_EVERY = (
    *dataflow.PASSES,
    *layouts.PASSES,
    *modules.PASSES,
    *lowering.PASSES,
)

PASSES: dict[str, Pass] = {record.name: record for record in _EVERY}
"""The passes of ``relax.transform`` that cases apply, by name."""

PUBLISHED: dict[str, Pass] = {record.name: record for record in published.PIPELINES}
"""The published pipelines, which a case applies as if each were one pass."""

PREPARATIONS: dict[str, Pass] = {record.name: record for record in preparations.PREPARATIONS}
"""Steps of ours that give a module what a pass looks for, by name."""

OUT: dict[str, Out] = {each.name: each for each in _OUT}
"""The names of ``relax.transform`` that no case applies, each with the reason."""


def known(name: str) -> Pass:
    """The record of the pass, published pipeline or preparation ``name``.

    Raises:
        KeyError: there is none.
    """
    if name in PREPARATIONS:
        return PREPARATIONS[name]
    return PASSES[name] if name in PASSES else PUBLISHED[name]
