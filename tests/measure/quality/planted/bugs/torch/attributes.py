"""Plants in how the importer reads the settings of a function."""

from relaxcheck.harness.outcomes.outcome import Verdict
from tests.measure.quality.planted.bugs.torch.changes import (
    assumed,
    ignored,
    one_less,
    read_as,
)
from tests.measure.quality.planted.misreading import Misreading

SHAPE = (
    *(Verdict.WRONG_SHAPE, Verdict.WRONG_VALUE),
    *(Verdict.OPAQUE_CRASH, Verdict.UNSUPPORTED),
)
"""Verdicts on sizes that are off: what follows may not take them."""

VALUE = (Verdict.WRONG_VALUE, Verdict.WRONG_SHAPE, Verdict.OPAQUE_CRASH, Verdict.UNSUPPORTED)
"""Verdicts on another axis: the sizes are off, too, where they differ."""

_CONVOLUTIONS = (
    *("convolution.default", "conv1d.default", "conv2d.default", "conv3d.default"),
    *("conv1d.padding", "conv2d.padding", "conv3d.padding"),
)
_SOFTMAX = ("_softmax.default", "softmax.int")

PLANTS = (
    Misreading(
        "torch-add-ignores-alpha",
        "add reads no alpha",
        ("add.Tensor", "add.Scalar", "add_.Tensor"),
        ignored("alpha"),
        ("add",),
    ),
    Misreading(
        "torch-sum-drops-keepdim",
        "sum reads no keepdim",
        ("sum.dim_IntList",),
        ignored("keepdim"),
        ("sum",),
        SHAPE,
    ),
    Misreading(
        "torch-mean-counts-from-before-the-last",
        "mean counts a negative axis from the axis before the last",
        ("mean.dim",),
        read_as("dim", one_less),
        ("mean",),
        VALUE,
    ),
    Misreading(
        "torch-softmax-is-along-the-first-axis",
        "softmax reads no axis",
        _SOFTMAX,
        assumed(dim=0),
        ("softmax", "Softmax"),
    ),
    Misreading(
        "torch-cumsum-is-along-the-first-axis",
        "cumsum reads no axis",
        ("cumsum.default",),
        assumed(dim=0),
        ("cumsum",),
    ),
    Misreading(
        "torch-convolution-swaps-its-padding",
        "a convolution pads its dimensions in the other order",
        _CONVOLUTIONS,
        read_as("padding", lambda value: value if isinstance(value, str) else list(value)[::-1]),
        ("nn.functional.conv2d", "nn.functional.conv3d", "Conv2d"),
        SHAPE,
    ),
    Misreading(
        "torch-convolution-ignores-dilation",
        "a convolution is never dilated",
        _CONVOLUTIONS,
        read_as("dilation", lambda value: [1] * len(value)),
        ("nn.functional.conv1d", "nn.functional.conv2d", "Conv1d", "Conv2d"),
        SHAPE,
    ),
    Misreading(
        "torch-convolution-ignores-stride",
        "a convolution moves by one",
        _CONVOLUTIONS,
        read_as("stride", lambda value: [1] * len(value)),
        ("nn.functional.conv1d", "nn.functional.conv2d", "Conv1d", "Conv2d"),
        SHAPE,
    ),
    Misreading(
        "torch-layer-norm-ignores-eps",
        "layer_norm adds a hundred-thousandth, whatever eps says",
        ("native_layer_norm.default", "layer_norm.default"),
        assumed(eps=1e-5),
        ("LayerNorm", "nn.functional.layer_norm", "native_layer_norm"),
    ),
    Misreading(
        "torch-group-norm-ignores-eps",
        "group_norm adds a hundred-thousandth, whatever eps says",
        ("native_group_norm.default", "group_norm.default"),
        assumed(eps=1e-5),
        ("GroupNorm", "nn.functional.group_norm", "native_group_norm"),
    ),
    Misreading(
        "torch-clamp-loses-its-upper-bound",
        "clamp reads no max",
        ("clamp.default",),
        assumed(max=None),
        ("clamp",),
    ),
    Misreading(
        "torch-slice-ignores-its-step",
        "a slice takes every element",
        ("slice.Tensor",),
        assumed(step=1),
        ("slice", "__getitem__", "control"),
        SHAPE,
    ),
    Misreading(
        "torch-select-of-the-last-takes-the-first",
        "a negative index of select is taken for 0",
        ("select.int",),
        read_as("index", lambda index: index if not isinstance(index, int) else max(index, 0)),
        ("select", "__getitem__"),
    ),
    Misreading(
        "torch-gelu-ignores-approximate",
        "gelu reads no approximate",
        ("gelu.default",),
        ignored("approximate"),
        ("GELU", "nn.functional.gelu"),
    ),
    Misreading(
        "torch-average-pool-counts-padding",
        "avg_pool counts padding, whatever count_include_pad says",
        ("avg_pool1d.default", "avg_pool2d.default", "avg_pool3d.default"),
        ignored("count_include_pad"),
        (
            *("AvgPool1d", "AvgPool2d", "AvgPool3d", "nn.functional.avg_pool1d"),
            *("nn.functional.avg_pool2d", "nn.functional.avg_pool3d"),
        ),
    ),
    Misreading(
        "torch-max-pool-ignores-ceil-mode",
        "max_pool leaves the last window out, whatever ceil_mode says",
        (
            *("max_pool1d.default", "max_pool2d.default", "max_pool3d.default"),
            *("max_pool2d_with_indices.default", "max_pool3d_with_indices.default"),
        ),
        ignored("ceil_mode"),
        (
            *("MaxPool1d", "MaxPool2d", "MaxPool3d", "nn.functional.max_pool1d"),
            *("nn.functional.max_pool2d", "nn.functional.max_pool3d"),
        ),
        SHAPE,
    ),
    Misreading(
        "torch-upsample-ignores-align-corners",
        "upsample_bilinear2d does not align corners",
        ("upsample_bilinear2d.vec",),
        assumed(align_corners=False),
        ("nn.functional.interpolate.bilinear", "nn.functional.upsample_bilinear"),
    ),
    Misreading(
        "torch-attention-ignores-is-causal",
        "scaled_dot_product_attention hides no later key",
        ("scaled_dot_product_attention.default",),
        ignored("is_causal"),
        ("nn.functional.scaled_dot_product_attention", "attention", "sdpa"),
    ),
    Misreading(
        "torch-sort-is-ascending",
        "sort reads no descending",
        ("sort.default", "sort.stable", "argsort.default", "argsort.stable"),
        ignored("descending"),
        ("sort", "argsort", "msort"),
    ),
    Misreading(
        "torch-topk-takes-the-largest",
        "topk reads no largest",
        ("topk.default",),
        ignored("largest"),
        ("topk",),
    ),
    Misreading(
        "torch-variance-is-corrected-by-one",
        "var divides by one less than the count, whatever correction says",
        ("var.correction", "std.correction"),
        assumed(correction=1),
        ("var", "std", "var_mean", "std_mean"),
    ),
    Misreading(
        "torch-truncated-division-rounds-down",
        "div rounds down where its mode is trunc",
        ("div.Tensor_mode", "div.Scalar_mode"),
        read_as("rounding_mode", lambda mode: "floor" if mode == "trunc" else mode),
        ("div.trunc_rounding",),
    ),
    Misreading(
        "torch-pad-ignores-its-value",
        "constant_pad_nd pads with zeros",
        ("constant_pad_nd.default", "pad.default"),
        ignored("value"),
        ("constant_pad_nd", "nn.functional.pad.constant", "ConstantPad1d", "ConstantPad2d"),
    ),
    Misreading(
        "torch-gather-is-along-the-first-axis",
        "gather reads no axis",
        ("gather.default",),
        assumed(dim=0),
        ("gather", "take_along_dim"),
        VALUE,
    ),
    Misreading(
        "torch-leaky-relu-ignores-its-slope",
        "leaky_relu has the slope of a hundredth",
        ("leaky_relu.default", "leaky_relu_.default"),
        ignored("negative_slope"),
        ("LeakyReLU", "nn.functional.leaky_relu"),
    ),
    Misreading(
        "torch-index-put-does-not-accumulate",
        "index_put reads no accumulate",
        ("index_put.default", "index_put_.default"),
        ignored("accumulate"),
        ("index_put",),
    ),
)
