"""Pixel shuffle: channels become a finer image."""

from collections.abc import Sequence

from relaxcheck.generators.core.axes import Axis, Point
from relaxcheck.generators.core.dims import Dim, symbols
from relaxcheck.generators.core.draft import Draft, Unfit, Value
from relaxcheck.generators.core.faults import Fault, with_shape
from relaxcheck.generators.core.operand import DTYPE, RANK, Fits, divides, facts
from relaxcheck.generators.core.points import Given, bindings, first_then, integer, text, toggle
from relaxcheck.generators.core.polynomials import over, times
from relaxcheck.generators.core.program import Program
from relaxcheck.generators.operators.faults import RANKS, attribute_is
from relaxcheck.generators.operators.record import (
    Attribute,
    Numerics,
    Operand,
    Operator,
    OwnOperand,
)
from relaxcheck.generators.operators.shape import DTYPES

_NAME = "nn.pixel_shuffle"
_FACTOR = "upscale_factor"
_DATA = "data"

_RANKS = (4, 3, 5)

_FRAMES = 3
"""The axis before the batch, in rank 5."""

# Each axis has a default of its own, so that swapped axes show.
_SIZES = {
    "batch": (2, 1, 3, 7, 0),
    "channels": (3, 1, 2, 5),
    "h": (4, 1, 2, 7, 0),
    "w": (5, 1, 2, 17),
}
"""Sizes of the data, but ``channels`` counts those of the result."""

_SYMBOLS = {"batch": "B", "channels": "C", "h": "H", "w": "W"}

_GROWTH = {"h": (0, 2, 0, 1, 3), "w": (0, 1, 4, 3, 0)}
_MULTIPLES = (1, 2, 1, 3, 2)
"""Later bindings add to a size, and multiply the channels."""


def _size(point: Point, name: str) -> int:
    """The size along the axis ``name`` of the data."""
    if name == "channels":
        return integer(point, _FACTOR) ** 2 * integer(point, name)
    return integer(point, name if name == "batch" else f"size.{name}")


def _start(draft: Draft, point: Point) -> Value:
    """An input whose channels are a multiple of the square of the factor."""
    shape: list[Dim] = [
        _SYMBOLS[name] if point[f"symbolic.{name}"] else _size(point, name) for name in _SIZES
    ]
    rank = integer(point, RANK)
    front = (_FRAMES,) * (rank - len(shape))
    return draft.input((*front, *shape[-rank:]), text(point, DTYPE), name=_DATA)


def _bindings(point: Point) -> tuple[dict[str, int], ...]:
    columns: dict[str, Sequence[int]] = {}
    for name, symbol in _SYMBOLS.items():
        if not point[f"symbolic.{name}"]:
            continue
        size = _size(point, name)
        if name == "channels":
            columns[symbol] = [size * factor for factor in _MULTIPLES]
        elif name == "batch":
            columns[symbol] = first_then(size, _SIZES["batch"])
        else:
            columns[symbol] = [size + growth for growth in _GROWTH[name]]
    return bindings(columns)


def _described(data: Value) -> Point:
    """A graph's value as data: its last three axes are channels, height and width.

    Raises:
        Unfit: it has another rank or dtype, or channels that are symbolic.
    """
    if data.rank not in _RANKS or data.dtype not in DTYPES:
        raise Unfit(f"{_NAME} takes no {data.dtype} of rank {data.rank}")
    if symbols(data.shape[-3]):
        # TVM crashes, which can be declared along the family's axes and not along a graph's.
        raise Unfit("the number of channels is symbolic")
    return facts(data.shape, data.dtype)


def _pixel_shuffle(draft: Draft, data: Value, point: Point) -> None:
    factor = integer(point, _FACTOR)
    *front, channels, height, width = data.shape
    draft.require(channels, 0, factor**2)
    shape = (*front, over(channels, factor**2), times(factor, height), times(factor, width))
    draft.call(_NAME, [data], shape, upscale_factor=factor)


def _axes() -> tuple[Axis, ...]:
    return (
        Axis(RANK, _RANKS, 4),
        Axis(DTYPE, DTYPES, "float32", default_weight=4),
        Axis(_FACTOR, (2, 1, 3), 2, Fits(lambda shape, r: divides(r * r, shape[-3])), least=(1,)),
        Axis(
            "batch",
            _SIZES["batch"],
            2,
            Given((RANK,), lambda rank, size: rank > 3 or size == 2),
            least=(1,),
        ),
        Axis("channels", _SIZES["channels"], 3, least=(1,)),
        Axis("size.h", _SIZES["h"], 4, least=(1,)),
        Axis("size.w", _SIZES["w"], 5, least=(1,)),
        toggle("symbolic.batch", Given((RANK,), lambda rank, _: rank > 3)),
        *(toggle(f"symbolic.{name}") for name in ("channels", "h", "w")),
    )


def _one_channel_more(program: Program, _: Point) -> Program:
    def change(shape: list[Dim]) -> list[Dim]:
        *front, channels, height, width = shape
        if not isinstance(channels, int):
            raise ValueError(f"the channels {channels!r} are symbolic")
        return [*front, channels + 1, height, width]

    return with_shape(program, _DATA, change)


def _without_channels(program: Program, _: Point) -> Program:
    return with_shape(program, _DATA, lambda shape: shape[-2:])


OPERATORS = (
    Operator(
        _NAME,
        meaning="Element (h, w) of channel c is that of channel (c * r + h % r) * r + w % r at "
        "(h // r, w // r), where r is upscale_factor; axes in front stay.",
        source="docstrings of relax.op.nn.pixel_shuffle and topi.nn.pixel_shuffle; "
        "torch.nn.functional.pixel_shuffle; ONNX DepthToSpace (CRD)",
        operands=(Operand(_DATA, ranks=_RANKS, dtypes=DTYPES),),
        attributes=(Attribute(_FACTOR, "int"),),
        axes=_axes(),
        apply=_pixel_shuffle,
        numerics=Numerics.COPIES,
        requires="channels that the square of upscale_factor divides",
        faults=(
            attribute_is("factor-zero", _NAME, _FACTOR, 0),
            attribute_is("factor-negative", _NAME, _FACTOR, -1),
            Fault(
                "channels-do-not-divide",
                ("channel", _FACTOR),
                _one_channel_more,
                {_FACTOR: 2, "symbolic.channels": False},
            ),
            Fault("data-rank", (*RANKS, "3D"), _without_channels, {"symbolic.channels": False}),
        ),
        own=OwnOperand(
            frozenset(
                (
                    *(RANK, DTYPE, "batch", "channels", "size.h", "size.w"),
                    *(f"symbolic.{name}" for name in _SYMBOLS),
                )
            ),
            start=_start,
            bindings=_bindings,
            describe=_described,
        ),
    ),
)
