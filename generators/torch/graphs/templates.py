"""The family of idioms: each variant of each template of control flow, state and attention."""

from collections.abc import Mapping
from random import Random

from relaxcheck.generators.core.axes import Axis, Point
from relaxcheck.generators.core.case import Value
from relaxcheck.generators.core.points import Given
from relaxcheck.generators.torch.graphs.drafting import Drafting
from relaxcheck.generators.torch.graphs.family import HOLDING, Drafted
from relaxcheck.generators.torch.graphs.idioms import control, written_out
from relaxcheck.generators.torch.graphs.idioms.idiom import Idiom
from relaxcheck.generators.torch.running import PREFIX

NAME = f"{PREFIX}-control"
IDIOM, VARIANT = "idiom", "variant"

IDIOMS: Mapping[str, Idiom] = {each.name: each for each in (*control.IDIOMS, *written_out.IDIOMS)}
"""Every idiom, by name."""

_VARIANTS = tuple(dict.fromkeys(name for each in IDIOMS.values() for name in each.variants))


def _varies(idiom: Value, value: Value) -> bool:
    return value in IDIOMS[str(idiom)].variants


OWN = (
    Axis(IDIOM, tuple(IDIOMS), next(iter(IDIOMS))),
    Axis(VARIANT, _VARIANTS, _VARIANTS[0], Given((IDIOM,), _varies)),
    HOLDING,
)


def _make(draft: Drafting, point: Point, random: Random) -> None:
    IDIOMS[str(point[IDIOM])].build(draft, str(point[VARIANT]))


def idioms(pipelines: tuple[str, ...]) -> Drafted:
    """The family of idioms, compiled by ``pipelines``."""
    return Drafted(NAME, OWN, _make, pipelines)
