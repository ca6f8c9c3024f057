"""Plants in convolution, pooling and interpolation."""

from functools import partial

from relaxcheck.harness.outcomes.outcome import Verdict
from tests.measure.quality.planted.plant import one_edit

_VALUE = (Verdict.WRONG_VALUE,)
_SHAPE = (Verdict.OPAQUE_CRASH, Verdict.WRONG_SHAPE, Verdict.WRONG_VALUE, Verdict.UNSUPPORTED)
_CONV, _LEGALIZE = "tvm.topi.nn.conv2d", "tvm.relax.transform.legalize_ops.nn"
_IMAGE, _RESIZE = "tvm.topi.image.resize", "relaxcheck.fixes.lowerings.images.resizing"

_wrong = partial(one_edit, verdicts=_VALUE)
_misshapen = partial(one_edit, verdicts=_SHAPE)

_CONVOLUTIONS = ("nn.conv1d", "nn.conv2d", "nn.conv3d")

_CONVOLVED = (
    _wrong(
        name="conv-interleaves-its-groups",
        description="an output channel of a grouped convolution reads another group",
        blame=("groups",),
        module=_CONV,
        old="ff // (num_filter // groups) * (in_channel // groups) + rc",
        new="ff % groups * (in_channel // groups) + rc",
        operators=_CONVOLUTIONS,
    ),
    _wrong(
        name="conv-swaps-its-padding",
        description="a convolution pads at the end what it is to pad at the begin",
        blame=("pad_begin", "pad_end"),
        module=_CONV,
        old="    pad_begin, pad_end = get_pad_tuple_generic(padding, dilated_kernel_dimensions)\n"
        "    # compute the output shape\n    out_channel = num_filter\n",
        new="    pad_end, pad_begin = get_pad_tuple_generic(padding, dilated_kernel_dimensions)\n"
        "    # compute the output shape\n    out_channel = num_filter\n",
        operators=_CONVOLUTIONS,
    ),
    _wrong(
        name="conv-reads-neighbours",
        description="a dilated convolution reads neighbouring elements",
        blame=("dilation",),
        module=_CONV,
        old="                            di * stride + r * dil\n"
        "                            for di, stride, r, dil",
        new="                            di * stride + r\n"
        "                            for di, stride, r, dil",
        operators=_CONVOLUTIONS,
    ),
    _misshapen(
        name="conv-strides-alike",
        description="a convolution takes its first stride for all axes",
        blame=("stride",),
        module=_CONV,
        old="        strides = [stride for _ in range(dim)]\n    else:\n        strides = stride\n",
        new="        strides = [stride for _ in range(dim)]\n    else:\n"
        "        strides = [stride[0]] * dim\n",
        operators=("nn.conv2d", "nn.conv3d"),
    ),
    _wrong(
        name="conv-turns-its-kernel",
        description="a convolution applies its kernel from the last tap to the first",
        blame=("kernel",),
        module=_CONV,
        old="filt.__getitem__(tuple(np.array([ff, rc] + rs)[kernel_permutation_from]))",
        new="filt.__getitem__(tuple(np.array([ff, rc] + [k - 1 - r for k, r in"
        " zip(kernel_dimensions, rs)])[kernel_permutation_from]))",
        operators=_CONVOLUTIONS,
    ),
)


def _pooling(name: str, rank: int, kind: str, old: str, new: str) -> tuple[str, str]:
    """The end of a pooling's legalization, and the same text with ``old`` replaced by ``new``."""
    counted = "        count_include_pad=call.attrs.count_include_pad,\n" if kind == "avg" else ""
    text = (
        "        kernel=call.attrs.pool_size,\n        stride=call.attrs.strides,\n"
        "        dilation=call.attrs.dilation,\n        padding=call.attrs.padding,\n"
        f'        pool_type="{kind}",\n        ceil_mode=call.attrs.ceil_mode,\n'
        f"        layout=call.attrs.layout,\n{counted}"
        f'        primfunc_name_hint="{name}{rank}d",\n'
    )
    assert text.count(old) == 1
    return text, text.replace(old, new)


