"""The passes of Relax as data: how each is made, applied and held to its meaning."""

from relaxcheck.generators.passes.record import Out, Pass
from relaxcheck.generators.passes.registry import dataflow, layouts, lowering, modules, published
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

OUT: dict[str, Out] = {each.name: each for each in _OUT}
"""The names of ``relax.transform`` that no case applies, each with the reason."""


def known(name: str) -> Pass:
    """The record of the pass or published pipeline ``name``.

    Raises:
        KeyError: there is none.
    """
    return PASSES[name] if name in PASSES else PUBLISHED[name]
