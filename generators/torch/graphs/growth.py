"""Random graphs of 1 to 12 steps over a batch of sequences, of images or of vectors.

A seed decides the graph. Its last step is that of the axis ``focus``, on the last value that suits
it. The program returns the result of its last step and values that no node takes.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from random import Random

from hypothesis import strategies as st

from relaxcheck.generators.core.axes import Axis, Point
from relaxcheck.generators.core.case import AnyCase, Value
from relaxcheck.generators.core.dims import Dim, evaluate
from relaxcheck.generators.core.program import USUAL_REGIMES
from relaxcheck.generators.torch.case import TorchCase
from relaxcheck.generators.torch.graphs.drafting import (
    BATCH_SYMBOL,
    DIMS,
    LENGTH_SYMBOL,
    ROWS,
    STATIC,
    Drafting,
    bindings_of,
)
from relaxcheck.generators.torch.graphs.steps import STEPS
from relaxcheck.generators.torch.graphs.wire import Wire
from relaxcheck.generators.torch.program import BUFFER, CONSTANT, PARAMETER, uses
from relaxcheck.generators.torch.running import PREFIX, case_at, running_axes

NAME = f"{PREFIX}-graph"
START, LENGTH, FOCUS, DTYPE, SIZES, HELD = "start", "steps", "focus", "dtype", "dims", "held"

DTYPES = ("float32", "float16", "float64")
SIMPLEST = "relu"
MOST_ELEMENTS = 4000
"""The most elements of a value, at any binding."""
MOST_OUTPUTS = 4
_TRIES = 12

_STARTS = ("tokens", "matrix", "image", "vector", "places")


def _started(draft: Drafting, start: str) -> Wire:
    shapes: dict[str, tuple[Dim, ...]] = {
        "tokens": (draft.batch, draft.length, 8),
        "matrix": (draft.batch, 8),
        "image": (draft.batch, 4, 6, 6),
        "vector": (8,),
        "places": (draft.batch, 8),
    }
    return draft.data(shapes[start], "int64" if start == "places" else "")


@cache
def _suits(name: str, start: str, dims: str, dtype: str) -> bool:
    """True if the step suits the graph's input itself, so that it can always be the last."""
    draft = Drafting(dtype, dims=dims)
    return _placed(draft, name, [_started(draft, start)]) is not None


def _placed(draft: Drafting, name: str, wires: Sequence[Wire]) -> Wire | None:
    """The result of a step on the last of ``wires`` that suits it; None if none does."""
    for wire in reversed(wires):
        for seed in range(_TRIES):
            result = STEPS[name](draft, wire, Random(seed))
            if result is not None:
                return result
    return None


def _is_small(wire: Wire) -> bool:
    for row in ROWS:
        binding = dict(zip((BATCH_SYMBOL, LENGTH_SYMBOL), row, strict=True))
        count = 1
        for dim in wire.shape:
            count *= evaluate(dim, binding)
        if count > MOST_ELEMENTS:
            return False
    return True


def _grown(draft: Drafting, start: str, steps: int, focus: str, random: Random) -> None:
    wires = [_started(draft, start)]
    known = list(STEPS)
    while len(wires) < steps:
        small = [wire for wire in draft.wires.values() if _is_small(wire) and wire.rank < 6]
        recent = [wire for wire in wires if _is_small(wire)]
        wire = recent[-1] if random.random() < 0.7 else random.choice(small)
        made = STEPS[random.choice(known)](draft, wire, random)
        if made is not None:
            wires.append(made)
    last = _placed(draft, focus, [wire for wire in wires if _is_small(wire)])
    assert last is not None
    draft.give(*_returned(draft, last))


def _returned(draft: Drafting, last: Wire) -> tuple[Wire, ...]:
    """The last result, and the latest of those that no node takes."""
    taken = {name for node in draft.nodes for name in uses(node)}
    made = [name for node in draft.nodes for name in node.outputs if name in draft.wires]
    loose = [draft.wires[name] for name in made if name not in taken and name != last.name]
    return (last, *loose[::-1][: MOST_OUTPUTS - 1])


@dataclass(frozen=True)
class Graphs:
    """The family of random graphs, compiled by ``pipelines``."""

    pipelines: tuple[str, ...]

    @property
    def name(self) -> str:
        """``torch-graph``."""
        return NAME

    @cached_property
    def axes(self) -> tuple[Axis, ...]:
        """The graph's input, its steps, its last one, its dtype, and how it is run."""

        def fits(point: Point, value: Value) -> bool:
            start, dims, dtype = (point.get(name) for name in (START, SIZES, DTYPE))
            if start is None or dims is None or dtype is None:
                return True
            return _suits(str(value), str(start), str(dims), str(dtype))

        names = (SIMPLEST, *(name for name in STEPS if name != SIMPLEST))
        return (
            Axis(START, _STARTS, "tokens", default_weight=3),
            Axis(SIZES, DIMS, STATIC, default_weight=2),
            Axis(DTYPE, DTYPES, DTYPES[0], default_weight=4),
            Axis(LENGTH, (1, 2, 3, 4, 6, 8, 12), 1, least=(1,)),
            Axis(FOCUS, names, SIMPLEST, fits),
            Axis(HELD, (PARAMETER, BUFFER, CONSTANT), PARAMETER, default_weight=2),
            *running_axes(self.pipelines, USUAL_REGIMES),
        )

    def build(self, point: Point, seed: int) -> TorchCase:
        """The case at ``point`` whose graph and input values ``seed`` decides."""
        draft = Drafting(str(point[DTYPE]), str(point[HELD]), str(point[SIZES]))
        steps = int(str(point[LENGTH]))
        _grown(draft, str(point[START]), steps, str(point[FOCUS]), Random(seed))
        return case_at(NAME, point, seed, draft.program(), bindings_of(draft))

    @property
    def invalid(self) -> tuple[st.SearchStrategy[AnyCase], ...]:
        """None: PyTorch refuses an invalid program when it is exported, before TVM sees it."""
        return ()
