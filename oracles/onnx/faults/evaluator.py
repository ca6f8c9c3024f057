"""Faults of ONNX's own evaluator."""

import numpy as np

from relaxcheck.oracles.onnx.faults.fault import (
    Fault,
    Holds,
    Seen,
    before,
    beyond_float64,
    beyond_integers,
    dilated,
    of_dtype,
    shifted,
    wild,
)
from relaxcheck.oracles.reference.estimate import FORMATS

_EVALUATOR = "evaluator"
_PLAIN_RANK = 4
"""The rank of images: the evaluator's sampling is written for it."""


def _fault(operators: tuple[str, ...], holds: Holds, evidence: str) -> Fault:
    return Fault(_EVALUATOR, operators, holds, evidence)


def _other_rank(seen: Seen) -> bool:
    return seen.operand(0) is not None and len(seen.shape(0)) != _PLAIN_RANK


def _scans(seen: Seen) -> bool:
    """A loop has outputs beside the values that it carries."""
    return len(seen.node.outputs) > len(seen.node.inputs) - 2


def _apart(seen: Seen) -> bool:
    """Some share of the softmax may underflow."""
    scores = seen.operand(0)
    if scores is None or not scores.value.size:
        return False
    axis = 1 if seen.node.operator == "SoftmaxCrossEntropyLoss" else seen.attribute("axis")
    with np.errstate(invalid="ignore"):
        spread = scores.value.max(axis) - scores.value.min(axis)
    least = {"float16": 10, "bfloat16": 80, "float32": 80}.get(scores.dtype, 700)
    return bool((~(spread < least)).any())


def _starts_before(seen: Seen) -> bool:
    """A slice backwards begins before the first element."""
    data, starts, strides = seen.operand(0), seen.operand(1), seen.operand(4)
    if data is None or starts is None or strides is None:
        return False
    backwards = strides.value < 0
    return bool((backwards & (starts.value < -min(data.value.shape, default=0))).any())


def _overflows_in_float16(seen: Seen) -> bool:
    """A quotient by the scale may be beyond float16, the dtype of both."""
    data, scale = seen.operand(0), seen.operand(1)
    if data is None or scale is None or data.dtype != "float16" or not data.value.size:
        return False
    largest = np.abs(data.value).max() / np.abs(scale.value).min()
    return bool(not largest < FORMATS["float16"].largest)


def _unsorted(seen: Seen) -> bool:
    axes = tuple(seen.attribute("axes") or ())
    return axes != tuple(sorted(axes)) or min(axes, default=0) < 0 < len(axes) - 1


def _plain_recurrence(seen: Seen) -> bool:
    """A recurrence has what the evaluator ignores."""
    names = ("clip", "activations", "activation_alpha", "input_forget")
    return seen.has(4) or any(seen.node.attributes.get(name) for name in names)


def _not_filled(seen: Seen) -> bool:
    """The size that auto_pad asks for is more than the elements reach."""
    sizes, taps = seen.shape(0)[2:], seen.shape(1)[2:]
    if not str(seen.attribute("auto_pad")).startswith("SAME") or not sizes:
        return False
    ones = (1,) * len(sizes)
    strides = seen.attribute("strides") or ones
    dilations = seen.attribute("dilations") or ones
    extra = seen.attribute("output_padding") or (0,) * len(sizes)
    return any(
        more + (tap - 1) * dilation + 1 < stride
        for more, tap, dilation, stride in zip(extra, taps, dilations, strides, strict=True)
    )


def _stashed(seen: Seen) -> bool:
    """Mean and deviation are outputs, and of another dtype than the data."""
    wanted = {1: "float32", 11: "float64", 10: "float16", 16: "bfloat16"}
    return seen.outputs > 1 and seen.dtype(0) != wanted.get(seen.attribute("stash_type"))


def _several_dtypes(seen: Seen) -> bool:
    return seen.outputs > 1 and len({seen.dtype(at) for at in range(5)}) > 1


def _capped(seen: Seen) -> bool:
    outputs = seen.node.outputs
    return (
        len(outputs) > 3
        and bool(outputs[3])
        and bool(seen.attribute("softcap"))
        and not seen.attribute("qk_matmul_output_mode")
    )


def _paired(seen: Seen) -> bool:
    """Pads of two axes are others than pairs of a beginning and an end; no window is dilated."""
    pads = tuple(seen.attribute("pads") or ())
    steps = (*(seen.attribute("strides") or ()), *(seen.attribute("dilations") or ()))
    return len(pads) == _PLAIN_RANK and pads[1] != pads[2] and all(step == 1 for step in steps)


