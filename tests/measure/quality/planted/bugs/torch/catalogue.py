"""All plants in the importer of exported PyTorch programs."""

from tests.measure.quality.planted.bugs.torch import attributes, operands
from tests.measure.quality.planted.misreading import Planted

PLANTS: tuple[Planted, ...] = (*attributes.PLANTS, *operands.PLANTS)


def named(name: str) -> Planted:
    """The plant ``name``.

    Raises:
        KeyError: there is none.
    """
    return {plant.name: plant for plant in PLANTS}[name]
