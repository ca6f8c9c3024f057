"""The way to compile the module that an importer makes, by its case."""

from relaxcheck.generators.core.case import target_of
from relaxcheck.generators.core.compiled import CompiledCase
from relaxcheck.generators.targets import TARGETS
from relaxcheck.harness.compiling.building import Recipe
from relaxcheck.harness.compiling.pipelines import pipeline_of
from relaxcheck.harness.native.link import can_link


def recipe(case: CompiledCase) -> Recipe:
    """The way to compile the imported module of ``case``.

    Kernels are scheduled by the target's own pipeline, whatever that of the case is.
    """
    pipeline = pipeline_of(case.pipeline)
    name = target_of(case)
    return Recipe(
        case.opt_level,
        fused=pipeline.relax_pipeline == "target" or TARGETS[name].kernels,
        with_fixes=case.fixes and pipeline.passes_of_fixes,
        kind=name,
        own=pipeline.own,
    )


def can_link_late(case: CompiledCase) -> bool:
    """True if ``case`` may take part in late linking: at level 0, where it has no kernels.

    A pipeline of a user's own may look for functions by their names, which late linking changes.
    """
    if pipeline_of(case.pipeline).own:
        return False
    return case.opt_level == 0 and not TARGETS[target_of(case)].kernels and can_link()
