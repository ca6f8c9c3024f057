"""Recurrent layers and cells: the family ``torch-rnn``."""

from random import Random

from relaxcheck.generators.core.axes import Axis, Point
from relaxcheck.generators.core.dims import Dim
from relaxcheck.generators.core.points import Given
from relaxcheck.generators.torch.graphs.drafting import BATCH, STATIC, Drafting
from relaxcheck.generators.torch.graphs.family import Drafted
from relaxcheck.generators.torch.graphs.layers.weighted import of_dtype
from relaxcheck.generators.torch.graphs.wire import Wire
from relaxcheck.generators.torch.running import PREFIX

NAME = f"{PREFIX}-rnn"

CELL, LAYERS, WAYS, BATCHING, PROJECTED = "cell", "layers", "ways", "batching", "projected"
BIAS, INITIAL, RETURNED = "bias", "initial", "returned"

WIDTH, HIDDEN, PROJECTION = 4, 3, 2
"""The sizes of what goes in, of the state, and of a projected state."""

_ONE_STEP = ("LSTMCell", "GRUCell", "RNNCell")

BATCH_FIRST, LENGTH_FIRST, UNBATCHED = "batch-first", "length-first", "unbatched"

OUTPUTS, LAST, STATES, ALL = "outputs", "last", "states", "all"


def _plain_in_cells(default: object) -> Given:
    """Cells are of one layer and one direction."""
    return Given((CELL,), lambda cell, value: cell not in _ONE_STEP or value == default)


OWN = (
    Axis(CELL, ("LSTM", "GRU", "RNN-tanh", "RNN-relu", *_ONE_STEP), "LSTM"),
    Axis(LAYERS, (1, 2, 3), 1, _plain_in_cells(1), default_weight=2),
    Axis(WAYS, ("forward", "bidirectional"), "forward", _plain_in_cells("forward")),
    Axis(
        BATCHING,
        (BATCH_FIRST, LENGTH_FIRST, UNBATCHED),
        BATCH_FIRST,
        Given((CELL,), lambda cell, value: cell not in _ONE_STEP or value != LENGTH_FIRST),
    ),
    Axis(
        PROJECTED,
        (False, True),
        False,
        Given((CELL,), lambda cell, value: not value or cell == "LSTM"),
        default_weight=2,
    ),
    Axis(BIAS, (True, False), True, default_weight=2),
    Axis(INITIAL, (False, True), False),
    Axis(RETURNED, (OUTPUTS, LAST, STATES, ALL), OUTPUTS, _plain_in_cells(OUTPUTS)),
)


def _make(draft: Drafting, point: Point, random: Random) -> None:
    if str(point[CELL]) in _ONE_STEP:
        _cell(draft, point)
    else:
        _layer(draft, point)


def _cell(draft: Drafting, point: Point) -> None:
    """One step, or two with the same weights."""
    kind = str(point[CELL])
    batch: tuple[Dim, ...] = () if point[BATCHING] == UNBATCHED else (draft.batch,)
    x = draft.data((*batch, WIDTH))
    bias = {} if point[BIAS] else {"bias": False}
    name = draft.layer(kind, WIDTH, HIDDEN, **bias, **of_dtype(x))
    state = (*batch, HIDDEN)
    count = 2 if kind == "LSTMCell" else 1
    results = ((state, x.dtype),) * count
    initial: list[object] = []
    if point[INITIAL]:
        states = [draft.data(state, name="h") for _ in range(count)]
        initial = [states if count == 2 else states[0]]
    first = draft.several(name, x, *initial, results=results)
    again = draft.several(name, x, list(first) if count == 2 else first[0], results=results)
    draft.give(*again)


def _layer(draft: Drafting, point: Point) -> None:
    kind, _, function = str(point[CELL]).partition("-")
    layers, ways = int(str(point[LAYERS])), 2 if point[WAYS] == "bidirectional" else 1
    batching = str(point[BATCHING])
    out = PROJECTION if point[PROJECTED] else HIDDEN
    keywords: dict[str, object] = {}
    if layers > 1:
        keywords["num_layers"] = layers
    if ways == 2:
        keywords["bidirectional"] = True
    if batching == BATCH_FIRST:
        keywords["batch_first"] = True
    if point[PROJECTED]:
        keywords["proj_size"] = PROJECTION
    if not point[BIAS]:
        keywords["bias"] = False
    if function == "relu":
        keywords["nonlinearity"] = "relu"
    outer: dict[str, tuple[Dim, ...]] = {
        BATCH_FIRST: (draft.batch, draft.length),
        LENGTH_FIRST: (draft.length, draft.batch),
        UNBATCHED: (draft.length,),
    }
    x = draft.data((*outer[batching], WIDTH))
    name = draft.layer(kind, WIDTH, HIDDEN, **keywords, **of_dtype(x))
    middle: tuple[Dim, ...] = () if batching == UNBATCHED else (draft.batch,)
    hidden = (layers * ways, *middle, out)
    memory = (layers * ways, *middle, HIDDEN)
    shapes = [hidden, memory] if kind == "LSTM" else [hidden]
    initial: list[object] = []
    if point[INITIAL]:
        states = [draft.data(shape, name="h") for shape in shapes]
        initial = [states if kind == "LSTM" else states[0]]
    outputs, *states_after = draft.several(
        name,
        x,
        *initial,
        results=[((*outer[batching], ways * out), x.dtype), *((s, x.dtype) for s in shapes)],
    )
    draft.give(*_returned(draft, str(point[RETURNED]), batching, outputs, states_after))


def _returned(
    draft: Drafting, wanted: str, batching: str, outputs: Wire, states: list[Wire]
) -> list[Wire]:
    match wanted:
        case "last":
            at = 1 if batching == BATCH_FIRST else 0
            return [
                draft.call(
                    "torch.select", outputs, at, -1, shape=outputs.replaced(at), gives=outputs.dtype
                )
            ]
        case "states":
            return states
        case "all":
            return [outputs, *states]
    return [outputs]


def recurrent(pipelines: tuple[str, ...]) -> Drafted:
    """The family of recurrent layers, compiled by ``pipelines``."""
    # Export unrolls the steps, so that their number is fixed.
    return Drafted(NAME, OWN, _make, pipelines, (STATIC, BATCH))
