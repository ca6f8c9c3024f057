"""The steps of random graphs: each takes one value, and adds a node or a few.

None of them jumps: where a result could differ by more than rounding because an operand did, as
with ``Floor`` or ``Greater``, the operand is an input of the graph.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from random import Random

from relaxcheck.generators.core.dims import Dim
from relaxcheck.generators.core.fills.kinds import Below, Positive, Steps, Within
from relaxcheck.generators.core.polynomials import over, plus, times
from relaxcheck.generators.onnx.graphs.drafting import Drafting
from relaxcheck.generators.onnx.model import TensorValue


@dataclass(frozen=True, slots=True)
class Wire:
    """A value of the graph: of its dtype, or of truth values."""

    name: str
    shape: tuple[Dim, ...]

    @property
    def rank(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    def fixed(self) -> tuple[int, ...]:
        """The dimensions that are numbers."""
        return tuple(at for at, dim in enumerate(self.shape) if isinstance(dim, int))


Step = Callable[[Drafting, Wire, Random], Wire | None]
"""Add nodes that take a value: their result, None where the value does not suit."""

_UNARY = {
    "Relu": 1,
    "Tanh": 1,
    "Sigmoid": 1,
    "Neg": 1,
    "Abs": 1,
    "Identity": 1,
    "Softplus": 1,
    "Softsign": 1,
    "Erf": 9,
    "LeakyRelu": 1,
    "Elu": 1,
    "Selu": 1,
    "HardSigmoid": 1,
    "HardSwish": 14,
    "Gelu": 20,
    "Mish": 18,
    "Dropout": 7,
}
"""The operators of one operand, with the first opset."""

HIGHEST_RANK = 5


def _one(operator: str) -> Step:
    def step(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
        return Wire(draft.call(operator, wire.name), wire.shape)

    return step


def _two(operator: str) -> Step:
    def step(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
        shape = _row(wire, random)
        fill = Positive(1.0) if operator == "Div" else None
        other = draft.weight(shape, fill=fill)
        pair = (wire.name, other)
        if operator not in ("Div", "PRelu") and random.random() < 0.25:
            pair = (other, wire.name)
        return Wire(draft.call(operator, *pair), wire.shape)

    return step


def _row(wire: Wire, random: Random) -> tuple[int, ...]:
    """The shape of a constant that broadcasts: a scalar, or as many last dimensions as it may."""
    shape: list[int] = []
    for dim in reversed(wire.shape):
        if random.random() < 0.3:
            break
        shape.insert(0, dim if isinstance(dim, int) else 1)
    return tuple(shape)


def _itself(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    return Wire(draft.call("Mul", wire.name, wire.name), wire.shape)


def _power(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    return Wire(draft.call("Pow", wire.name, draft.number(random.choice((2, 3)))), wire.shape)


def _clip(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    return Wire(draft.clipped(wire.name, -0.5, 1.5), wire.shape)


def _root(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    squared = draft.call("Mul", wire.name, wire.name)
    return Wire(draft.call("Sqrt", draft.call("Add", squared, draft.number(1))), wire.shape)


def _softmax(operator: str) -> Step:
    def step(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
        if not wire.rank:
            return None
        # Before opset 13 it is over all dimensions from this one on.
        axis = wire.rank - 1 if draft.opset < 13 else random.randrange(-wire.rank, wire.rank)
        return Wire(draft.call(operator, wire.name, axis=axis), wire.shape)

    return step


def _matmul(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    if wire.rank < 2 or not isinstance(wire.shape[-1], int):
        return None
    columns = random.choice((8, 4, 6))
    weight = draft.weight((wire.shape[-1], columns), fill=Steps(8, 8))
    return Wire(draft.call("MatMul", wire.name, weight), (*wire.shape[:-1], columns))


def _gemm(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    if wire.rank < 1 or not isinstance(wire.shape[-1], int):
        return None
    name, size = wire.name, wire.shape[-1]
    if wire.rank != 2:
        name = draft.call("Reshape", name, draft.integers(-1, size))
    weight, bias = draft.weight((6, size), fill=Steps(8, 8)), draft.weight((6,))
    rows = times(*wire.shape[:-1])
    return Wire(draft.call("Gemm", name, weight, bias, transB=1), (rows, 6))


def _reduce(operator: str) -> Step:
    def step(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
        if not wire.rank:
            return None
        axis, keep = random.randrange(wire.rank), random.random() < 0.5
        counted = axis - wire.rank if draft.opset >= 11 and random.random() < 0.5 else axis
        result = draft.reduced(operator, wire.name, counted, keep=keep)
        one: tuple[Dim, ...] = (1,) if keep else ()
        return Wire(result, (*wire.shape[:axis], *one, *wire.shape[axis + 1 :]))

    return step


def _transpose(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    if not wire.rank:
        return None
    order = list(range(wire.rank))
    random.shuffle(order)
    turned = draft.call("Transpose", wire.name, perm=tuple(order))
    return Wire(turned, tuple(wire.shape[at] for at in order))


def _apart(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    """Reshape: the last dimension in two, as for heads."""
    last = wire.shape[-1] if wire.rank else 1
    if wire.rank not in (1, 2, 3, 4) or not isinstance(last, int) or last % 2 or not last:
        return None
    sizes = [0] * (wire.rank - 1) + [2, last // 2]
    if random.random() < 0.5:
        sizes[-1] = -1
    shaped = draft.call("Reshape", wire.name, draft.integers(*sizes))
    return Wire(shaped, (*wire.shape[:-1], 2, last // 2))


def _together(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    """Reshape: two neighbouring dimensions in one."""
    if wire.rank < 2:
        return None
    at = random.randrange(wire.rank - 1)
    merged = times(wire.shape[at], wire.shape[at + 1])
    shape = (*wire.shape[:at], merged, *wire.shape[at + 2 :])
    symbolic = [index for index, dim in enumerate(shape) if not isinstance(dim, int)]
    sizes = [0 if index < at else -1 if index == at else dim for index, dim in enumerate(shape)]
    if any(index > at for index in symbolic):
        # A zero stands for the dimension of the operand at the same place, which has moved.
        return None
    return Wire(draft.call("Reshape", wire.name, draft.integers(*map(int, sizes))), shape)


def _flatten(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    axis = random.randrange(wire.rank + 1)
    shape = (times(*wire.shape[:axis]), times(*wire.shape[axis:]))
    return Wire(draft.call("Flatten", wire.name, axis=axis), shape)


def _concat(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    if not wire.rank:
        return None
    axis = random.randrange(wire.rank)
    other = draft.call("Neg", wire.name)
    shape = (*wire.shape[:axis], times(2, wire.shape[axis]), *wire.shape[axis + 1 :])
    return Wire(draft.call("Concat", wire.name, other, axis=axis), shape)


def _split(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    places = [at for at in wire.fixed() if int(wire.shape[at]) > 1]
    if not places:
        return None
    axis = random.choice(places)
    size = int(wire.shape[axis])
    first, second = draft.split(wire.name, axis, size // 2, size - size // 2)
    kept, part = (first, size // 2) if random.random() < 0.5 else (second, size - size // 2)
    # A part of its own that nothing takes, or takes twice.
    return Wire(kept, (*wire.shape[:axis], part, *wire.shape[axis + 1 :]))


def _slice(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    places = [at for at in wire.fixed() if int(wire.shape[at]) > 1]
    if not places:
        return None
    axis = random.choice(places)
    size = int(wire.shape[axis])
    start, end, step, count = random.choice(
        (
            (1, 2**31 - 1, 1, size - 1),
            (0, -1, 1, size - 1),
            (-1, 2**31 - 1, 1, 1),
            (0, 1, 1, 1),
            (0, 2**31 - 1, 2, (size + 1) // 2),
            (-1, -(2**31), -1, size),
        )
    )
    if step != 1 and draft.opset < 10:
        start, end, step, count = 1, 2**31 - 1, 1, size - 1
    shape = (*wire.shape[:axis], count, *wire.shape[axis + 1 :])
    return Wire(draft.sliced(wire.name, axis, start, end, step), shape)


def _gather(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    places = [at for at in wire.fixed() if int(wire.shape[at]) > 0]
    if not places:
        return None
    axis = random.choice(places)
    size = int(wire.shape[axis])
    fill = Within(size) if draft.opset >= 11 else Below(size)
    shape = random.choice(((), (2,), (1, 2)))
    if wire.rank + len(shape) - 1 > HIGHEST_RANK:
        shape = ()
    index = draft.weight(shape, "int64", fill, "i")
    result = (*wire.shape[:axis], *shape, *wire.shape[axis + 1 :])
    return Wire(draft.call("Gather", wire.name, index, axis=axis), result)


def _unsqueeze(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    if wire.rank >= HIGHEST_RANK:
        return None
    axis = random.randrange(wire.rank + 1)
    return Wire(draft.unsqueezed(wire.name, axis), (*wire.shape[:axis], 1, *wire.shape[axis:]))


def _there_and_back(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    axis = random.randrange(wire.rank + 1)
    wide = draft.call("Relu", draft.unsqueezed(wire.name, axis))
    return Wire(draft.squeezed(wide, axis), wire.shape)


def _where(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    shape = _row(wire, random)
    condition = draft.weight(shape, "bool", name="m")
    pair = (wire.name, draft.number(random.choice((0, -1))))
    if random.random() < 0.5:
        pair = (pair[1], pair[0])
    return Wire(draft.call("Where", condition, *pair), wire.shape)


def _cast(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    other = "float32" if draft.dtype != "float32" else random.choice(("float64", "float16"))
    wide = draft.call("Tanh", draft.cast(wire.name, other))
    return Wire(draft.cast(wide, draft.dtype), wire.shape)


def _pad(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    if not wire.rank:
        return None
    axis = random.randrange(wire.rank)
    before, behind = random.choice(((1, 0), (0, 2), (1, 1)))
    pads = [0] * (2 * wire.rank)
    pads[axis], pads[axis + wire.rank] = before, behind
    size = plus(wire.shape[axis], before + behind)
    shape = (*wire.shape[:axis], size, *wire.shape[axis + 1 :])
    return Wire(draft.padded(wire.name, *pads), shape)


def _layer_norm(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    if not wire.rank or not isinstance(wire.shape[-1], int) or wire.shape[-1] < 2:
        return None
    scale, bias = draft.weight(wire.shape[-1:]), draft.weight(wire.shape[-1:])
    return Wire(draft.call("LayerNormalization", wire.name, scale, bias), wire.shape)


def _tile(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    if not wire.rank:
        return None
    axis = random.randrange(wire.rank)
    repeats = [2 if at == axis else 1 for at in range(wire.rank)]
    shape = (*wire.shape[:axis], times(2, wire.shape[axis]), *wire.shape[axis + 1 :])
    return Wire(draft.call("Tile", wire.name, draft.integers(*repeats)), shape)


def _expand(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    """Repeat along a new first dimension; ones leave the others as they are."""
    if wire.rank >= HIGHEST_RANK:
        return None
    wide = draft.call("Expand", wire.name, draft.integers(2, *(1,) * wire.rank))
    return Wire(wide, (2, *wire.shape))


def _residual(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    return Wire(draft.call("Add", draft.call("Tanh", wire.name), wire.name), wire.shape)


def _sum(operator: str) -> Step:
    def step(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
        first, second = draft.call("Neg", wire.name), draft.weight(_row(wire, random))
        return Wire(draft.call(operator, wire.name, first, second), wire.shape)

    return step


def _cumulative(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    if not wire.rank:
        return None
    axis = draft.integer(random.randrange(-wire.rank, wire.rank))
    exclusive = random.choice((None, 1))
    return Wire(draft.call("CumSum", wire.name, axis, exclusive=exclusive), wire.shape)


def _blocks(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    channels = wire.shape[1] if wire.rank == 4 else 1
    if not isinstance(channels, int) or channels % 4 or not channels:
        return None
    shape = (wire.shape[0], channels // 4, times(2, wire.shape[2]), times(2, wire.shape[3]))
    return Wire(draft.call("DepthToSpace", wire.name, blocksize=2), shape)


def _pooled(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    last = wire.shape[2:] if wire.rank == 4 else ()
    if not last or not all(isinstance(dim, int) and dim >= 2 for dim in last):
        return None
    operator = random.choice(("MaxPool", "AveragePool"))
    pooled = draft.call(operator, wire.name, kernel_shape=(2, 2), strides=(2, 2))
    return Wire(pooled, (*wire.shape[:2], *(over(dim, 2) for dim in last)))


def _convolved(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    channels = wire.shape[1] if wire.rank in (3, 4) else ""
    if not isinstance(channels, int) or not channels:
        return None
    count = wire.rank - 2
    weight = draft.weight((4, channels, *(3,) * count), fill=Steps(8, 8))
    result = draft.call("Conv", wire.name, weight, pads=(1,) * (2 * count))
    return Wire(result, (wire.shape[0], 4, *wire.shape[2:]))


def _filled(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    """Add what ``ConstantOfShape`` makes of the value's own shape."""
    value = TensorValue(draft.dtype, (1,), (0.5,))
    filled = draft.call("ConstantOfShape", draft.call("Shape", wire.name), value=value)
    return Wire(draft.call("Add", wire.name, filled), wire.shape)


