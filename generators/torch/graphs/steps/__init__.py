"""The steps of random graphs: each takes one value, and adds a node or a few."""

from collections.abc import Mapping

from relaxcheck.generators.torch.graphs.steps import (
    elementwise,
    indexing,
    movement,
    pairs,
    places,
    products,
    reductions,
    sizes,
)
from relaxcheck.generators.torch.graphs.steps.step import Step

STEPS: Mapping[str, Step] = {
    **elementwise.STEPS,
    **pairs.STEPS,
    **reductions.STEPS,
    **movement.STEPS,
    **indexing.STEPS,
    **places.STEPS,
    **products.STEPS,
    **sizes.STEPS,
}
"""Every step, by name."""