def _many(at: int) -> Holds:
    def holds(seen: Seen) -> bool:
        operand = seen.operand(at)
        return operand is not None and operand.value.size > 1

    return holds


FAULTS = (
    _fault(
        ("Softmax", "LogSoftmax", "Hardmax"),
        before(13),
        "it takes one axis, where opsets before 13 flatten all from the axis on",
    ),
    _fault(("Erf",), of_dtype(0, "float64"), "it computes float64 in float32"),
    _fault(
        ("Gelu",),
        lambda seen: seen.dtype(0) == "float64" and seen.attribute("approximate") != "tanh",
        "it computes the error function of float64 in float32",
    ),
    _fault(
        ("GlobalMaxPool",), _other_rank, "its shape is that of two spatial axes, whatever the rank"
    ),
    _fault(
        ("AffineGrid",),
        lambda seen: seen.dtype(0) not in ("", "float32"),
        "its result is of float32, whatever the dtype of theta",
    ),
    _fault(
        ("LRN",),
        lambda seen: len(seen.shape(0)) > 1 and seen.shape(0)[0] < seen.shape(0)[1],
        "it sums squares for as many channels as there are images",
    ),
    _fault(
        ("LpNormalization",),
        lambda seen: seen.attribute("p") == 1,
        "it adds up elements with their signs",
    ),
    _fault(
        ("AveragePool", "LpPool", "MaxPool"),
        dilated("SAME", "VALID"),
        "auto_pad does not regard dilations",
    ),
    _fault(
        ("LpPool",),
        lambda seen: bool(seen.attribute("ceil_mode")),
        "a window that reaches beyond the end counts as a full one",
    ),
    _fault(
        ("MaxPool",),
        lambda seen: seen.outputs > 1,
        "the place in a window is taken for one in the result",
    ),
    _fault(
        ("MaxPool",),
        lambda seen: str(seen.attribute("auto_pad")).startswith("SAME"),
        "auto_pad does not round the size of the result up",
    ),
    _fault(
        ("MaxPool",),
        lambda seen: (
            _other_rank(seen)
            and any(seen.attribute("pads") or ())
            and ("dilations" not in seen.node.attributes or bool(seen.attribute("ceil_mode")))
        ),
        "pads are ignored but for two spatial axes",
    ),
    _fault(("MaxPool",), _paired, "pads are read as pairs, one for each axis"),
    _fault(
        ("Conv",),
        lambda seen: wild(0)(seen) and any(n > 1 for n in seen.attribute("dilations") or ()),
        "it puts zeros between taps, which infinities make NaN",
    ),
    _fault(
        ("LayerNormalization", "GroupNormalization", "RMSNormalization"),
        of_dtype(0, "float16", "bfloat16"),
        "it computes the first stage in the data's dtype, not that of stash_type",
    ),
    _fault(
        ("NegativeLogLikelihoodLoss",),
        lambda seen: seen.attribute("ignore_index") == -1 and not seen.has(2),
        "-1 as ignore_index is taken for none when elements are counted",
    ),
    _fault(
        ("SequenceInsert",),
        lambda seen: seen.has(2),
        "the place behind the last is the first",
    ),
    _fault(
        ("LayerNormalization",),
        _stashed,
        "mean and deviation are of the data's dtype, not that of stash_type",
    ),
    _fault(
        ("BatchNormalization",),
        _several_dtypes,
        "running mean and variance are of the data's dtype, not their own",
    ),
    _fault(("Det",), of_dtype(0, "bfloat16", "float16"), "its result is of a wider dtype"),
    _fault(("Det",), of_dtype(0, "float64"), "it is the exponential of a logarithm"),
    _fault(
        ("Gemm",),
        of_dtype(0, "int32", "int64", "uint32", "uint64"),
        "integers are scaled as floating-point numbers",
    ),
    _fault(("Slice",), _starts_before, "a start before the first element, backwards, gives none"),
    _fault(
        ("Dropout",),
        lambda seen: seen.schema.since < 10 and seen.outputs > 1,
        "the mask is of truth values before opset 10 too",
    ),
    _fault(
        ("Dropout",),
        lambda seen: (
            seen.has(2) and (seen.dtype(0) != seen.dtype(1) or seen.dtype(0) == "bfloat16")
        ),
        "training gives the dtype of the ratio, and float32 for bfloat16",
    ),
    _fault(
        ("RNN", "GRU", "LSTM"),
        _plain_recurrence,
        "it ignores clip, activations, coupled gates and lengths",
    ),
    _fault(
        ("Loop",),
        lambda seen: not seen.has(1),
        "without a condition there is no iteration",
    ),
    _fault(("Loop",), _scans, "it joins scan outputs along an axis that they have already"),
    _fault(("MatMulInteger",), _many(2), "zero points of rows are subtracted from columns"),
    _fault(
        ("ConvInteger",),
        lambda seen: _many(3)(seen) and _other_rank(seen),
        "zero points of the kernel broadcast as for two spatial axes",
    ),
    _fault(
        ("QLinearConv",),
        lambda seen: _many(4)(seen) and _other_rank(seen),
        "scales of channels broadcast as for two spatial axes",
    ),
    _fault(
        ("QuantizeLinear",),
        beyond_integers,
        "a quotient beyond 32 bits is not saturated",
    ),
    _fault(
        ("QuantizeLinear",),
        _overflows_in_float16,
        "a quotient beyond float16 is infinite, and 0 as an integer",
    ),
    _fault(
        ("ReduceSumSquare",),
        of_dtype(0, *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32))),
        "sums of integers are of 64 bits",
    ),
    _fault(("RoiAlign",), before(16), "coordinates are shifted by half a pixel before opset 16"),
    _fault(
        ("SoftmaxCrossEntropyLoss", "LogSoftmax"),
        _apart,
        "the logarithm of a share that underflows is -infinity",
    ),
    _fault(
        ("Unique",),
        lambda seen: seen.attribute("sorted") == 0,
        "without sorting it ignores the axis, and with one output it sorts",
    ),
    _fault(
        ("Unsqueeze",),
        lambda seen: seen.schema.since < 13 and _unsorted(seen),
        "axes that are not sorted are inserted one after another",
    ),
    _fault(
        ("Optional",),
        lambda seen: not seen.has(0),
        "an optional that has nothing has an element",
    ),
    _fault(
        ("BatchNormalization",),
        before(14),
        "a momentum, which it always has, is taken for training",
    ),
    _fault(
        ("OneHot",),
        of_dtype(2, "float16", "bfloat16", "float32", "float64"),
        "it adds the difference of the two values to the first, which rounds",
    ),
    _fault(
        ("ConvTranspose",),
        lambda seen: seen.has(2) and seen.attribute("group") > 1,
        "with groups, the bias is added to other channels",
    ),
    _fault(
        ("ConvTranspose",),
        _not_filled,
        "a size of auto_pad that the elements do not fill is filled with zeros",
    ),
    _fault(
        ("GridSample",),
        lambda seen: (
            seen.attribute("mode") in ("cubic", "bicubic")
            and seen.attribute("padding_mode") == "border"
        ),
        "coordinates are brought back before elements are chosen",
    ),
    _fault(
        ("Cast", "CastLike"),
        lambda seen: (
            seen.dtype(0) in ("float64", "int32", "uint32", "int64", "uint64")
            and (seen.attribute("to") == 16 or seen.dtype(1) == "bfloat16")
        ),
        "a number is rounded to float32 first, and then to bfloat16",
    ),
    _fault(
        ("Resize",),
        lambda seen: seen.attribute("mode") == "nearest" and wild(0)(seen),
        "elements that are not the nearest are multiplied by 0, which gives NaN",
    ),
    _fault(("PRelu",), wild(1), "0 is multiplied by the slope, which gives NaN"),
    _fault(
        ("Attention",),
        lambda seen: bool(seen.attribute("is_causal")) and seen.shape(3)[-2:-1] == (1,),
        "the causal mask has as many queries as the other mask, which may broadcast",
    ),
    _fault(("Attention",), _capped, "raw scores are capped"),
    _fault(
        ("GridSample",),
        lambda seen: seen.dtype(0) == "float64" and seen.attribute("mode") != "nearest",
        "float64 is interpolated in float32, or at coordinates of float32",
    ),
    _fault(("LSTM",), wild(6), "peepholes that are left out are zeros, which infinities make NaN"),
    _fault(("Resize",), wild(0), "infinities become the largest numbers"),
    _fault(("Resize",), beyond_float64, "integers are multiplied as numbers of float64"),
    _fault(("Resize",), shifted, "an axis that keeps its size is left as it is"),
    _fault(("ReduceMean",), beyond_float64, "integers are averaged in float64"),
    _fault(
        ("Asin",),
        of_dtype(0, "float32"),
        "some results are off by more than two units in the last place, where NumPy uses AVX-512",
    ),
)
"""The faults of the evaluator."""
