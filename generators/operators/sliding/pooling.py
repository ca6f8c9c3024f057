"""Pooling: the largest element or the mean of windows."""

from relaxcheck.generators.core import program
from relaxcheck.generators.core.axes import Axis, Point
from relaxcheck.generators.core.draft import Draft, Value
from relaxcheck.generators.core.faults import Fault
from relaxcheck.generators.core.points import text
from relaxcheck.generators.operators.faults import RANKS, attribute_is
from relaxcheck.generators.operators.record import (
    Apply,
    Attribute,
    Numerics,
    Operand,
    Operator,
    Window,
)
from relaxcheck.generators.operators.sliding.windows import (
    FAMILIAR_POOL,
    along,
    places,
    spatial_fits,
    window_axes,
)

_LAYOUTS = {1: "NCW", 2: "NCHW", 3: "NCDHW"}

_FLAT_SIZES = ("2, 3", "1, 1", "3, 2", "5, 4", "4, 5", None)
_DEEP_SIZES = ("1, 2, 3", "1, 1, 1", "2, 3, 2", "3, 5, 4", "2, 4, 5", None)
"""Output sizes over up to two axes and over three: of windows of several lengths, and more windows
than elements."""


def _pool(name: str, rank: int) -> Apply:
    def apply(draft: Draft, value: Value, point: Point) -> None:
        for dim in value.shape[2:]:
            draft.require(dim, 1)
        attributes: dict[str, program.Attribute] = {
            "pool_size": along(point, "kernel", rank),
            "strides": along(point, "stride", rank),
            "padding": along(point, "pad_begin", rank) + along(point, "pad_end", rank),
            "dilation": along(point, "dilation", rank),
        }
        if point.get("count_include_pad") is not None:
            attributes["count_include_pad"] = point["count_include_pad"]
        draft.call(
            name, [value], (*value.shape[:2], *places(draft, value, point, rank)), **attributes
        )

    return apply


def _adaptive(name: str, rank: int) -> Apply:
    def apply(draft: Draft, value: Value, point: Point) -> None:
        for dim in value.shape[2:]:
            draft.require(dim, 1)
        if point["output_size"] is None:
            draft.call(name, [value], value.shape)
            return
        out = tuple(int(part) for part in text(point, "output_size").split(", "))[:rank]
        draft.call(name, [value], (*value.shape[:2], *out), output_size=out)

    return apply


def _attributes(rank: int, include: bool) -> tuple[Attribute, ...]:
    return (
        Attribute("pool_size", "ints", 1),
        Attribute("strides", "ints", 1),
        Attribute("padding", "ints", 0),
        Attribute("dilation", "ints", 1),
        Attribute("ceil_mode", "bool", False),
        Attribute("count_include_pad", "bool", include),
        Attribute("layout", "layout", _LAYOUTS[rank]),
        Attribute("out_layout", "layout", None),
    )


def _faults(name: str, rank: int) -> tuple[Fault, ...]:
    # A dilation of 0 is left out: TVM computes what it would mean, and only convention refuses it.
    return (
        *(
            attribute_is(f"{each}-zero", name, each, (0,) * rank, _NAMES[each])
            for each in ("pool_size", "strides")
        ),
        *(
            attribute_is(f"{each}-length", name, each, (1,) * (rank + 1), _NAMES[each])
            for each in ("pool_size", "strides", "dilation")
        ),
        # No rank has a list of five: there are 1, r or 2r.
        attribute_is("padding-length", name, "padding", (0,) * 5, _NAMES["padding"]),
        attribute_is("layout-unknown", name, "layout", f"NX{_LAYOUTS[rank][2:]}", RANKS),
    )


_NAMES = {
    "pool_size": ("pool size", "window", "kernel"),
    "strides": ("stride",),
    "dilation": ("dilation",),
    "padding": ("padding", "pads"),
}


def _window(rank: int) -> Window:
    return Window(FAMILIAR_POOL, _LAYOUTS[rank][2:], data_layout="layout", attribute="pool_size")


def _max(rank: int) -> Operator:
    name = f"nn.max_pool{rank}d"
    return Operator(
        name,
        meaning="The largest element of each window; padding is below everything.",
        source=f"docstring of relax.op.{name}; MEANINGS.md, Convolution, pooling, interpolation",
        operands=(Operand("data", ranks=(rank + 2,)),),
        attributes=_attributes(rank, False),
        axes=tuple(
            window_axes(
                rank,
                kernels=(2, 1, 3),
                strides=(1, 2, 3),
                dilations=(1, 2),
                pads=(0, 1),
                familiar=FAMILIAR_POOL,
                half=True,
            )
        ),
        apply=_pool(name, rank),
        numerics=Numerics.COPIES,
        requires="a place for the window; padding of at most half a window",
        operand_fits=spatial_fits,
        window=_window(rank),
        faults=_faults(name, rank),
    )


def _average(rank: int) -> Operator:
    name = f"nn.avg_pool{rank}d"
    return Operator(
        name,
        meaning="The mean of each window, over all its places or over those that hold data.",
        source=f"docstring of relax.op.{name}; MEANINGS.md, Convolution, pooling, interpolation",
        operands=(Operand("data", ranks=(rank + 2,)),),
        attributes=_attributes(rank, rank != 2),
        axes=(
            *window_axes(
                rank,
                kernels=(2, 1, 3),
                strides=(1, 2, 3),
                dilations=(1,),
                pads=(0, 1),
                familiar=FAMILIAR_POOL,
                half=True,
            ),
            Axis("count_include_pad", (None, True, False), None),
        ),
        apply=_pool(name, rank),
        numerics=Numerics.ACCUMULATES,
        requires="a place for the window; padding of at most half a window",
        operand_fits=spatial_fits,
        window=_window(rank),
        faults=_faults(name, rank),
    )


def _adaptive_average(rank: int) -> Operator:
    name, sizes = f"nn.adaptive_avg_pool{rank}d", _DEEP_SIZES if rank == 3 else _FLAT_SIZES
    return Operator(
        name,
        meaning="Means of output_size windows an axis: place i of n holds elements floor(i * size "
        "/ n) to ceil((i + 1) * size / n), exclusive.",
        source=f"docstring of relax.op.{name}; torch.nn.AdaptiveAvgPool{rank}d",
        operands=(Operand("data", ranks=(rank + 2,)),),
        attributes=(
            Attribute("output_size", "ints", None),
            Attribute("layout", "layout", _LAYOUTS[rank]),
            Attribute("out_layout", "layout", None),
        ),
        axes=(Axis("output_size", sizes, sizes[0]),),
        apply=_adaptive(name, rank),
        numerics=Numerics.ACCUMULATES,
        requires="an element along each spatial axis",
        operand_fits=spatial_fits,
        faults=(
            attribute_is("size-length", name, "output_size", (2,) * (rank + 1), ("output size",)),
            attribute_is("layout-unknown", name, "layout", f"NX{_LAYOUTS[rank][2:]}", RANKS),
        ),
    )


OPERATORS = tuple(
    record(rank) for record in (_max, _average, _adaptive_average) for rank in _LAYOUTS
)