_OLD_MAX, _WITHOUT_DILATION = _pooling(
    "max_pool", 2, "max", "dilation=call.attrs.dilation", "dilation=[1, 1]"
)
_OLD_MAX1, _BY_KERNEL = _pooling(
    "max_pool", 1, "max", "stride=call.attrs.strides", "stride=call.attrs.pool_size"
)
_OLD_AVG1, _UNCOUNTED = _pooling(
    "avg_pool",
    1,
    "avg",
    "count_include_pad=call.attrs.count_include_pad",
    "count_include_pad=False",
)
_OLD_AVG, _TURNED = _pooling(
    "avg_pool", 2, "avg", "kernel=call.attrs.pool_size", "kernel=list(call.attrs.pool_size)[::-1]"
)

_OLD_MAX3, _FIRST_STRIDE = _pooling(
    "max_pool",
    3,
    "max",
    "stride=call.attrs.strides",
    "stride=[call.attrs.strides[0]] * 3",
)
_OLD_AVG3, _PADS_TURNED = _pooling(
    "avg_pool",
    3,
    "avg",
    "padding=call.attrs.padding",
    "padding=[*call.attrs.padding[3:], *call.attrs.padding[:3]]",
)

_POOLED = (
    _misshapen(
        name="max-pool-without-dilation",
        description="max_pool2d ignores dilation",
        blame=("dilation",),
        module=_LEGALIZE,
        old=_OLD_MAX,
        new=_WITHOUT_DILATION,
        operators=("nn.max_pool2d",),
    ),
    _misshapen(
        name="max-pool-strides-by-its-kernel",
        description="max_pool1d moves by the size of its window",
        blame=("stride", "kernel"),
        module=_LEGALIZE,
        old=_OLD_MAX1,
        new=_BY_KERNEL,
        operators=("nn.max_pool1d",),
    ),
    _wrong(
        name="avg-pool-never-counts-padding",
        description="avg_pool1d leaves padding out of the count",
        blame=("count_include_pad", "pad_begin", "pad_end"),
        module=_LEGALIZE,
        old=_OLD_AVG1,
        new=_UNCOUNTED,
        operators=("nn.avg_pool1d",),
    ),
    _misshapen(
        name="avg-pool-turns-its-window",
        description="avg_pool2d takes the window's width for its height",
        blame=("kernel",),
        module=_LEGALIZE,
        old=_OLD_AVG,
        new=_TURNED,
        operators=("nn.avg_pool2d",),
    ),
    _misshapen(
        name="max-pool-strides-alike",
        description="max_pool3d takes its first stride for all axes",
        blame=("stride",),
        module=_LEGALIZE,
        old=_OLD_MAX3,
        new=_FIRST_STRIDE,
        operators=("nn.max_pool3d",),
    ),
    _wrong(
        name="avg-pool-swaps-its-padding",
        description="avg_pool3d pads at the end what it is to pad at the begin",
        blame=("pad_begin", "pad_end"),
        module=_LEGALIZE,
        old=_OLD_AVG3,
        new=_PADS_TURNED,
        operators=("nn.avg_pool3d",),
    ),
    _wrong(
        name="adaptive-pool-takes-the-largest",
        description="adaptive_avg_pool1d gives the largest element of each window",
        blame=(),
        module=_LEGALIZE,
        old='topi.nn.adaptive_pool1d(data, output_size, "avg", layout_str)',
        new='topi.nn.adaptive_pool1d(data, output_size, "max", layout_str)',
        operators=("nn.adaptive_avg_pool1d",),
    ),
    # In other dtypes too, the probe of the fix adaptive_pooling would see it, and the fix cure it.
    _wrong(
        name="adaptive-pool-of-doubles-takes-the-largest",
        description="adaptive_avg_pool2d of float64 gives the largest element of each window",
        blame=("dtype",),
        module=_LEGALIZE,
        old='return topi.nn.adaptive_pool(data, output_size, "avg", layout_str)',
        new='kind = "max" if str(data.dtype) == "float64" else "avg"\n'
        "        return topi.nn.adaptive_pool(data, output_size, kind, layout_str)",
        operators=("nn.adaptive_avg_pool2d",),
    ),
    _wrong(
        name="adaptive-pool3d-of-doubles-takes-the-largest",
        description="adaptive_avg_pool3d of float64 gives the largest element of each window",
        blame=("dtype",),
        module=_LEGALIZE,
        old='return topi.nn.adaptive_pool3d(data, output_size, "avg", layout_str)',
        new='kind = "max" if str(data.dtype) == "float64" else "avg"\n'
        "        return topi.nn.adaptive_pool3d(data, output_size, kind, layout_str)",
        operators=("nn.adaptive_avg_pool3d",),
    ),
)

