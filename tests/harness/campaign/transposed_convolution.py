"""The family that campaigns draw from in tests."""

from relaxcheck.generators.families import family
from relaxcheck.harness.compiling.pipelines import PIPELINES

MEMBER = family("conv1d_transpose", tuple(PIPELINES))
