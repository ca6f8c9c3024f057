"""All plants, by subject."""

from tests.measure.quality.passes import plants as own
from tests.measure.quality.planted.bugs import (
    arguments,
    around,
    attention,
    conv_transpose,
    dtypes,
    elementary,
    elementwise,
    functions,
    gradients,
    indices,
    layouts,
    movement,
    normalization,
    passes,
    reductions,
    relations,
    stages,
    training,
    var_len,
    windows,
)
from tests.measure.quality.planted.bugs.runtime import bytes_and_maps, calls, tensors
from tests.measure.quality.planted.bugs.vision import detection, images
from tests.measure.quality.planted.plant import Plant

PLANTS: tuple[Plant, ...] = (
    *conv_transpose.PLANTS,
    *layouts.PLANTS,
    *attention.PLANTS,
    *var_len.PLANTS,
    *arguments.PLANTS,
    *dtypes.PLANTS,
    *around.PLANTS,
    *stages.PLANTS,
    *elementwise.PLANTS,
    *functions.PLANTS,
    *elementary.PLANTS,
    *reductions.PLANTS,
    *normalization.PLANTS,
    *movement.PLANTS,
    *images.PLANTS,
    *bytes_and_maps.PLANTS,
    *indices.PLANTS,
    *tensors.PLANTS,
    *detection.PLANTS,
    *windows.PLANTS,
    *training.PLANTS,
    *gradients.PLANTS,
    *calls.PLANTS,
)


def named(name: str) -> Plant:
    """The plant ``name``; of a relation or of a pass as well, which have campaigns of their own.

    Raises:
        KeyError: there is none.
    """
    everywhere = (*PLANTS, *relations.PLANTS, *passes.PLANTS, *own.PLANTS)
    return {plant.name: plant for plant in everywhere}[name]
