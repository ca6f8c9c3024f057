"""The reference's quantization: monotone in the quotient, so that its ends bound the result."""

from dataclasses import replace

import numpy as np

from relaxcheck.generators.core.program import Node
from relaxcheck.oracles.answer import Array
from relaxcheck.oracles.reference import bounds
from relaxcheck.oracles.reference.attribute_values import integer, text
from relaxcheck.oracles.reference.bounds import unconstrain
from relaxcheck.oracles.reference.estimate import FORMATS, Estimate
from relaxcheck.oracles.reference.evaluation import operator
from relaxcheck.oracles.reference.operators.movement import moved


def _along(node: Node, parameter: Estimate, data: Estimate) -> Estimate:
    """A scale or zero point in a shape that broadcasts to that of ``data``."""
    rank = data.value.ndim
    axis = integer(node, "axis", -1)
    if not -rank <= axis < rank:
        raise ValueError(f"axis {axis} of {rank} axes")
    if parameter.value.size == 1:
        return moved(parameter, lambda each: each.reshape(()))
    if parameter.value.shape != (data.value.shape[axis],):
        raise ValueError(f"{parameter.value.shape} numbers for {data.value.shape[axis]} places")
    to = [-1 if at == axis % rank else 1 for at in range(rank)]
    return moved(parameter, lambda each: each.reshape(to))


@operator("quantize")
def _quantize(node: Node, operands: list[Estimate]) -> Estimate:
    """Ties go to even; a quotient that is off may round to a neighbour."""
    data, dtype = operands[0], text(node, "out_dtype", "int8")
    scale, zero = (_along(node, each, data) for each in operands[1:])
    if scale.dtype not in FORMATS or zero.dtype in FORMATS:
        raise ValueError(f"a scale of {scale.dtype} and a zero point of {zero.dtype}")
    info = np.iinfo(dtype)
    if not data.value.size:
        return Estimate(np.zeros(data.value.shape, np.int64), np.zeros(data.value.shape), dtype)
    infinite = np.isinf(data.value)
    large = 4.0 * float(info.max)
    finite = replace(data, value=np.where(infinite, 0, data.value))
    quotient = bounds.divided(finite, scale, data.dtype)
    # Beyond the range of the dtype a quotient is beyond that of the integers too.
    sizes = np.abs(finite.value) / np.maximum(np.abs(scale.value), np.longdouble(2) ** -140)
    beyond = (infinite | (np.isinf(quotient.error) & (sizes > large))) & (scale.value > 0)
    sign = np.sign(np.where(infinite, np.sign(data.value), finite.value))
    value = np.where(beyond, sign * large, quotient.value)
    error = np.where(beyond, 0.0, quotient.error)
    unsure = np.isnan(data.value) | np.isinf(error) | ~np.isfinite(scale.value)
    error = np.where(unsure, 0.0, error)

    def clipped(each: Array) -> Array:
        # float16 has no zero point added to numbers above 2048 exactly: both ends are clipped.
        low, high = info.min - 2.0 * info.max, 4.0 * info.max
        whole = np.rint(np.clip(each, low, high)).astype(np.int64) + zero.value
        result: Array = np.clip(whole, info.min, info.max)
        return result

    middle, low, high = (clipped(value + side * error) for side in (0, -1, 1))
    off = np.maximum(high - middle, middle - low).astype(np.float64)
    if data.dtype == "float16" and info.max > 2048:
        # Sums of integers beyond 11 bits round.
        off = off + np.abs(middle) * FORMATS["float16"].unit * 2
    return unconstrain(Estimate(middle, off, dtype), unsure)


@operator("dequantize")
def _dequantize(node: Node, operands: list[Estimate]) -> Estimate:
    data, dtype = operands[0], text(node, "out_dtype", "float32")
    scale, zero = (_along(node, each, data) for each in operands[1:])
    if scale.dtype not in FORMATS:
        raise ValueError(f"a scale of {scale.dtype}")
    difference = (data.value - zero.value).astype(np.longdouble)
    whole = Estimate(difference, np.broadcast_to(data.error, difference.shape), "float32")
    product = bounds.multiplied(whole, scale, "float32")
    if dtype == "float32":
        return product
    half = bounds.cast(product, dtype)
    # It is clipped to the range of float16, or not.
    over = ~(np.abs(product.value) <= FORMATS[dtype].largest)
    return unconstrain(half, over)