STEPS: Mapping[str, tuple[int, Step]] = {
    **{name: (first, _one(name)) for name, first in _UNARY.items()},
    **{name: (7, _two(name)) for name in ("Add", "Sub", "Mul", "Div", "PRelu")},
    **{name: (8, _sum(name)) for name in ("Max", "Min", "Sum", "Mean")},
    **{name: (1, _softmax(name)) for name in ("Softmax", "LogSoftmax")},
    **{
        name: (1, _reduce(name))
        for name in ("ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin", "ReduceSumSquare")
    },
    "square": (7, _itself),
    "Pow": (7, _power),
    "Clip": (7, _clip),
    "Sqrt": (7, _root),
    "MatMul": (7, _matmul),
    "Gemm": (7, _gemm),
    "Transpose": (1, _transpose),
    "Reshape": (7, _apart),
    "merge": (7, _together),
    "Flatten": (9, _flatten),
    "Concat": (7, _concat),
    "Split": (7, _split),
    "Slice": (7, _slice),
    "Gather": (7, _gather),
    "Unsqueeze": (7, _unsqueeze),
    "Squeeze": (7, _there_and_back),
    "Where": (9, _where),
    "Cast": (9, _cast),
    "Pad": (7, _pad),
    "LayerNormalization": (17, _layer_norm),
    "Tile": (7, _tile),
    "Expand": (8, _expand),
    "residual": (7, _residual),
    "CumSum": (14, _cumulative),
    "DepthToSpace": (7, _blocks),
    "pool": (7, _pooled),
    "Conv": (7, _convolved),
    "ConstantOfShape": (9, _filled),
}
"""Every step by the name of its operator or its own, with the first opset that has it."""
