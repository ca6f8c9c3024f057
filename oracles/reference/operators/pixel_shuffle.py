"""The reference's ``nn.pixel_shuffle``: two axes are taken out of the channels and put inside."""

from relaxcheck.generators.core.program import Node
from relaxcheck.oracles.answer import Array
from relaxcheck.oracles.reference.attribute_values import integer
from relaxcheck.oracles.reference.estimate import Estimate
from relaxcheck.oracles.reference.evaluation import operator
from relaxcheck.oracles.reference.operators.movement import moved


@operator("nn.pixel_shuffle")
def _pixel_shuffle(node: Node, operands: list[Estimate]) -> Estimate:
    """Shapes: (..., C * r * r, H, W) becomes (..., C, H * r, W * r). Raises ``ValueError``."""
    (data,) = operands
    factor = integer(node, "upscale_factor")
    if factor < 1:
        raise ValueError(f"{node.operator}: upscale_factor {factor} is below 1")
    if data.value.ndim < 3:
        raise ValueError(f"{node.operator}: a tensor of rank {data.value.ndim} has no channels")
    *front, channels, height, width = data.value.shape
    inner, rest = divmod(channels, factor**2)
    if rest:
        raise ValueError(f"{node.operator}: {factor}**2 does not divide {channels} channels")

    def shuffled(each: Array) -> Array:
        split = each.reshape(*front, inner, factor, factor, height, width)
        # The axes become: channel, height, its offset, width, its offset.
        woven = split.transpose(*range(len(front)), *(len(front) + at for at in (0, 3, 1, 4, 2)))
        return woven.reshape(*front, inner, height * factor, width * factor)

    return moved(data, shuffled)
