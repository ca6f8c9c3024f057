"""Convolution over two spatial axes: every layout, groups, dilation and out_dtype."""

from itertools import permutations
from math import lcm

from relaxcheck.generators.core import program
from relaxcheck.generators.core.axes import Axis, Point
from relaxcheck.generators.core.dims import Dim
from relaxcheck.generators.core.draft import Draft, Unfit, Value
from relaxcheck.generators.core.layouts import (
    FACTORS,
    data_layouts,
    familiar_data_layouts,
    familiar_kernel_layouts,
    kind,
    packing,
    parts,
    shape,
)
from relaxcheck.generators.core.points import Every, Given, integer, text, toggle
from relaxcheck.generators.core.polynomials import minus, over, plus, times
from relaxcheck.generators.operators.record import (
    Attribute,
    Numerics,
    Operand,
    Operator,
    OwnOperand,
    Window,
)
from relaxcheck.generators.operators.sliding.convolution_faults import faults
from relaxcheck.generators.operators.sliding.convolution_sizes import (
    BATCHES,
    bindings_of,
    data_extents,
    outputs,
    reach,
    symbol_stands_alone,
    weight_extents,
    window,
)
from relaxcheck.generators.operators.sliding.windows import FAMILIAR_KERNEL

NAME = "nn.conv2d"
SPATIAL = "HW"

DATA_IN_USE = familiar_data_layouts(SPATIAL)
KERNELS_IN_USE = familiar_kernel_layouts(SPATIAL, "OI")

FLOATS = ("float32", "float16", "float64", "bfloat16")
OPERANDS = (*FLOATS, "int8", "uint8", "int16")
DTYPES = (
    *(*FLOATS, "float16->float32", "bfloat16->float32", "float32->float64"),
    *("int8->int32", "uint8->int32", "int16->int32"),
)
GROUPS = (1, 2, 3, 4, 8)
CHANNELS = (1, 2, 3, 4, 8)
SIZES = (1, 2, 3, 4, 5, 7, 8)
KERNELS = (1, 2, 3, 5)
# Different for each axis, so that swapped axes show.
SIZE_DEFAULTS = {"H": 5, "W": 4}
KERNEL_DEFAULTS = {"H": 2, "W": 3}
PADDINGS = (0, 1, 2, 3)

_SPAN = 2 * PADDINGS[-1] + 1
"""The longest window: with all its padding it has a place on a single element."""

_MULTIPLY_ADDS = 100_000
"""A spatial size above 1 is not allowed where extents multiply to more than this."""

MEANING = """\
Output element o of each spatial axis sums over channels of its group and taps k the data at
o * stride + k * dilation - pad_begin times the kernel; data outside count as zeros. There are
(size + pads - dilation * (kernel - 1) - 1) // stride + 1 such elements. Both operands are cast to
out_dtype, in which products are summed; packed layouts split an axis."""


def kernel_layouts() -> tuple[str, ...]:
    """Every order of O, I, H and W, then those packed in O, in I and in both."""
    base = "OI" + SPATIAL
    orders = ("".join(order) for order in permutations(base))
    packed = (f"{base}{factor}{letter}" for factor in FACTORS for letter in "oi")
    both = (f"{base}{factor}i{factor}o" for factor in FACTORS)
    return (*orders, *packed, *both, f"{base}2i4o", f"{base}4o4i", f"IO{SPATIAL}4i4o")


def _start(draft: Draft, point: Point) -> Value:
    """The data: an input, or what ``data`` says is made of one."""
    dtype = text(point, "dtype").partition("->")[0]
    wanted = shape(text(point, "data_layout"), data_extents(SPATIAL, point))
    match point["data"]:
        case "relu":
            source = draft.input(wanted, dtype, name="x")
            return draft.call("nn.relu", [source], wanted, dtype, "data")
        case "permute_dims":
            axes = tuple(reversed(range(len(wanted))))
            source = draft.input(wanted[::-1], dtype, name="x")
            return draft.call("permute_dims", [source], wanted, dtype, "data", axes=axes)
    return draft.input(wanted, dtype, name="data")


