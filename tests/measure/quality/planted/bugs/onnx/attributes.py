"""Plants in how the importer reads attributes."""

from relaxcheck.harness.outcomes.outcome import Verdict
from tests.measure.quality.planted.bugs.onnx.changes import (
    assumed,
    ignored,
    read_as,
    renamed,
    without_negative_axis,
)
from tests.measure.quality.planted.conversion import Misconversion

_SHAPE = (
    *(Verdict.WRONG_SHAPE, Verdict.WRONG_VALUE),
    *(Verdict.OPAQUE_CRASH, Verdict.UNSUPPORTED),
)
"""Verdicts on sizes that are off: what follows may not take them."""

PLANTS = (
    Misconversion(
        "onnx-conv-ignores-dilations",
        "Conv reads no dilations",
        "Conv",
        ignored("dilations"),
        _SHAPE,
    ),
    Misconversion(
        "onnx-conv-pads-the-other-end",
        "auto_pad of Conv puts the odd element of SAME_LOWER at the end",
        "Conv",
        read_as("auto_pad", renamed({"SAME_LOWER": "SAME_UPPER"})),
    ),
    Misconversion(
        "onnx-conv-transpose-ignores-output-padding",
        "ConvTranspose reads no output_padding",
        "ConvTranspose",
        ignored("output_padding"),
        _SHAPE,
    ),
    Misconversion(
        "onnx-average-pool-counts-no-padding",
        "AveragePool reads no count_include_pad",
        "AveragePool",
        ignored("count_include_pad"),
    ),
    Misconversion(
        "onnx-max-pool-ignores-the-storage-order",
        "the indices of MaxPool are those of rows, whatever storage_order says",
        "MaxPool",
        ignored("storage_order"),
    ),
    Misconversion(
        "onnx-lp-pool-is-of-order-two",
        "LpPool reads no p",
        "LpPool",
        ignored("p"),
    ),
    Misconversion(
        "onnx-gemm-ignores-alpha",
        "Gemm does not scale its product",
        "Gemm",
        ignored("alpha"),
    ),
    Misconversion(
        "onnx-softmax-flattens-nothing",
        "the default axis of Softmax is the last one in every opset",
        "Softmax",
        assumed(axis=-1),
    ),
    Misconversion(
        "onnx-cumsum-ignores-reverse",
        "CumSum sums from the front always",
        "CumSum",
        ignored("reverse"),
    ),
    Misconversion(
        "onnx-reduce-sum-ignores-noop",
        "ReduceSum without axes reduces all of them, whatever noop_with_empty_axes says",
        "ReduceSum",
        ignored("noop_with_empty_axes"),
        _SHAPE,
    ),
    Misconversion(
        "onnx-reduce-max-keeps-dimensions",
        "ReduceMax reads no keepdims",
        "ReduceMax",
        ignored("keepdims"),
        _SHAPE,
    ),
    Misconversion(
        "onnx-reduce-mean-counts-axes-from-the-wrong-end",
        "of a negative axis in the attribute of ReduceMean the sign is dropped",
        "ReduceMean",
        read_as("axes", lambda axes: [max(axis, -axis - 1) for axis in axes]),
        _SHAPE,
    ),
    Misconversion(
        "onnx-argmax-takes-the-first",
        "ArgMax reads no select_last_index",
        "ArgMax",
        ignored("select_last_index"),
    ),
    Misconversion(
        "onnx-topk-takes-the-largest",
        "TopK reads no largest",
        "TopK",
        ignored("largest"),
    ),
    Misconversion(
        "onnx-grid-sample-ignores-align-corners",
        "GridSample reads no align_corners",
        "GridSample",
        ignored("align_corners"),
    ),
    Misconversion(
        "onnx-resize-ignores-exclude-outside",
        "Resize reads no exclude_outside",
        "Resize",
        ignored("exclude_outside"),
    ),
    Misconversion(
        "onnx-resize-rounds-ties-up",
        "nearest_mode round_prefer_floor of Resize is round_prefer_ceil",
        "Resize",
        read_as("nearest_mode", renamed({"round_prefer_floor": "round_prefer_ceil"})),
    ),
    Misconversion(
        "onnx-depth-to-space-in-one-order",
        "DepthToSpace reads no mode",
        "DepthToSpace",
        ignored("mode"),
    ),
    Misconversion(
        "onnx-mod-ignores-fmod",
        "Mod of floats has the sign of the divisor",
        "Mod",
        ignored("fmod"),
        (Verdict.WRONG_VALUE, Verdict.UNSUPPORTED),
    ),
    Misconversion(
        "onnx-layer-normalization-takes-one-epsilon",
        "LayerNormalization reads no epsilon",
        "LayerNormalization",
        ignored("epsilon"),
    ),
    Misconversion(
        "onnx-isinf-of-both-signs",
        "IsInf reads no detect_negative",
        "IsInf",
        ignored("detect_negative"),
    ),
    Misconversion(
        "onnx-trilu-keeps-the-upper-part",
        "Trilu reads no upper",
        "Trilu",
        ignored("upper"),
    ),
    Misconversion(
        "onnx-concat-does-not-normalize-its-axis",
        "Concat counts a negative axis from one before the last",
        "Concat",
        without_negative_axis("axis"),
        _SHAPE,
    ),
    Misconversion(
        "onnx-gather-nd-ignores-batch-dims",
        "GatherND reads no batch_dims",
        "GatherND",
        ignored("batch_dims"),
        _SHAPE,
    ),
    Misconversion(
        "onnx-scatter-elements-overwrites",
        "ScatterElements reads no reduction",
        "ScatterElements",
        ignored("reduction"),
    ),
    Misconversion(
        "onnx-scatter-nd-multiplies-for-the-minimum",
        "reduction min of ScatterND is mul",
        "ScatterND",
        read_as("reduction", renamed({"min": "mul"})),
    ),
    Misconversion(
        "onnx-bit-shift-to-the-left",
        "BitShift shifts left, whatever direction says",
        "BitShift",
        read_as("direction", lambda direction: "LEFT"),
    ),
    Misconversion(
        "onnx-reshape-copies-zeros",
        "a 0 in the shape of Reshape is a dimension to copy, whatever allowzero says",
        "Reshape",
        ignored("allowzero"),
        _SHAPE,
    ),
    Misconversion(
        "onnx-gelu-is-exact",
        "Gelu reads no approximate",
        "Gelu",
        ignored("approximate"),
    ),
    Misconversion(
        "onnx-shrink-ignores-its-bias",
        "Shrink reads no bias",
        "Shrink",
        ignored("bias"),
    ),
    Misconversion(
        "onnx-attention-sees-the-future",
        "Attention reads no is_causal",
        "Attention",
        ignored("is_causal"),
    ),
    Misconversion(
        "onnx-gru-resets-before-its-product",
        "GRU reads no linear_before_reset",
        "GRU",
        ignored("linear_before_reset"),
    ),
    Misconversion(
        "onnx-dft-is-never-inverse",
        "DFT reads no inverse",
        "DFT",
        ignored("inverse"),
        _SHAPE,
    ),
)
