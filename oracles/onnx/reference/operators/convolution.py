"""Convolutions over one to three spatial axes."""

import numpy as np

from relaxcheck.oracles.onnx.reference.call import Call, operator, relax
from relaxcheck.oracles.onnx.reference.values import moved
from relaxcheck.oracles.onnx.reference.windows import padding_of, steps
from relaxcheck.oracles.reference.estimate import Estimate

_RANKS = (1, 2, 3)


def convolution(call: Call, data: Estimate, kernel: Estimate) -> Estimate:
    """``data`` (N, C, spatial) and ``kernel`` (O, C / groups, spatial), by the attributes."""
    rank = data.value.ndim - 2
    if rank not in _RANKS:
        raise ValueError(f"a convolution over {rank} axes")
    size = kernel.value.shape[2:]
    strides, dilations = steps(call, "strides", rank), steps(call, "dilations", rank)
    before, after = padding_of(call, data.value.shape[2:], size, strides, dilations)
    return relax(
        f"nn.conv{rank}d",
        data,
        kernel,
        strides=strides,
        dilation=dilations,
        padding=(*before, *after),
        groups=call.attribute("group"),
    )


def _biased(result: Estimate, bias: Estimate | None) -> Estimate:
    if bias is None:
        return result
    shape = (-1, *[1] * (result.value.ndim - 2))
    return relax("add", result, moved(bias, lambda each: each.reshape(shape)))


@operator("Conv")
def _conv(call: Call) -> Estimate:
    return _biased(convolution(call, call[0], call[1]), call.optional(2))


@operator("ConvTranspose")
def _conv_transpose(call: Call) -> Estimate:
    data, kernel = call[0], call[1]
    rank = data.value.ndim - 2
    if rank not in _RANKS:
        raise ValueError(f"a convolution over {rank} axes")
    sizes, taps = data.value.shape[2:], kernel.value.shape[2:]
    strides, dilations = steps(call, "strides", rank), steps(call, "dilations", rank)
    extra = call.attribute("output_padding") or (0,) * rank
    before, after, extra = _cropped(call, sizes, taps, strides, dilations, extra)
    result = relax(
        f"nn.conv{rank}d_transpose",
        data,
        kernel,
        strides=strides,
        dilation=dilations,
        padding=(*before, *after),
        output_padding=extra,
        groups=call.attribute("group"),
    )
    return _biased(result, call.optional(2))


def _cropped(
    call: Call,
    sizes: tuple[int, ...],
    taps: tuple[int, ...],
    strides: tuple[int, ...],
    dilations: tuple[int, ...],
    extra: tuple[int, ...],
) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
    """What is cut off before and after: stated, or what is beyond the wanted size.

    Then what is put behind, which includes what the wanted size is more.
    """
    mode, wanted = call.attribute("auto_pad"), call.attribute("output_shape")
    rank = len(sizes)
    if wanted is None and mode in ("NOTSET", "VALID"):
        pads = call.attribute("pads") if mode == "NOTSET" else None
        pads = pads or (0,) * (2 * rank)
        return pads[:rank], pads[rank:], extra
    if wanted is None:
        wanted = tuple(n * stride for n, stride in zip(sizes, strides, strict=True))
    full = (
        np.array(strides) * (np.array(sizes) - 1)
        + np.array(extra)
        + (np.array(taps) - 1) * np.array(dilations)
        + 1
    )
    beyond = full - np.array(wanted[-rank:])
    more = np.array(extra)
    if call.attribute("output_shape") is not None:
        # A size of auto_pad that the elements do not fill is less, by ONNX's inference.
        more = more + np.maximum(-beyond, 0)
    beyond = np.maximum(beyond, 0)
    half = beyond // 2
    first = half if mode == "SAME_UPPER" else beyond - half
    return tuple(first.tolist()), tuple((beyond - first).tolist()), tuple(more.tolist())
