"""Fragments: patterns that Relax's passes look for, by name, and those that each pass looks for.

A fragment fills a draft as a template does, and may be appended to a graph. It comes whole, or
with one thing off that the pattern must not match (``fragment.Fragment``).
"""

from collections.abc import Mapping

from relaxcheck.generators.graphs.fragments import blocks, matmuls, movement, sharing
from relaxcheck.generators.graphs.fragments.fragment import Fragment as Fragment

FRAGMENTS: Mapping[str, Fragment] = {
    "late": sharing.late,
    "in place": sharing.in_place,
    "common": sharing.common,
    "common tuples": sharing.common_tuples,
    "dead": sharing.dead,
    "constants": sharing.constants,
    "weights": sharing.weights,
    "match_cast": sharing.cast_shapes,
    "parallel matmul": matmuls.parallel,
    "matmul chain": matmuls.chain,
    "low rank": matmuls.low_rank,
    "matmul of sum": matmuls.of_sum,
    "transpose matmul": matmuls.transposed,
    "take matmul": matmuls.taken,
    "qkv": matmuls.qkv,
    "attention": blocks.attention,
    "softmax": blocks.softmax,
    "layer norm": blocks.layer_norm,
    "rms norm": blocks.rms_norm,
    "gelu": blocks.gelu,
    "conv block": blocks.conv_block,
    "conv norm": blocks.conv_norm,
    "residual": blocks.residual,
    "chains": blocks.chained,
    "concat permuted": movement.concat_permuted,
    "redundant reshape": movement.redundant_reshape,
    "dataflow reshape": movement.dataflow_reshape,
    "permuted back": movement.permuted_back,
    "layouts": movement.layouts,
    "layout chain": movement.layout_chain,
    "quantized": movement.quantized,
    "casts": movement.casts,
}
"""Fragments by name, the simplest first."""

_FUSED = (
    *("conv block", "softmax", "gelu", "residual", "layer norm", "match_cast", "common tuples"),
    *("qkv", "dead", "in place"),
)
_KEPT = ("late", "in place", "redundant reshape", "dataflow reshape", "common tuples", "residual")

PASSES: Mapping[str, tuple[str, ...]] = {
    "AdjustMatmulOrder": ("matmul chain", "low rank"),
    "AllocateWorkspace": ("attention",),
    "AlterOpImpl": ("layouts", "conv block", "residual"),
    "BindParams": ("weights", "constants"),
    "CallTIRRewrite": _KEPT,
    "CanonicalizeBindings": ("match_cast", "dead", "common tuples", "late", "redundant reshape"),
    "CombineParallelMatmul": ("parallel matmul",),
    "ConvertLayout": ("layout chain", "conv block", "conv norm"),
    "ConvertToDataflow": ("late", "common", "match_cast"),
    "DataflowUseInplaceCalls": ("in place", "late", "residual", "common tuples"),
    "DeadCodeElimination": ("dead",),
    "DecomposeOpsForInference": ("conv norm", "layer norm"),
    "DecomposeOpsForTraining": ("conv norm",),
    "EliminateCommonSubexpr": ("common", "common tuples"),
    "ExpandMatmulOfSum": ("matmul of sum",),
    "FastMathTransform": ("softmax", "gelu", "attention"),
    "FoldBatchnormToConv2D": ("conv norm",),
    "FoldConstant": ("constants", "weights", "quantized", "dead"),
    "FuseOps": _FUSED,
    "FuseOpsByPattern": ("chains",),
    "FuseTIR": _FUSED,
    "FuseTransposeMatmul": ("transpose matmul", "attention"),
    "Gradient": ("residual", "softmax", "layer norm", "matmul chain"),
    "KillAfterLastUse": _KEPT,
    "LazyTransformParams": ("weights", "constants"),
    "LegalizeOps": _FUSED,
    "LiftTransformParams": ("weights", "constants"),
    "Normalize": ("match_cast", "common tuples"),
    "NormalizeGlobalVar": ("late",),
    "OptimizeLayoutTransform": ("layouts",),
    "RemoveRedundantReshape": ("redundant reshape", "dataflow reshape"),
    "RemovePurityChecking": ("late", "dead"),
    "RemoveUnusedOutputs": ("common tuples", "dead", "qkv"),
    "RemoveUnusedParameters": ("dead", "constants"),
    "ReorderPermuteDimsAfterConcat": ("concat permuted",),
    "ReorderTakeAfterMatmul": ("take matmul",),
    "RewriteDataflowReshape": ("dataflow reshape", "redundant reshape"),
    "SplitCallTIRByPattern": ("conv block", "parallel matmul"),
    "SplitLayoutRewritePreproc": ("layouts", "weights"),
    "StaticPlanBlockMemory": _KEPT,
    "ToMixedPrecision": ("conv block", "attention", "rms norm", "casts", "parallel matmul"),
    "ToNonDataflow": ("late", "common tuples"),
    "TopologicalSort": ("late", "common", "residual"),
    "UpdateVDevice": ("late",),
}
"""By pass of ``relax.transform`` the fragments that it looks for, or that it may break."""
