"""Random graphs of 1 to 12 steps over a batch of sequences, of images or of vectors.

A seed decides the graph. Its last step is that of the axis ``focus``, on the last value that suits
it. The program returns the result of its last step and values that no node takes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from random import Random

from relaxcheck.generators.core.axes import Axis, Point
from relaxcheck.generators.core.case import Value
from relaxcheck.generators.core.dims import Dim, evaluate
from relaxcheck.generators.torch.graphs import layers
from relaxcheck.generators.torch.graphs.drafting import (
    BATCH_SYMBOL,
    LENGTH_SYMBOL,
    ROWS,
    Drafting,
)
from relaxcheck.generators.torch.graphs.family import DTYPE, HOLDING, SIZES, Drafted
from relaxcheck.generators.torch.graphs.steps import STEPS
from relaxcheck.generators.torch.graphs.steps.step import Step
from relaxcheck.generators.torch.graphs.wire import Wire
from relaxcheck.generators.torch.program import uses
from relaxcheck.generators.torch.running import PREFIX

START, LENGTH, FOCUS = "start", "steps", "focus"

MOST_ELEMENTS = 4000
"""The most elements of a value that a further step takes, at any binding."""
MOST_OUTPUTS = 4
_TRIES = 12
_DRAWN = 2
_BATCH, _LENGTH = "batch", "length"

STARTS: Mapping[str, tuple[Dim, ...]] = {
    "tokens": (_BATCH, _LENGTH, 8),
    "matrix": (_BATCH, 8),
    "image": (_BATCH, 4, 6, 6),
    "vector": (8,),
    "places": (_BATCH, 8),
    "sequence": (_BATCH, 4, 8),
    "volume": (_BATCH, 2, 4, 4, 4),
}
"""The shapes of the graph's input, by the values of the axis ``start``; ``places`` are integers."""


@dataclass(frozen=True)
class Table:
    """The steps that a family grows its graphs of, and the inputs that it begins with."""

    name: str
    steps: Mapping[str, Step]
    starts: tuple[str, ...]
    simplest: str


GRAPH = Table(f"{PREFIX}-graph", STEPS, ("tokens", "matrix", "image", "vector", "places"), "relu")
LAYERS = Table(
    f"{PREFIX}-layers",
    layers.STEPS,
    ("tokens", "matrix", "image", "sequence", "volume"),
    "Linear",
)
TABLES: Mapping[str, Table] = {table.name: table for table in (GRAPH, LAYERS)}


def started(draft: Drafting, start: str) -> Wire:
    """The graph's input."""
    own = {_BATCH: draft.batch, _LENGTH: draft.length}
    shape = [own.get(str(dim), dim) for dim in STARTS[start]]
    return draft.data(shape, "int64" if start == "places" else "")


@cache
def _suits(table: str, name: str, start: str, dims: str, dtype: str) -> bool:
    """True if the step suits the graph's input itself, so that it can always be the last."""
    draft = Drafting(dtype, dims=dims)
    return _placed(draft, TABLES[table].steps[name], [started(draft, start)]) is not None


def _placed(
    draft: Drafting, step: Step, wires: Sequence[Wire], random: Random | None = None
) -> Wire | None:
    """The result of ``step`` on the last of ``wires`` that suits it; None if none does.

    ``random`` draws its variant; without it, and where no variant that it draws suits, the same few
    seeds are tried each time.
    """
    for wire in reversed(wires):
        drawn = [random.getrandbits(32) for _ in range(_DRAWN)] if random is not None else []
        for seed in (*drawn, *range(_TRIES)):
            result = step(draft, wire, Random(seed))
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


def _grown(draft: Drafting, table: Table, point: Point, random: Random) -> None:
    wires = [started(draft, str(point[START]))]
    known = list(table.steps.values())
    while len(wires) < int(str(point[LENGTH])):
        small = [wire for wire in draft.wires.values() if _is_small(wire)]
        recent = [wire for wire in wires if _is_small(wire)]
        wire = recent[-1] if random.random() < 0.7 else random.choice(small)
        made = random.choice(known)(draft, wire, random)
        if made is not None:
            wires.append(made)
    step = table.steps[str(point[FOCUS])]
    last = _placed(draft, step, [wire for wire in wires if _is_small(wire)], random)
    assert last is not None
    draft.give(*_returned(draft, last))


def _returned(draft: Drafting, last: Wire) -> tuple[Wire, ...]:
    """The last result, and the latest of those that no node takes."""
    taken = {name for node in draft.nodes for name in uses(node)}
    made = [name for node in draft.nodes for name in node.outputs if name in draft.wires]
    loose = [draft.wires[name] for name in made if name not in taken and name != last.name]
    return (last, *loose[::-1][: MOST_OUTPUTS - 1])


def graphs(table: Table, pipelines: tuple[str, ...]) -> Drafted:
    """The family of random graphs of the steps of ``table``, compiled by ``pipelines``."""

    def fits(point: Point, value: Value) -> bool:
        start, dims, dtype = (point.get(name) for name in (START, SIZES, DTYPE))
        if start is None or dims is None or dtype is None:
            return True
        return _suits(table.name, str(value), str(start), str(dims), str(dtype))

    def make(draft: Drafting, point: Point, random: Random) -> None:
        _grown(draft, table, point, random)

    names = (table.simplest, *(name for name in table.steps if name != table.simplest))
    own = (
        Axis(START, table.starts, table.starts[0], default_weight=2),
        Axis(LENGTH, (1, 2, 3, 4, 6, 8, 12), 1, least=(1,)),
        Axis(FOCUS, names, table.simplest, fits),
    )
    return Drafted(table.name, (*own, HOLDING), make, pipelines)
