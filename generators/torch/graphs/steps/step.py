"""A step of a random graph."""

from collections.abc import Callable
from random import Random

from relaxcheck.generators.torch.graphs.drafting import Drafting
from relaxcheck.generators.torch.graphs.wire import Wire

Step = Callable[[Drafting, Wire, Random], Wire | None]
"""Add nodes that take a value: their result, None where the value does not suit."""

FUNCTIONAL = "torch.nn.functional"
METHOD = "torch.Tensor"


def counted(axis: int, rank: int, random: Random) -> int:
    """``axis`` of ``rank``, counted from the end in half of the draws."""
    return axis - rank if random.random() < 0.5 else axis
