"""The family of the idioms of exporters: each variant of each template."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from hypothesis import strategies as st

from relaxcheck.generators.core.axes import Axis, Point
from relaxcheck.generators.core.case import AnyCase, Value
from relaxcheck.generators.core.points import Given
from relaxcheck.generators.core.program import USUAL_REGIMES
from relaxcheck.generators.onnx.case import OnnxCase
from relaxcheck.generators.onnx.graphs.drafting import Drafting, bindings_of
from relaxcheck.generators.onnx.graphs.growth import DTYPE, DTYPES, OPSETS
from relaxcheck.generators.onnx.graphs.idioms import layers, shapes, structures
from relaxcheck.generators.onnx.graphs.idioms.idiom import Idiom
from relaxcheck.generators.onnx.model import INITIALIZER, NODE
from relaxcheck.generators.onnx.running import PREFIX, case_at, running_axes
from relaxcheck.generators.onnx.sketch import ALL, BATCH, DIMS, HELD, OPSET, STATIC

NAME = f"{PREFIX}-idioms"
IDIOM, VARIANT = "idiom", "variant"

IDIOMS: Mapping[str, Idiom] = {
    each.name: each for each in (*shapes.IDIOMS, *layers.IDIOMS, *structures.IDIOMS)
}
"""Every idiom, by name."""


def _since(opset: Value, value: Value) -> bool:
    return isinstance(opset, int) and opset >= IDIOMS[str(value)].since


def _varies(idiom: Value, value: Value) -> bool:
    return value in IDIOMS[str(idiom)].variants


@dataclass(frozen=True)
class Idioms:
    """The family of idioms, compiled by ``pipelines``."""

    pipelines: tuple[str, ...]

    @property
    def name(self) -> str:
        """``onnx-idioms``."""
        return NAME

    @cached_property
    def axes(self) -> tuple[Axis, ...]:
        """The opset, the template and its variant, the tensors' ways, and how it is run."""
        variants = tuple(dict.fromkeys(name for each in IDIOMS.values() for name in each.variants))
        return (
            Axis(OPSET, OPSETS, OPSETS[0]),
            Axis(IDIOM, tuple(IDIOMS), next(iter(IDIOMS)), Given((OPSET,), _since)),
            Axis(VARIANT, variants, variants[0], Given((IDIOM,), _varies)),
            Axis(DIMS, (ALL, BATCH, STATIC), ALL),
            Axis(DTYPE, DTYPES, DTYPES[0], default_weight=4),
            Axis(HELD, (INITIALIZER, NODE), INITIALIZER),
            *running_axes(self.pipelines, USUAL_REGIMES),
        )

    def build(self, point: Point, seed: int) -> OnnxCase:
        """The case at ``point``, its input values drawn from ``seed``."""
        draft = Drafting(
            int(str(point[OPSET])), str(point[DTYPE]), str(point[HELD]), str(point[DIMS])
        )
        IDIOMS[str(point[IDIOM])].build(draft, str(point[VARIANT]))
        return case_at(NAME, point, seed, draft.model(), bindings_of(draft))

    @property
    def invalid(self) -> tuple[st.SearchStrategy[AnyCase], ...]:
        """None: the templates are valid."""
        return ()
