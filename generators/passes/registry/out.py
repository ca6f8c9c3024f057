"""Names of ``relax.transform`` that no case applies."""

from relaxcheck.generators.passes.record import Out

_CLASS = "no pass: a class or decorator to make passes with"
_CALLERS = "changes how main is called, which the cases do not follow"
_TUNING = "tunes by measuring, or needs a database of tuned schedules"

OUT = (
    Out("DataflowBlockPass", _CLASS),
    Out("FunctionPass", _CLASS),
    Out("FusionPattern", "no pass: an argument of FuseOpsByPattern"),
    Out("PatternCheckContext", "no pass: an argument of the checks of FuseOpsByPattern"),
    Out("dataflowblock_pass", _CLASS),
    Out("function_pass", _CLASS),
    Out("BundleModelParams", _CALLERS),
    Out("LazyGetInput", _CALLERS),
    Out("LazySetOutput", _CALLERS),
    Out("LazyTransformParams", _CALLERS),
    Out("LiftTransformParams", _CALLERS),
    Out("UpdateParamType", _CALLERS),
    Out("UpdateParamStructInfo", "the name of UpdateParamType before 0.26: " + _CALLERS),
    Out("Gradient", "makes another function than main; the families gradient-* draw it"),
    Out("DecomposeOpsForTraining", "computes what training computes, which is another result"),
    Out("FastMathTransform", "computes approximations whose errors TVM does not state"),
    Out("IPCAllReduceRewrite", "rewrites collective calls of several GPUs"),
    Out(
        "MergeCompositeFunctions",
        "merges calls for a code generator of a library",
    ),
    Out("MetaScheduleApplyDatabase", _TUNING),
    Out("MetaScheduleTuneIRMod", _TUNING),
    Out("MetaScheduleTuneTIR", _TUNING),
    Out("SplitCallTIRByPattern", "splits functions for the code generator of a library"),
    Out("VMBuiltinLower", "the name of LowerRuntimeBuiltin before 0.25"),
    Out("UpdateVDevice", "needs a module with virtual devices, which no program has"),
)
