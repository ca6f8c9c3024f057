"""The pass pipelines that a case can name. To add one, add an entry; the steps are in ``compile``.

``before`` are the steps run on the module before ``relax.build``; ``relax_pipeline`` is what
``relax.build`` is then given: ``"default"`` as its own default, ``"target"`` for
``relax.get_default_pipeline(target)``.
"""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Pipeline:
    """A way to compile. ``mixed_precision``: it computes float32 parts in float16 on purpose.

    ``passes_of_fixes``: with the fixes on their passes are in it (``fixes.pipeline``).
    """

    description: str
    before: tuple[str, ...] = ()
    relax_pipeline: Literal["default", "target"] = "default"
    constants_as_parameters: bool = False
    mixed_precision: bool = False
    passes_of_fixes: bool = False


PIPELINES = {
    "build": Pipeline("relax.build as it is"),
    "default-pipeline": Pipeline(
        "relax.get_default_pipeline(target), which fuses", relax_pipeline="target"
    ),
    "legalize-first": Pipeline("LegalizeOps, then relax.build", before=("LegalizeOps",)),
    "mixed-precision": Pipeline(
        "ToMixedPrecision, then relax.build", before=("ToMixedPrecision",), mixed_precision=True
    ),
    "convert-layout": Pipeline(
        "ConvertLayout to channels-last, then relax.build", before=("ConvertLayout",)
    ),
    "fold-constants": Pipeline(
        "parameters bound, FoldConstant, then relax.build",
        before=("BindParams", "LegalizeOps", "FoldConstant"),
        constants_as_parameters=True,
    ),
    "fixes-build": Pipeline("relax.build; with the fixes, their pipeline", passes_of_fixes=True),
    "fixes-pipeline": Pipeline(
        "relax.get_default_pipeline(target), which fuses; with the fixes, theirs for it",
        relax_pipeline="target",
        passes_of_fixes=True,
    ),
    "fixes-bounded": Pipeline(
        "as fixes-pipeline, memory planned for the largest sizes that are run",
        before=("UpperBounds",),
        relax_pipeline="target",
        passes_of_fixes=True,
    ),
    "fixes-folded": Pipeline(
        "parameters bound, FoldConstant before anything is lowered, then as fixes-build",
        before=("BindParams", "FoldConstant"),
        constants_as_parameters=True,
        passes_of_fixes=True,
    ),
}
