"""Passes that lower a module for the virtual machine, in the order of the default pipeline."""

from relaxcheck.generators.passes.record import Option, Pass

_ORDER = (
    "LegalizeOps",
    "RewriteDataflowReshape",
    "ToNonDataflow",
    "RemovePurityChecking",
    "CallTIRRewrite",
    "StaticPlanBlockMemory",
    "RewriteCUDAGraph",
    "LowerAllocTensor",
    "KillAfterLastUse",
    "LowerRuntimeBuiltin",
    "ComputePrimValue",
    "VMShapeLower",
    "AttachGlobalSymbol",
)
"""The passes of TVM's default pipeline for a CPU that make what the later ones take."""


def _before(name: str) -> tuple[str, ...]:
    return _ORDER[: _ORDER.index(name)]


_ERASED = "the virtual machine's types are those of objects"

PASSES = (
    Pass(
        name="RewriteDataflowReshape",
        meaning="Make reshapes views of their operands.",
        after=_before("RewriteDataflowReshape"),
    ),
    Pass(
        name="ToNonDataflow",
        meaning="Make all bindings those of ordinary blocks.",
    ),
    Pass(
        name="RemovePurityChecking",
        meaning="Leave functions' purity unchecked.",
        after=_before("RemovePurityChecking"),
        lowers=True,
        owns=("relax.force_pure",),
    ),
    Pass(
        name="CallTIRRewrite",
        meaning="Allocate the results of calls of TIR functions.",
        after=_before("CallTIRRewrite"),
        lowers=True,
    ),
    Pass(
        name="StaticPlanBlockMemory",
        meaning="Plan which tensors share memory.",
        after=_before("StaticPlanBlockMemory"),
        lowers=True,
    ),
    Pass(
        name="RewriteCUDAGraph",
        meaning="Capture graphs of CUDA; on a CPU it does nothing.",
        idle="without an option for CUDA it returns what it takes, with it a program needs CUDA",
        after=_before("RewriteCUDAGraph"),
        lowers=True,
    ),
    Pass(
        name="LowerAllocTensor",
        meaning="Allocate storage, and tensors in it.",
        after=_before("LowerAllocTensor"),
        lowers=True,
    ),
    Pass(
        name="LowerGPUIPCAllocStorage",
        meaning="Lower the allocation of memory that GPUs share; on a CPU it does nothing.",
        idle="no program allocates memory that GPUs share",
        after=_before("KillAfterLastUse"),
        lowers=True,
    ),
    Pass(
        name="KillAfterLastUse",
        meaning="Free tensors and storage after their last use.",
        after=_before("KillAfterLastUse"),
        lowers=True,
    ),
    Pass(
        name="LowerRuntimeBuiltin",
        meaning="Lower operators of the runtime to functions of the virtual machine.",
        after=_before("LowerRuntimeBuiltin"),
        lowers=True,
        widens=_ERASED,
    ),
    Pass(
        name="ComputePrimValue",
        meaning="Compute scalars in TIR functions.",
        after=(*_before("ComputePrimValue"), "prepare.compared_sizes"),
        lowers=True,
        widens=_ERASED,
    ),
    Pass(
        name="VMShapeLower",
        meaning="Compute sizes on a heap of the virtual machine, and check them.",
        options=(Option("emit_err_ctx", (True, False)),),
        after=_before("VMShapeLower"),
        lowers=True,
        differs_again="each application makes a heap of its own",
        widens=_ERASED,
    ),
    Pass(
        name="AttachGlobalSymbol",
        meaning="Give public functions their symbols.",
        after=_before("AttachGlobalSymbol"),
        lowers=True,
        widens=_ERASED,
        owns=("global_symbol",),
    ),
)