_RESIZED = (
    _wrong(
        name="half-pixels-are-whole",
        description="resize2d by half pixels starts at the first element's corner",
        blame=("mode", "height", "width", "symbolic"),
        module=_IMAGE,
        old='    if coordinate_transformation_mode == "half_pixel":\n'
        "        in_x = (x + 0.5) * scale_x - 0.5\n",
        new='    if coordinate_transformation_mode == "half_pixel":\n        in_x = x * scale_x\n',
        operators=("image.resize2d",),
    ),
    _wrong(
        name="corners-are-not-aligned",
        description="resize2d with aligned corners divides by the size, not by one less",
        blame=("mode",),
        module=_IMAGE,
        old='in_x = (image_width - 1).astype("float") / (target_width - 1) * x',
        new='in_x = image_width.astype("float") / target_width * x',
        operators=("image.resize2d",),
    ),
    _wrong(
        name="nearest-rounds-up",
        description="nearest neighbour by floor rounds to the nearest element",
        blame=("mode",),
        module=_IMAGE,
        old="closest_x_index = te.floor(in_x + epsilon)",
        new="closest_x_index = te.floor(in_x + 0.5)",
        operators=("image.resize2d",),
    ),
    _wrong(
        name="symbolic-images-are-square",
        description="resize2d takes the new height for the width, where a size is symbolic",
        blame=("symbolic", "width", "height"),
        module=_RESIZE,
        old="            count = data.shape[axis]\n",
        new="            count, size = data.shape[axis], sizes[0]\n",
        operators=("image.resize2d",),
    ),
    _wrong(
        name="cubic-forgets-alpha",
        description="cubic interpolation along x has alpha -0.75, whatever is asked",
        blame=("mode", "kernel"),
        module=_IMAGE,
        old="        wx = _cubic_spline_weights(xfract, alpha)\n"
        "        wy = _cubic_spline_weights(yfract, alpha)\n"
        "        if exclude_outside:\n"
        "            for i in range(4):\n"
        "                wx[i] = te.if_then_else(\n"
        "                    te.any(xint - 1 + i < 0, xint + i > image_width), 0.0, wx[i]\n"
        "                )\n"
        "                wy[i] = te.if_then_else(\n",
        new="        wx = _cubic_spline_weights(xfract, -0.75)\n"
        "        wy = _cubic_spline_weights(yfract, alpha)\n"
        "        if exclude_outside:\n"
        "            for i in range(4):\n"
        "                wx[i] = te.if_then_else(\n"
        "                    te.any(xint - 1 + i < 0, xint + i > image_width), 0.0, wx[i]\n"
        "                )\n"
        "                wy[i] = te.if_then_else(\n",
        operators=("image.resize2d",),
    ),
    _wrong(
        name="cubic-leaves-out-the-last",
        description="cubic interpolation over the elements inside leaves out the last",
        blame=("mode", "kernel"),
        module=_IMAGE,
        old="te.any(yint - 1 + i < 0, yint + i > image_height), 0.0, wy[i]\n"
        "                )\n            sum_wx = sum(wx)\n",
        new="te.any(yint - 1 + i < 0, yint + i > image_height - 1), 0.0, wy[i]\n"
        "                )\n            sum_wx = sum(wx)\n",
        # Of one element no weight is left: TVM folds a division by 0.
        verdicts=(*_VALUE, Verdict.OPAQUE_CRASH),
        operators=("image.resize2d",),
    ),
    _wrong(
        name="one-pixel-is-in-the-middle",
        description="resize to one place by pytorch_half_pixel takes the middle, not the first",
        blame=("mode", "height", "width"),
        module=_IMAGE,
        old="in_x = te.if_then_else(target_width > 1, (x + 0.5) * scale_x - 0.5, 0.0)",
        new="in_x = (x + 0.5) * scale_x - 0.5",
        operators=("image.resize2d",),
    ),
)

PLANTS = (*_CONVOLVED, *_POOLED, *_RESIZED)
