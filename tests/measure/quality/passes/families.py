"""The families whose cases apply passes, and whole graphs: a campaign over them all."""

from relaxcheck.generators.core.axes import Family
from relaxcheck.generators.families import every
from relaxcheck.generators.graphs.whole.family import NAME as GRAPHS
from relaxcheck.generators.passes.family import ORDERS, is_of_passes
from relaxcheck.harness.compiling.pipelines import PIPELINES

CAMPAIGN = "passes"
"""The name of that campaign, for the place of a case in it."""


def families() -> tuple[Family, ...]:
    """Every ``pass-…``, ``passes`` and ``graphs``, as ``relaxcheck fuzz`` draws from them."""
    known = every(tuple(PIPELINES))
    return tuple(each for each in known if is_of_passes(each.name) or each.name == GRAPHS)


def families_for(family: str) -> tuple[Family, ...]:
    """Those whose cases surely apply the pass of ``family``, or may: it, orders, and graphs."""
    return tuple(each for each in families() if each.name in (family, ORDERS, GRAPHS))
