"""Random graphs of 1 to 8 steps over a batch of sequences, of images or of vectors.

A seed decides the graph. Its last step is that of the axis ``focus``, on the last value that suits
it. The model returns every value that no node takes.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from random import Random

from hypothesis import strategies as st

from relaxcheck.generators.core.axes import Axis, Point
from relaxcheck.generators.core.case import AnyCase, Value
from relaxcheck.generators.core.dims import Dim
from relaxcheck.generators.core.program import USUAL_REGIMES
from relaxcheck.generators.onnx.case import OnnxCase
from relaxcheck.generators.onnx.graphs.drafting import Drafting, bindings_of
from relaxcheck.generators.onnx.graphs.steps import STEPS
from relaxcheck.generators.onnx.graphs.steps.wire import Wire
from relaxcheck.generators.onnx.model import INITIALIZER, NODE
from relaxcheck.generators.onnx.running import PREFIX, case_at, running_axes
from relaxcheck.generators.onnx.sketch import ALL, BATCH, DIMS, HELD, OPSET, STATIC

NAME = f"{PREFIX}-graph"
START, LENGTH, FOCUS, DTYPE = "start", "steps", "focus", "dtype"

OPSETS = (18, 21, 13, 11, 9)
DTYPES = ("float32", "float16", "float64")
SIMPLEST = "Relu"
_TRIES = 8

_STARTS = ("tokens", "matrix", "image", "vector")


def _shape(draft: Drafting, start: str) -> tuple[Dim, ...]:
    shapes: dict[str, tuple[Dim, ...]] = {
        "tokens": (draft.batch, draft.length, 8),
        "matrix": (draft.batch, 8),
        "image": (draft.batch, 4, 6, 6),
        "vector": (8,),
    }
    return shapes[start]


def _started(draft: Drafting, start: str) -> Wire:
    shape = _shape(draft, start)
    return Wire(draft.data("x", shape), shape)


@cache
def _suits(name: str, opset: int, start: str, dims: str) -> bool:
    """True if the step suits the graph's input itself, so that it can always be the last."""
    first, _ = STEPS[name]
    draft = Drafting(opset, dims=dims)
    return opset >= first and _placed(draft, name, [_started(draft, start)]) is not None


def _placed(draft: Drafting, name: str, wires: Sequence[Wire]) -> Wire | None:
    """The result of a step on the last of ``wires`` that suits it; None if none does."""
    for wire in reversed(wires):
        for seed in range(_TRIES):
            result = STEPS[name][1](draft, wire, Random(seed))
            if result is not None:
                return result
    return None


def _grown(draft: Drafting, start: str, steps: int, focus: str, random: Random) -> None:
    wires = [_started(draft, start)]
    known = [name for name, (first, _) in STEPS.items() if draft.opset >= first]
    while len(wires) < steps:
        wire = wires[-1] if random.random() < 0.7 else random.choice(wires)
        made = STEPS[random.choice(known)][1](draft, wire, random)
        if made is not None:
            wires.append(made)
    last = _placed(draft, focus, wires)
    assert last is not None
    taken = {name for node in draft.nodes for name in node.inputs}
    draft.outputs = [wire.name for wire in (*wires[1:], last) if wire.name not in taken]


@dataclass(frozen=True)
class Graphs:
    """The family of random graphs, compiled by ``pipelines``."""

    pipelines: tuple[str, ...]

    @property
    def name(self) -> str:
        """``onnx-graph``."""
        return NAME

    @cached_property
    def axes(self) -> tuple[Axis, ...]:
        """The opset, the graph's input, its steps, its last one, and how it is run."""

        def fits(point: Point, value: Value) -> bool:
            opset, start, dims = (point.get(name) for name in (OPSET, START, DIMS))
            if not isinstance(opset, int) or start is None or dims is None:
                return True
            return _suits(str(value), opset, str(start), str(dims))

        names = (SIMPLEST, *(name for name in STEPS if name != SIMPLEST))
        return (
            Axis(OPSET, OPSETS, OPSETS[0]),
            Axis(START, _STARTS, "tokens", default_weight=3),
            Axis(DIMS, (ALL, BATCH, STATIC), STATIC),
            Axis(LENGTH, (1, 2, 3, 4, 6, 8), 1, least=(1,)),
            Axis(FOCUS, names, SIMPLEST, fits),
            Axis(DTYPE, DTYPES, DTYPES[0], default_weight=4),
            Axis(HELD, (INITIALIZER, NODE), INITIALIZER, default_weight=2),
            *running_axes(self.pipelines, USUAL_REGIMES),
        )

    def build(self, point: Point, seed: int) -> OnnxCase:
        """The case at ``point`` whose graph and input values ``seed`` decides."""
        draft = Drafting(
            int(str(point[OPSET])), str(point[DTYPE]), str(point[HELD]), str(point[DIMS])
        )
        steps = int(str(point[LENGTH]))
        _grown(draft, str(point[START]), steps, str(point[FOCUS]), Random(seed))
        return case_at(NAME, point, seed, draft.model(), bindings_of(draft))

    @property
    def invalid(self) -> tuple[st.SearchStrategy[AnyCase], ...]:
        """None: the graphs are valid."""
        return ()
