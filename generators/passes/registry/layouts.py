"""Passes that rewrite operators: other operators, layouts and dtypes."""

from relaxcheck.generators.passes.record import Option, Pass

CHAINS = {
    "multiply-add": (("multiply", 2), ("add", 2)),
    "relu": (("nn.relu", 1),),
    "matmul-add": (("matmul", 2), ("add", 2)),
    "conv2d-relu": (("nn.conv2d", 2), ("nn.relu", 1)),
    "exp-add": (("exp", 1), ("add", 2)),
}
"""Patterns for passes that take some, by name: a chain of operators with their operands' count.

Each takes the result of the one before it as its first operand.
"""

ALTERED = "altered"
"""The attribute of the functions that AlterOpImpl puts in the place of others: copies of these."""

PASSES = (
    Pass(
        name="AdjustMatmulOrder",
        meaning="Order chains of products by the cost of either order.",
        differs_again="it compares further orders",
    ),
    Pass(
        name="AlterOpImpl",
        meaning="Replace implementations of operators: each by the same with an attribute more.",
        after=("LegalizeOps", "prepare.named_operators"),
        differs_again="it replaces what replaced the first",
    ),
    Pass(
        name="CombineParallelMatmul",
        meaning="Compute products of one operand with several others as one product.",
    ),
    Pass(
        name="ConvertLayout",
        meaning="Compute operators in other layouts: channels last.",
    ),
    Pass(
        name="DecomposeOpsForInference",
        meaning="Write composite operators out, as inference computes them.",
    ),
    Pass(name="ExpandMatmulOfSum", meaning="Distribute a product over a sum of its operand."),
    Pass(
        name="FoldBatchnormToConv2D",
        meaning="Fold a batch normalization into the convolution before it.",
        constants=True,
        differs_again="it finds further pairs",
    ),
    Pass(name="OptimizeLayoutTransform", meaning="Drop layout transformations that cancel."),
    Pass(name="RemoveRedundantReshape", meaning="Drop reshapes that change nothing."),
    Pass(
        name="ReorderPermuteDimsAfterConcat",
        meaning="Transpose a concatenation once in place of each of its members.",
    ),
    Pass(
        name="ReorderTakeAfterMatmul",
        meaning="Take rows of a product in place of rows of its operand.",
    ),
    Pass(
        name="SplitLayoutRewritePreproc",
        meaning="Split layout rewriting off functions that are marked for it.",
        idle="only MetaSchedule marks functions; without such it drops dead code alone",
        after=("LegalizeOps",),
    ),
    Pass(
        name="AttachAttrLayoutFreeBuffers",
        meaning="Mark operands of functions whose layout may change.",
        after=("LegalizeOps",),
        owns=("layout_free_buffers",),
    ),
    Pass(
        name="ToMixedPrecision",
        meaning="Compute float32 parts in float16.",
        options=(Option("out_dtype", ("float32", "float16")),),
        dtypes=("float32",),
        mixed_precision=True,
        differs_again="it casts results of casts",
    ),
    Pass(
        name="FuseTransposeMatmul",
        meaning="Fuse a transposition into the product that it is for.",
        differs_again="it fuses what is left",
    ),
)
