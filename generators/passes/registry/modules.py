"""Passes that make, merge and specialise functions."""

from relaxcheck.generators.graphs.whole.structure import LOCAL_FUNCTION, UNUSED_PARAMETER
from relaxcheck.generators.passes.record import Option, Pass
from relaxcheck.generators.passes.registry.layouts import CHAINS

_MADE_AGAIN = "it groups the calls of groups"

PASSES = (
    Pass(
        name="LegalizeOps",
        meaning="Replace calls of operators by calls of TIR functions.",
    ),
    Pass(
        name="AnnotateTIROpPattern",
        meaning="Mark each TIR function by the way in which it may be fused.",
        after=("LegalizeOps",),
        owns=("op_pattern",),
    ),
    Pass(
        name="AllocateWorkspace",
        meaning="Allocate the workspaces of external functions.",
        idle="only code generators of libraries for GPUs make functions with a workspace",
    ),
    Pass(
        name="AttachExternModules",
        meaning="Attach external modules; none is given.",
        idle="it adds what was compiled elsewhere to a module that it leaves as it is",
    ),
    Pass(
        name="BindParams",
        meaning="Bind parameters to constants.",
        binds_constants=True,
        constants=True,
        differs_again="the parameters are gone",
    ),
    Pass(
        name="BindSymbolicVars",
        meaning="Bind symbolic variables to sizes.",
        one_binding=True,
        differs_again="the variables are gone",
    ),
    Pass(
        name="ExpandTupleArguments",
        meaning="Pass the members of tuples to private functions one by one.",
        functions=True,
        structure="tuple of arguments",
        canonicalizes=True,
    ),
    Pass(
        name="FuseOps",
        meaning="Group calls of TIR functions that may be fused.",
        options=(Option("fuse_opt_level", (-1, 0, 1, 2)),),
        after=("LegalizeOps", "AnnotateTIROpPattern"),
        differs_again=_MADE_AGAIN,
    ),
    Pass(
        name="FuseOpsByPattern",
        meaning="Group calls of operators that match a pattern.",
        options=(
            Option("pattern", tuple(CHAINS)),
            Option("bind_constants", (True, False)),
            Option("annotate_codegen", (False,)),
        ),
        differs_again=_MADE_AGAIN,
    ),
    Pass(
        name="FuseTIR",
        meaning="Make one TIR function of each group of calls.",
        after=("LegalizeOps", "AnnotateTIROpPattern", "FuseOps"),
    ),
    Pass(
        name="InlinePrivateFunctions",
        meaning="Inline private functions that are called once or are small.",
        functions=True,
    ),
    Pass(
        name="LambdaLift",
        meaning="Lift local functions to the module.",
        functions=True,
        structure=LOCAL_FUNCTION,
    ),
    Pass(
        name="NormalizeGlobalVar",
        meaning="Give functions names that are unique, public functions their symbols.",
        after=("prepare.other_names",),
        owns=("global_symbol",),
    ),
    Pass(
        name="RealizeVDevice",
        meaning="Propagate virtual devices.",
        after=("prepare.device_hints",),
    ),
    Pass(
        name="RemoveUnusedOutputs",
        meaning="Drop results of private functions that no caller uses.",
        functions=True,
        canonicalizes=True,
    ),
    Pass(
        name="RemoveUnusedParameters",
        meaning="Drop parameters of private functions that these do not use.",
        functions=True,
        structure=UNUSED_PARAMETER,
    ),
    Pass(
        name="RunCodegen",
        meaning="Generate code of functions for external libraries; no program has any.",
        idle="TVM's packages for a CPU have no code generator of a library",
    ),
    Pass(
        name="SpecializePrimFuncBasedOnCallSite",
        meaning="Specialise TIR functions to the memory of their callers' operands.",
        idle="a CPU has one memory, without scopes",
        after=("LegalizeOps",),
    ),
)