def _described(data: Value) -> Point:
    """A graph's value as data in the default layout; its channels form one group."""
    if data.rank != 4 or data.dtype not in FLOATS:
        raise Unfit("no data of two spatial axes")
    channels = data.shape[1]
    if not isinstance(channels, int) or not channels:
        raise Unfit("the number of channels is symbolic, or 0")
    return {
        "dtype": data.dtype,
        "data_layout": "NCHW",
        "kernel_layout": "OIHW",
        "out_layout": None,
        "groups": 1,
        "in_channels_per_group": channels,
        "symbolic.in_channels": False,
        "data": "variable",
        "result": "bare",
    }


def _apply(draft: Draft, data: Value, point: Point) -> None:
    out_dtype = text(point, "dtype").partition("->")[2]
    weight = draft.input(
        shape(text(point, "kernel_layout"), weight_extents(SPATIAL, point)),
        data.dtype,
        constant=point["weight"] == "constant",
        name="weight",
    )
    result, dtype = _result(draft, data, point), out_dtype or data.dtype
    attributes = _attributes(point, out_dtype)
    convolved = draft.call(NAME, [data, weight], result, dtype, "convolved", **attributes)
    if point["result"] == "relu":
        draft.call("nn.relu", [convolved], result, dtype, "rectified")


def _result(draft: Draft, data: Value, point: Point) -> tuple[Dim, ...]:
    """The shape of the output."""
    sizes: dict[str, Dim] = {}
    for (letter, _), dim in zip(parts(text(point, "data_layout")), data.shape, strict=True):
        sizes[letter] = times(sizes.get(letter, 1), dim)
    for letter in SPATIAL:
        kernel, stride, dilation, begin, end = window(point, letter)
        free = minus(plus(sizes[letter], begin + end), reach(kernel, dilation))
        draft.require(sizes[letter], 1)
        draft.require(free)
        sizes[letter] = plus(over(free, stride), 1)
    sizes["C"] = outputs(point).dim(1)
    layout = text(point, "data_layout" if point["out_layout"] is None else "out_layout")
    draft.require(weight_extents(SPATIAL, point)["I"].dim(1), 1)
    draft.require(sizes["C"], 1, lcm(integer(point, "groups"), packing(layout, "C")))
    return tuple(
        factor or over(sizes[letter], packing(layout, letter)) for letter, factor in parts(layout)
    )


def _attributes(point: Point, out_dtype: str) -> dict[str, program.Attribute]:
    windows = [window(point, letter) for letter in SPATIAL]
    _, strides, dilation, begin, end = zip(*windows, strict=True)
    attributes: dict[str, program.Attribute] = {
        "strides": strides,
        "padding": begin if begin == end else begin + end,
        "dilation": dilation,
        "groups": integer(point, "groups"),
        "data_layout": text(point, "data_layout"),
        "kernel_layout": text(point, "kernel_layout"),
    }
    if point["out_layout"] is not None:
        attributes["out_layout"] = point["out_layout"]
    if out_dtype:
        attributes["out_dtype"] = out_dtype
    return attributes


def _layout_axis(
    name: str, values: tuple[str | None, ...], familiar: tuple[str, ...] = DATA_IN_USE
) -> Axis:
    # A fifth of all draws keep each layout at its default: most others meet the same faults.
    return Axis(
        name,
        values,
        values[0],
        default_weight=(len(values) - 1) // 4,
        cell=lambda value: kind(None if value is None else str(value), SPATIAL),
        # Packed channels are more than one.
        least=(values[0],),
        familiar=familiar,
    )


def _fills(groups: int, layout: str, channels: int) -> bool:
    """All channels fill whole inner dimensions of ``layout``."""
    return groups * channels % packing(layout, "C") == 0


