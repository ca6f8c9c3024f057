"""Steps that compute: element by element, in products, sums, windows and normalizations."""

from collections.abc import Mapping
from random import Random

from relaxcheck.generators.core.dims import Dim
from relaxcheck.generators.core.fills.kinds import Positive, Steps
from relaxcheck.generators.core.polynomials import over, times
from relaxcheck.generators.onnx.graphs.drafting import Drafting
from relaxcheck.generators.onnx.graphs.steps.wire import Step, Wire
from relaxcheck.generators.onnx.model import TensorValue

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


def _layer_norm(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    if not wire.rank or not isinstance(wire.shape[-1], int) or wire.shape[-1] < 2:
        return None
    scale, bias = draft.weight(wire.shape[-1:]), draft.weight(wire.shape[-1:])
    return Wire(draft.call("LayerNormalization", wire.name, scale, bias), wire.shape)


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


VALUES: Mapping[str, tuple[int, Step]] = {
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
    "Where": (9, _where),
    "Cast": (9, _cast),
    "LayerNormalization": (17, _layer_norm),
    "residual": (7, _residual),
    "CumSum": (14, _cumulative),
    "pool": (7, _pooled),
    "Conv": (7, _convolved),
    "ConstantOfShape": (9, _filled),
}
"""The steps by the name of their operator or their own, with the first opset that has it."""
