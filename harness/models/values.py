"""The framework's values of the steps of a model."""

from collections.abc import Mapping
from dataclasses import dataclass

from relaxcheck.generators.core.values import Array


@dataclass(frozen=True, slots=True)
class Values:
    """Values by name: of every step in a run, or of the outputs.

    ``own`` are the framework's, in the dtypes of the model. ``double`` are in float64 where the
    framework computes in a narrower one: those of a step, alone, from its ``own`` operands. A name
    that ``double`` lacks could not be computed in float64.
    """

    own: Mapping[str, Array]
    double: Mapping[str, Array]