def _axes() -> tuple[Axis, ...]:
    layouts = data_layouts(SPATIAL)
    of_data = Given(("groups", "data_layout"), _fills)
    of_kernel = Given(
        ("kernel_layout",), lambda layout, channels: channels % packing(layout, "I") == 0
    )
    of_result = Given(
        ("groups", "data_layout", "out_layout"),
        lambda groups, data, out, channels: _fills(groups, out or data, channels),
    )
    of_outputs = Given(
        ("groups", "kernel_layout"),
        lambda groups, layout, channels: groups * channels % packing(layout, "O") == 0,
    )
    run_time = Given(("weight",), lambda weight, _: weight == "variable")
    run_time_channels = Given(
        ("weight", "groups", "data_layout", "kernel_layout"),
        lambda weight, groups, data, kernel, _: (
            weight == "variable" and symbol_stands_alone(groups, data, kernel)
        ),
    )
    axes = [
        _layout_axis("data_layout", layouts),
        _layout_axis("kernel_layout", kernel_layouts(), KERNELS_IN_USE),
        _layout_axis("out_layout", (None, *layouts)),
        Axis("dtype", DTYPES, "float32"),
        Axis("groups", GROUPS, 1, least=(1,)),
        Axis("in_channels_per_group", CHANNELS, 2, Every((of_data, of_kernel)), least=(1,)),
        Axis("out_channels_per_group", CHANNELS, 3, Every((of_outputs, of_result)), least=(1,)),
        Axis("batch", BATCHES, 2, least=(1,)),
        toggle("symbolic.batch"),
    ]
    for letter in SPATIAL:
        axes += _spatial_axes(letter, [axis.name for axis in axes])
    return (
        *axes,
        Axis("weight", ("variable", "constant"), "variable"),
        toggle("symbolic.in_channels", run_time_channels),
        toggle("symbolic.out_channels", run_time),
        Axis("data", ("variable", "relu", "permute_dims"), "variable"),
        Axis("result", ("bare", "relu"), "bare"),
    )


def _spatial_axes(letter: str, earlier: list[str]) -> list[Axis]:
    at, most = letter.lower(), PADDINGS[-1]
    kernel, stride, dilation, size, begin, end = (
        f"{name}.{at}" for name in ("kernel", "stride", "dilation", "size", "pad_begin", "pad_end")
    )
    factors = [
        name
        for name in earlier
        if name.partition(".")[0] in ("kernel", "size")
        or name in ("groups", "in_channels_per_group", "out_channels_per_group", "batch")
    ]

    def affordable(*values: int) -> bool:
        product = 1
        for value in values:
            product *= max(value, 1)
        return values[-1] == 1 or product <= _MULTIPLY_ADDS

    return [
        Axis(kernel, KERNELS, KERNEL_DEFAULTS[letter], least=(1,), familiar=(FAMILIAR_KERNEL,)),
        Axis(stride, (1, 2, 3), 1),
        Axis(
            dilation,
            (1, 2, 3),
            1,
            Given((kernel,), lambda taps, value: reach(taps, value) <= _SPAN),
            least=(1,),
        ),
        Axis(size, SIZES, SIZE_DEFAULTS[letter], Given((*factors, kernel), affordable), least=(1,)),
        toggle(f"symbolic.{at}"),
        Axis(
            begin,
            PADDINGS,
            0,
            Given(
                (size, kernel, dilation),
                lambda length, taps, step, value: length + value + most >= reach(taps, step),
            ),
        ),
        Axis(
            end,
            PADDINGS,
            0,
            Given(
                (size, kernel, dilation, begin),
                lambda length, taps, step, before, value: (
                    length + before + value >= reach(taps, step)
                ),
            ),
        ),
    ]


OPERATORS = (
    Operator(
        NAME,
        meaning=MEANING,
        source="docstring of relax.op.nn.conv2d; torch.nn.functional.conv2d; ONNX Conv-22",
        operands=(
            Operand("data", ranks=(4, 5), dtypes=OPERANDS),
            Operand("weight", ranks=(4, 5, 6), dtypes=OPERANDS),
        ),
        attributes=(
            Attribute("strides", "ints", 1),
            Attribute("padding", "ints", 0),
            Attribute("dilation", "ints", 1),
            Attribute("groups", "int", 1),
            Attribute("data_layout", "layout", "NCHW"),
            Attribute("kernel_layout", "layout", "OIHW"),
            Attribute("out_layout", "layout", None),
            Attribute("out_dtype", "dtype", None),
        ),
        axes=_axes(),
        apply=_apply,
        numerics=Numerics.ACCUMULATES,
        requires="a place for the window; groups that divide the channels",
        faults=faults(NAME, SPATIAL),
        layouts=("NHWC", "HWIO"),
        narrowed=True,
        window=Window(FAMILIAR_KERNEL, SPATIAL),
        own=OwnOperand(
            frozenset(
                (
                    *("data_layout", "kernel_layout", "out_layout", "dtype", "groups", "batch"),
                    *("in_channels_per_group", "symbolic.batch", "symbolic.in_channels"),
                    *("data", "result", "size.h", "size.w", "symbolic.h", "symbolic.w"),
                )
            ),
            start=_start,
            bindings=lambda point: bindings_of(SPATIAL, point),
            describe=_described,
        ),
    ),
)
