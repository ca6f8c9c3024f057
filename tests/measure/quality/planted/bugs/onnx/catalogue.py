"""All plants in the importer of ONNX models."""

from tests.measure.quality.planted.bugs.onnx import attributes, inputs
from tests.measure.quality.planted.conversion import Misconversion

PLANTS: tuple[Misconversion, ...] = (*attributes.PLANTS, *inputs.PLANTS)


def named(name: str) -> Misconversion:
    """The plant ``name``.

    Raises:
        KeyError: there is none.
    """
    return {plant.name: plant for plant in PLANTS}[name]
