"""The pipelines that TVM publishes: of ``relax.get_pipeline``, and parts of a target's."""

from relaxcheck.generators.passes.record import Pass

_PASSES = "its passes find more to do"
_ERASED = "the virtual machine's types are those of objects"
_SYMBOLS = ("op_pattern", "global_symbol", "relax.force_pure")

PIPELINES = (
    Pass(
        name="pipeline.zero",
        meaning="Legalize, fold constants and fuse.",
        differs_again=_PASSES,
        owns=_SYMBOLS,
    ),
    Pass(
        name="pipeline.default",
        meaning="The pipeline of relax.build.",
        lowers=True,
        differs_again="it lowers for the virtual machine",
        widens=_ERASED,
        owns=_SYMBOLS,
    ),
    Pass(
        name="pipeline.default_build",
        meaning="The same by its other name.",
        lowers=True,
        differs_again="it lowers for the virtual machine",
        widens=_ERASED,
        owns=_SYMBOLS,
    ),
    Pass(
        name="target.library_dispatch_passes",
        meaning="Hand calls to libraries of the target; a CPU has none.",
        differs_again=_PASSES,
    ),
    Pass(
        name="target.legalize_passes",
        meaning="Legalize and fuse for the target.",
        differs_again=_PASSES,
        owns=_SYMBOLS,
    ),
    Pass(
        name="target.dataflow_lower_passes",
        meaning="Lower dataflow blocks and calls of TIR functions for the target.",
        after=("target.legalize_passes",),
        lowers=True,
        differs_again=_PASSES,
        owns=_SYMBOLS,
    ),
    Pass(
        name="target.finalize_passes",
        meaning="Plan memory and lower for the virtual machine.",
        after=("target.legalize_passes", "target.dataflow_lower_passes"),
        lowers=True,
        differs_again="it lowers for the virtual machine",
        widens=_ERASED,
        owns=_SYMBOLS,
    ),
)
