"""The layers of ``torch.nn`` as steps of random graphs."""

from collections.abc import Mapping

from relaxcheck.generators.torch.graphs.layers import (
    activations,
    normalizations,
    shapes,
    weighted,
    windows,
)
from relaxcheck.generators.torch.graphs.steps.step import Step

STEPS: Mapping[str, Step] = {
    **weighted.STEPS,
    **normalizations.STEPS,
    **activations.STEPS,
    **windows.STEPS,
    **shapes.STEPS,
}
"""Every layer, by the name of its class or a name of its own."""
