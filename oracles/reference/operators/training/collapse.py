"""The reference's sums that undo a broadcast."""

from dataclasses import replace

from relaxcheck.generators.core.program import Node
from relaxcheck.oracles.reference.attribute_values import integers
from relaxcheck.oracles.reference.averages import total
from relaxcheck.oracles.reference.estimate import Estimate
from relaxcheck.oracles.reference.evaluation import operator, same_dtype
from relaxcheck.oracles.reference.operators.movement import moved


@operator("collapse_sum_to")
def _collapse_sum_to(node: Node, operands: list[Estimate]) -> Estimate:
    return _collapsed(operands[0], integers(node, "shape"))


@operator("collapse_sum_like")
def _collapse_sum_like(node: Node, operands: list[Estimate]) -> Estimate:
    same_dtype(node, operands)
    return _collapsed(operands[0], operands[1].value.shape)


def _collapsed(data: Estimate, shape: tuple[int, ...]) -> Estimate:
    """The sums of ``data`` over the axes that broadcasting from ``shape`` repeats.

    Raises:
        ValueError: ``shape`` does not broadcast to that of ``data``.
    """
    sizes = data.value.shape
    more = len(sizes) - len(shape)
    wide = (1,) * more + shape
    if more < 0 or any(n not in (1, size) for n, size in zip(wide, sizes, strict=True)):
        raise ValueError(f"the shape {shape} does not broadcast to {sizes}")
    axes = tuple(at for at, size in enumerate(sizes) if wide[at] != size)
    summed = total(data, axes, keep=True) if axes else replace(data, signed=False)
    return moved(summed, lambda each: each.reshape(shape))
