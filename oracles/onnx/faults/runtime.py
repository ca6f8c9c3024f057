"""Faults of ONNX Runtime."""

import numpy as np

from relaxcheck.oracles.onnx.faults.fault import (
    Fault,
    Holds,
    Seen,
    beyond_float64,
    beyond_integers,
    dilated,
    has_zero,
    of_dtype,
    shifted,
    wild,
)

_RUNTIME = "onnxruntime"

_PLANE = 2
"""The number of spatial axes of an image."""

_REDUCTIONS = (
    *("ArgMax", "ArgMin", "ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax"),
    *("ReduceMean", "ReduceMin", "ReduceProd", "ReduceSum", "ReduceSumSquare"),
)


def _fault(operators: tuple[str, ...], holds: Holds, evidence: str) -> Fault:
    return Fault(_RUNTIME, operators, holds, evidence)


def _scalar(seen: Seen) -> bool:
    operand = seen.operand(0)
    return operand is not None and operand.value.ndim == 0


def _empty(seen: Seen) -> bool:
    """A reduction of a tensor without elements, along an axis counted from the last."""
    return 0 in seen.shape(0) and _counts_back(seen)


def _counts_back(seen: Seen) -> bool:
    """Some axis, of an attribute or of the second operand, is negative."""
    stated = seen.attribute("axes") or ()
    operand = seen.operand(1)
    if operand is not None:
        stated = operand.value.ravel().tolist()
    return any(axis < 0 for axis in (*stated, seen.attribute("axis") or 0))


def _nothing_summed(seen: Seen) -> bool:
    """The axis summed over has no elements, beside a third operand that is scaled."""
    shape, axis = seen.shape(0), 0 if seen.attribute("transA") else 1
    return len(shape) == 2 and shape[axis] == 0 and seen.has(2) and seen.attribute("beta") != 1


_SMALL = {
    **dict.fromkeys(("Einsum", "ReduceSum", "ReduceL1"), 2.0**24),
    "ReduceSumSquare": 2.0**10,
    "ReduceProd": 8.0,
}
"""Up to this size, integers are reduced to ones that floating-point numbers hold, if not many."""


def _beyond_floats(seen: Seen) -> bool:
    """Integers whose reduction may not be a floating-point number."""
    operand = seen.operand(0)
    if operand is None or operand.dtype not in ("int32", "int64"):
        return False
    least = _SMALL[seen.node.operator]
    return bool((np.abs(operand.value.astype(np.longdouble)) > least).any())


_LOWEST = -2.0
"""The operand below which ONNX Runtime's sigmoid is off, and 0 further down."""


def _far_below(seen: Seen) -> bool:
    operand = seen.operand(0)
    if operand is None or operand.dtype not in ("float16", "float32"):
        return False
    return bool((operand.value < _LOWEST).any())


def _unbounded(seen: Seen) -> bool:
    return wild(0)(seen) and not (seen.has(1) and seen.has(2))


_LARGE = 1000.0


def _large(seen: Seen) -> bool:
    operand = seen.operand(0)
    return operand is not None and bool((np.abs(operand.value) > _LARGE).any())


def _negative_zero(seen: Seen, at: int) -> bool:
    operand = seen.operand(at)
    if operand is None or operand.value.dtype.kind != "f":
        return False
    return bool(((operand.value == 0) & np.signbit(operand.value)).any())


def _has_negative_infinity(seen: Seen) -> bool:
    operand = seen.operand(0)
    return operand is not None and bool(np.isneginf(operand.value.astype(np.float64)).any())


def _unpooled_to_another(seen: Seen) -> bool:
    """The stated output is of another shape than the tensor that was pooled."""
    operand, data, taps = seen.operand(2), seen.operand(0), seen.attribute("kernel_shape")
    if operand is None or data is None:
        return False
    rank = len(taps)
    strides = seen.attribute("strides") or (1,) * rank
    pads = seen.attribute("pads") or (0,) * (2 * rank)
    inferred = [
        (size - 1) * stride + tap - before - after
        for size, stride, tap, before, after in zip(
            data.value.shape[2:], strides, taps, pads[:rank], pads[rank:], strict=True
        )
    ]
    return bool(operand.value.tolist()[2:] != inferred)


def _no_keys(seen: Seen) -> bool:
    """A mask of truth values, with the lengths, leaves some query of float64 no keys."""
    mask, lengths = seen.operand(3), seen.operand(6)
    if mask is None or mask.dtype != "bool" or seen.dtype(0) != "float64":
        return False
    kept = mask.value.astype(bool)
    if lengths is not None:
        places = np.arange(kept.shape[-1])
        kept = kept & (places < lengths.value.astype(np.int64).reshape(-1, 1, 1, 1))
    return not bool(kept.any(-1).all())


def _masked_scores(seen: Seen) -> bool:
    outputs = seen.node.outputs
    shown = len(outputs) > 3 and bool(outputs[3])
    return shown and (bool(seen.attribute("is_causal")) or seen.has(3) or seen.has(6))


def _overflows(seen: Seen) -> bool:
    operand = seen.operand(0)
    return seen.dtype(0) == "float64" and operand is not None and bool((operand.value > 700).any())


