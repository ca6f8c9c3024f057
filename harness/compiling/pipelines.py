"""The pass pipelines that a case can name. To add one, add an entry; the steps are in ``compile``.

``before`` are the steps run on the module before ``relax.build``; ``relax_pipeline`` is what
``relax.build`` is then given: ``"default"`` as its own default, ``"target"`` for
``relax.get_default_pipeline(target)``, ``"own"`` for what the function ``own`` of a user's returns.
"""

from dataclasses import dataclass
from typing import Literal

from relaxcheck.extensions.naming import is_own
from relaxcheck.generators.core.case import CaseError
from relaxcheck.generators.core.gradients import gradients
from relaxcheck.generators.core.program import Case, Program
from relaxcheck.generators.passes.calls import mixed_precision, passes_of

GRADIENTS = "Gradient"
"""The step that differentiates a program that returns gradients, before all others."""

_BINDS = "BindParams"
_BOUND = "parameters bound, "


@dataclass(frozen=True, slots=True)
class Pipeline:
    """A way to compile. ``mixed_precision``: it computes float32 parts in float16 on purpose.

    ``passes_of_fixes``: with the fixes on their passes are in it (``fixes.pipeline``).
    """

    description: str
    before: tuple[str, ...] = ()
    relax_pipeline: Literal["default", "target", "own"] = "default"
    constants_as_parameters: bool = False
    mixed_precision: bool = False
    passes_of_fixes: bool = False
    own: str = ""


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
        "relax.get_default_pipeline(target), memory planned for the largest sizes that are run; "
        "with the fixes, theirs for it",
        before=("UpperBounds",),
        relax_pipeline="target",
        passes_of_fixes=True,
    ),
    "fixes-folded": Pipeline(
        "parameters bound, FoldConstant before anything is lowered, then relax.build; with the "
        "fixes, their pipeline",
        before=("BindParams", "FoldConstant"),
        constants_as_parameters=True,
        passes_of_fixes=True,
    ),
}


def pipeline_of(name: str) -> Pipeline:
    """The pipeline called ``name``: one of ``PIPELINES``, or ``package:function`` of a user's own.

    Nothing of the user's is imported.

    Raises:
        KeyError: it is neither.
    """
    if is_own(name):
        return Pipeline(f"the pipeline {name}", relax_pipeline="own", own=name)
    return PIPELINES[name]


def is_mixed(case: Case) -> bool:
    """True if the pipeline or a pass of ``case`` computes float32 parts in float16 on purpose."""
    return pipeline_of(case.pipeline).mixed_precision or mixed_precision(case)


def steps_before(name: str, program: Program) -> tuple[str, ...]:
    """The steps of the pipeline ``name`` before ``relax.build`` that do something to ``program``.

    Where it has no constants, there is nothing to bind. Gradients are made first.
    """
    bound = any(tensor.constant for tensor in program.inputs)
    own = tuple(step for step in pipeline_of(name).before if bound or step != _BINDS)
    return (GRADIENTS, *own) if gradients(program) else own


def steps_of(case: Case) -> tuple[str, ...]:
    """The passes of ``case`` and the steps of its pipeline before ``relax.build``, by name."""
    return (*(call.name for call in passes_of(case)), *steps_before(case.pipeline, case.program))


def described(name: str, program: Program) -> str:
    """The way to compile ``program`` in words, as ``steps_before``, with the fixes off."""
    words = pipeline_of(name).description.partition("; with the fixes")[0]
    steps = steps_before(name, program)
    words = words if _BINDS in steps else words.removeprefix(_BOUND)
    return f"{GRADIENTS}, then {words}" if GRADIENTS in steps else words


def check_pipeline(name: str) -> None:
    """Check that ``name`` is one of ``PIPELINES``, or may be one of a user's own.

    Raises:
        CaseError: it is neither.
    """
    if name not in PIPELINES and not is_own(name):
        raise CaseError(f"pipeline {name!r} is unknown; known are {', '.join(PIPELINES)}")
