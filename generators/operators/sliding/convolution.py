"""Convolution over one and three spatial axes, in the default layouts."""

from collections.abc import Sequence

from relaxcheck.generators.core.axes import Axis, Point
from relaxcheck.generators.core.dims import Dim, symbols
from relaxcheck.generators.core.draft import Draft, Unfit, Value
from relaxcheck.generators.core.operand import FitsDims
from relaxcheck.generators.core.points import integer, toggle
from relaxcheck.generators.core.polynomials import over
from relaxcheck.generators.operators.faults import (
    PLAIN,
    RANKS,
    argument_dtype,
    argument_grown,
    attribute_is,
)
from relaxcheck.generators.operators.record import (
    Apply,
    Attribute,
    Numerics,
    Operand,
    Operator,
    Window,
)
from relaxcheck.generators.operators.sliding.windows import (
    FAMILIAR_KERNEL,
    along,
    places,
    spatial_fits,
    window_axes,
)

_SPATIAL = {1: "W", 3: "DHW"}


def _convolution(name: str, rank: int) -> Apply:
    def apply(draft: Draft, value: Value, point: Point) -> None:
        channels, groups = value.shape[1], integer(point, "groups")
        draft.require(channels, 1)
        if groups > 1 and symbols(channels):
            raise Unfit("groups of a symbolic number of channels")
        wide = groups * integer(point, "out_channels_per_group")
        kernel = draft.operand(
            (wide, over(channels, groups), *along(point, "kernel", rank)),
            value.dtype,
            constant=bool(point["kernel_constant"]),
        )
        draft.call(
            name,
            [value, kernel],
            (value.shape[0], wide, *places(draft, value, point, rank)),
            strides=along(point, "stride", rank),
            padding=along(point, "pad_begin", rank) + along(point, "pad_end", rank),
            dilation=along(point, "dilation", rank),
            groups=groups,
        )

    return apply


def _has_groups(shape: Sequence[Dim], groups: int) -> bool:
    channels = shape[1]
    return groups == 1 or (not symbols(channels) and int(channels) % groups == 0)


def _record(rank: int) -> Operator:
    name, spatial = f"nn.conv{rank}d", _SPATIAL[rank]
    return Operator(
        name,
        meaning="Sums of products of a window of each group's channels with a kernel; "
        "(size + pads - dilation * (kernel - 1) - 1) // stride + 1 places along each axis.",
        source=f"docstring of relax.op.{name}; torch.nn.functional.conv{rank}d",
        operands=(Operand("data", ranks=(rank + 2,)), Operand("weight", ranks=(rank + 2,))),
        attributes=(
            Attribute("strides", "ints", 1),
            Attribute("padding", "ints", 0),
            Attribute("dilation", "ints", 1),
            Attribute("groups", "int", 1),
            Attribute("data_layout", "layout", f"NC{spatial}"),
            Attribute("kernel_layout", "layout", f"OI{spatial}"),
            Attribute("out_layout", "layout", None),
            Attribute("out_dtype", "dtype", None),
        ),
        axes=(
            Axis("groups", (1, 2, 3, 4), 1, FitsDims(_has_groups), default_weight=2),
            Axis("out_channels_per_group", (2, 1, 3), 2),
            *window_axes(
                rank,
                kernels=(2, 1, 3),
                strides=(1, 2, 5),
                dilations=(1, 2),
                pads=(0, 1, 2),
                familiar=FAMILIAR_KERNEL,
            ),
            toggle("kernel_constant"),
        ),
        apply=_convolution(name, rank),
        numerics=Numerics.ACCUMULATES,
        requires="a place for the window; groups that divide the channels",
        operand_fits=spatial_fits,
        window=Window(FAMILIAR_KERNEL, spatial),
        faults=(
            attribute_is("strides-zero", name, "strides", (0,) * rank, ("stride",)),
            # A dilation of 0 is left out: TVM computes what it would mean.
            attribute_is("strides-length", name, "strides", (1,) * (rank + 1), ("stride",)),
            attribute_is("dilation-length", name, "dilation", (1,) * (rank + 1)),
            attribute_is("padding-length", name, "padding", (0,) * 5, ("pads",)),
            attribute_is("groups-zero", name, "groups", 0),
            attribute_is("groups-do-not-divide", name, "groups", 7, ("channel",), PLAIN),
            attribute_is("layout-unknown", name, "data_layout", f"NX{spatial}", RANKS),
            argument_grown(
                name,
                1,
                axis=1,
                kind="channels-differ",
                names=("channel",),
                pinned={"groups": 1, "kernel_constant": False},
            ),
            argument_dtype(name, 1, "float64", pinned={"kernel_constant": False}),
        ),
    )


OPERATORS = tuple(_record(rank) for rank in _SPATIAL)