def _blocks_beyond_integers(seen: Seen) -> bool:
    return bool(seen.attribute("block_size")) and beyond_integers(seen)


def _has_nothing(seen: Seen) -> bool:
    return any(operand is None or operand.value.size == 0 for operand in seen.operands)


FAULTS = (
    _fault(("NonZero",), _scalar, "of a scalar it gives an axis, where ONNX has none"),
    _fault(
        ("MatMul", "MatMulInteger"),
        has_zero(0, -1),
        "a sum of no products is whatever lies in memory",
    ),
    _fault(("QLinearMatMul",), has_zero(0, -1), "a sum of no products is whatever lies in memory"),
    _fault(("Gemm",), _nothing_summed, "beta is ignored where there is nothing to sum"),
    _fault(
        ("AveragePool", "LpPool", "MaxPool"),
        dilated("SAME"),
        "auto_pad does not regard dilations",
    ),
    _fault(_REDUCTIONS, _empty, "negative axes of a tensor without elements are not reduced"),
    _fault(
        ("Cast",),
        lambda seen: seen.dtype(0) == "float64" and seen.attribute("to") in (10, 16),
        "float64 is rounded to float32 first",
    ),
    _fault(
        ("CastLike",),
        lambda seen: seen.dtype(0) == "float64" and seen.dtype(1) in ("float16", "bfloat16"),
        "float64 is rounded to float32 first",
    ),
    _fault(("Shrink",), of_dtype(0, "float64"), "float64 is computed in float32"),
    _fault(
        ("Col2Im",),
        lambda seen: (
            len(seen.attribute("dilations") or ()) > _PLANE
            and any(each > 1 for each in seen.attribute("dilations"))
        ),
        "dilations of three axes are mixed up",
    ),
    _fault(
        ("Attention",),
        lambda seen: bool(seen.attribute("is_causal")) and seen.has(4),
        "the causal mask does not regard the keys of the past",
    ),
    _fault(
        ("Sigmoid", "Sin", "Cos"),
        of_dtype(0, "float64"),
        "float64 is off by several units in the last place",
    ),
    _fault(("Resize",), shifted, "an axis that keeps its size is left as it is"),
    _fault(
        ("Resize", "Upsample"),
        lambda seen: seen.attribute("mode") in ("linear", "cubic") and wild(0)(seen),
        "elements of other rows, with weight 0, take part: NaN and infinities spread",
    ),
    _fault(("ReduceMean",), beyond_float64, "integers are averaged in float64"),
    _fault(
        ("Asin", "Acos"),
        of_dtype(0, "float32"),
        "some results are off by more than two units in the last place",
    ),
    _fault(("Sigmoid",), _far_below, "far below 0 the result is off, and 0 in the end"),
    _fault(("Clip",), _unbounded, "infinities become the largest number where there is no bound"),
    _fault(
        ("LRN",),
        _large,
        "sums of squares are kept up to date by differences, which cancel",
    ),
    _fault(
        ("Resize",),
        lambda seen: (
            seen.attribute("keep_aspect_ratio_policy") not in (None, "stretch")
            and any(axis < 0 for axis in seen.attribute("axes") or ())
        ),
        "with a policy for the aspect ratio, negative axes are not resized",
    ),
    _fault(
        ("Where",),
        lambda seen: _negative_zero(seen, 1) or _negative_zero(seen, 2),
        "elements are added to zeros, so that -0 becomes 0",
    ),
    _fault(
        ("DFT",),
        lambda seen: seen.dtype(0) == "float64" and bool(seen.attribute("inverse")),
        "the length of an inverse transform divides in float32",
    ),
    _fault(
        tuple(_SMALL),
        _beyond_floats,
        "integers are reduced as floating-point numbers",
    ),
    _fault(
        ("Attention",),
        _masked_scores,
        "masked scores are the lowest number, not -infinity",
    ),
    _fault(("Softplus",), _overflows, "the exponential of a large float64 overflows"),
    _fault(
        ("QuantizeLinear",),
        _blocks_beyond_integers,
        "of blocks, a quotient beyond 32 bits is not saturated",
    ),
    _fault(
        ("Cast",),
        lambda seen: seen.dtype(0) == "float32" and seen.attribute("to") == 10,
        "a cast that an operator without float16 undoes is left out, and with it the rounding",
    ),
    _fault(
        ("Shrink",),
        lambda seen: seen.dtype(0) in ("int32", "int64", "uint32", "uint64"),
        "integers are computed as floating-point numbers",
    ),
    _fault(
        ("SplitToSequence",),
        lambda seen: seen.attribute("keepdims") == 0 and seen.has(1),
        "keepdims is regarded beside a split, which says that it is not to be",
    ),
    _fault(("Einsum",), _has_nothing, "it divides by the size of an operand without elements"),
    _fault(("Attention",), _no_keys, "of float64, a query that is left no keys has NaN"),
    _fault(
        ("MaxPool", "GlobalMaxPool"),
        _has_negative_infinity,
        "the largest of -infinity alone is the lowest finite number",
    ),
    _fault(
        ("MaxUnpool",),
        _unpooled_to_another,
        "indices are taken for places in the stated output, not in the tensor that was pooled",
    ),
)
"""The faults of ONNX Runtime."""
