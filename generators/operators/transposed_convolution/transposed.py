"""Transposed convolution: axes, program and record for one, two and three spatial axes.

The output has ``(input - 1) * stride - pad_begin - pad_end + dilation * (kernel - 1) + 1 +
output_padding`` elements along each spatial axis. The weight is (input channels, output channels /
groups, *kernel) in its layout's letters I, O.
"""

from relaxcheck.generators.core import program
from relaxcheck.generators.core.axes import Axis, Point
from relaxcheck.generators.core.dims import Dim
from relaxcheck.generators.core.draft import Draft, Unfit, Value
from relaxcheck.generators.core.layouts import (
    data_layouts,
    familiar_data_layouts,
    familiar_kernel_layouts,
    kernel_layouts,
    kind,
    packing,
    parts,
    shape,
)
from relaxcheck.generators.core.points import Every, Given, integer, text, toggle
from relaxcheck.generators.core.polynomials import minus, over, plus, times
from relaxcheck.generators.operators.record import (
    Apply,
    Attribute,
    Numerics,
    Operand,
    Operator,
    OwnOperand,
    Window,
)
from relaxcheck.generators.operators.sliding.windows import FAMILIAR_KERNEL
from relaxcheck.generators.operators.transposed_convolution.faults import faults
from relaxcheck.generators.operators.transposed_convolution.sizes import (
    BATCHES,
    bindings_of,
    data_extents,
    output_extent,
    weight_extents,
)

SPATIAL = ("W", "HW", "DHW")
"""The spatial letters of each rank, in the order of strides, padding and the like."""

DTYPES = (
    *("float32", "float16", "float64", "bfloat16", "float16->float32", "bfloat16->float32"),
    *("float32->float64", "int8->int32", "uint8->int32", "int16->int32"),
)
GROUPS = (1, 2, 3, 4, 8)
CHANNELS = (1, 2, 3, 4, 8)

SIZES = {1: (1, 2, 3, 4, 5, 7, 8, 16, 17), 2: (1, 2, 3, 4, 5, 7), 3: (1, 2, 3, 4, 5)}
KERNELS = {1: (1, 2, 3, 4, 5, 7), 2: (1, 2, 3, 4), 3: (1, 2, 3)}
# Different for each axis, so that swapped axes show.
SIZE_DEFAULTS = {"W": 4, "H": 3, "D": 2}
KERNEL_DEFAULTS = {"W": 3, "H": 2, "D": 2}
PADDINGS = (0, 1, 2, 3)

MULTIPLY_ADDS = 100_000
"""A spatial size above 1 is not allowed where extents and strides multiply to more than this."""

FLOATS = ("float32", "float16", "float64", "bfloat16")
OPERANDS = (*FLOATS, "int8", "uint8", "int16")

MEANING = """\
Output element o of each spatial axis sums over inputs i and taps k with
i * stride + k * dilation - pad_begin == o. The output has (input - 1) * stride - pad_begin -
pad_end + dilation * (kernel - 1) + 1 + output_padding elements. Output padding extends the end and
holds the sums that fall on it. Packed layouts split an axis; both operands are cast to out_dtype,
in which products are summed."""


def name_of(spatial: str) -> str:
    """The Relax name of the operator over the letters ``spatial``."""
    return f"nn.conv{len(spatial)}d_transpose"


def _start(spatial: str, draft: Draft, point: Point) -> Value:
    """The data: an input, or what ``data`` says is made of one."""
    dtype = text(point, "dtype").partition("->")[0]
    wanted = shape(text(point, "data_layout"), data_extents(spatial, point))
    match point["data"]:
        case "relu":
            source = draft.input(wanted, dtype, name="x")
            return draft.call("nn.relu", [source], wanted, dtype, "data")
        case "permute_dims":
            axes = tuple(reversed(range(len(wanted))))
            source = draft.input(wanted[::-1], dtype, name="x")
            return draft.call("permute_dims", [source], wanted, dtype, "data", axes=axes)
    return draft.input(wanted, dtype, name="data")


def _described(spatial: str, data: Value) -> Point:
    """A graph's value as data in the default layout; its channels form one group."""
    if data.rank != len(spatial) + 2 or data.dtype not in FLOATS:
        raise Unfit(f"no data of {len(spatial)} spatial axes")
    channels = data.shape[1]
    if not isinstance(channels, int) or not channels:
        raise Unfit("the number of channels is symbolic, or 0")
    return {
        "dtype": data.dtype,
        "data_layout": f"NC{spatial}",
        "kernel_layout": f"IO{spatial}",
        "out_layout": None,
        "groups": 1,
        "in_channels_per_group": channels,
        "symbolic.in_channels": False,
        "data": "variable",
        "result": "bare",
    }


def _apply(spatial: str) -> Apply:
    name = name_of(spatial)

    def apply(draft: Draft, data: Value, point: Point) -> None:
        out_dtype = text(point, "dtype").partition("->")[2]
        weight = draft.input(
            shape(text(point, "kernel_layout"), weight_extents(spatial, point)),
            data.dtype,
            constant=point["weight"] == "constant",
            name="weight",
        )
        result = _result(spatial, draft, data, point)
        attributes = _attributes(spatial, point, out_dtype)
        both, dtype = [data, weight], out_dtype or data.dtype
        convolved = draft.call(name, both, result, dtype, "convolved", **attributes)
        if point["result"] == "relu":
            draft.call("nn.relu", [convolved], result, dtype, "rectified")

    return apply


def _result(spatial: str, draft: Draft, data: Value, point: Point) -> tuple[Dim, ...]:
    """The shape of the output."""
    sizes: dict[str, Dim] = {}
    for (letter, _), dim in zip(parts(text(point, "data_layout")), data.shape, strict=True):
        sizes[letter] = times(sizes.get(letter, 1), dim)
    for letter in spatial:
        window = (
            integer(point, f"{axis}.{letter.lower()}")
            for axis in ("kernel", "stride", "dilation", "output_padding", "pad_begin", "pad_end")
        )
        kernel, stride, dilation, extra, begin, end = window
        draft.require(sizes[letter], 1)
        more = dilation * (kernel - 1) + 1 + extra - begin - end
        sizes[letter] = plus(times(minus(sizes[letter], 1), stride), more)
        draft.require(sizes[letter], 1)
    weight, groups = weight_extents(spatial, point), integer(point, "groups")
    draft.require(weight["I"].dim(1), 1, groups)
    sizes["C"] = times(groups, weight["O"].dim(1))
    layout = text(point, "out_layout" if point["out_layout"] is not None else "data_layout")
    draft.require(sizes["C"], 1, packing(layout, "C"))
    return tuple(
        factor or over(sizes[letter], packing(layout, letter)) for letter, factor in parts(layout)
    )


def _attributes(spatial: str, point: Point, out_dtype: str) -> dict[str, program.Attribute]:
    def each(name: str) -> tuple[int, ...]:
        return tuple(integer(point, f"{name}.{letter.lower()}") for letter in spatial)

    begin, end = each("pad_begin"), each("pad_end")
    attributes: dict[str, program.Attribute] = {
        "strides": each("stride"),
        "padding": begin if begin == end else begin + end,
        "output_padding": each("output_padding"),
        "dilation": each("dilation"),
        "groups": integer(point, "groups"),
        "data_layout": text(point, "data_layout"),
        "kernel_layout": text(point, "kernel_layout"),
    }
    if point["out_layout"] is not None:
        attributes["out_layout"] = point["out_layout"]
    if out_dtype:
        attributes["out_dtype"] = out_dtype
    return attributes


def _axes(spatial: str) -> tuple[Axis, ...]:
    rank = len(spatial)
    layouts = data_layouts(spatial)
    kernels = kernel_layouts(spatial)

    def layout(name: str, values: tuple[str | None, ...], familiar: tuple[str, ...]) -> Axis:
        # Half of all draws keep each layout at its default: most others meet the same faults.
        return Axis(
            name,
            values,
            values[0],
            default_weight=len(values) - 1,
            cell=lambda value: kind(None if value is None else str(value), spatial),
            # Packed channels are more than one.
            least=(values[0],),
            familiar=familiar,
        )

    in_use = familiar_data_layouts(spatial)
    axes = [
        layout("data_layout", layouts, in_use),
        layout("kernel_layout", kernels, familiar_kernel_layouts(spatial, "IO")),
        layout("out_layout", (None, *layouts), in_use),
        Axis("dtype", DTYPES, "float32"),
        Axis("groups", GROUPS, 1, least=(1,)),
        Axis(
            "in_channels_per_group",
            CHANNELS,
            2,
            Every((_channels_fill("data_layout", "C"), _channels_fill("kernel_layout", "I"))),
            least=(1,),
        ),
        Axis(
            "out_channels_per_group",
            CHANNELS,
            3,
            Every(
                (
                    Given(
                        ("kernel_layout",),
                        lambda layout, channels: channels % packing(layout, "O") == 0,
                    ),
                    Given(
                        ("groups", "data_layout", "out_layout"),
                        lambda groups, data, out, channels: (
                            groups * channels % packing(out or data, "C") == 0
                        ),
                    ),
                )
            ),
            least=(1,),
        ),
        Axis("batch", BATCHES, 2, least=(1,)),
        toggle("symbolic.batch"),
    ]
    for letter in spatial:
        axes += _spatial_axes(letter, rank, [axis.name for axis in axes])
    run_time = Given(("weight",), lambda weight, _: weight == "variable")
    axes += [
        Axis("weight", ("variable", "constant"), "variable"),
        toggle("symbolic.in_channels", run_time),
        toggle("symbolic.out_channels", run_time),
        Axis("data", ("variable", "relu", "permute_dims"), "variable"),
        Axis("result", ("bare", "relu"), "bare"),
    ]
    return tuple(axes)


def _channels_fill(layout: str, letter: str) -> Given:
    """All input channels fill whole inner dimensions of ``layout``."""
    return Given(
        ("groups", layout),
        lambda groups, layout, channels: groups * channels % packing(layout, letter) == 0,
    )


def _spatial_axes(letter: str, rank: int, earlier: list[str]) -> list[Axis]:
    at = letter.lower()
    kernel, stride, dilation, extra, size, begin, end = (
        f"{name}.{at}"
        for name in (
            *("kernel", "stride", "dilation", "output_padding"),
            *("size", "pad_begin", "pad_end"),
        )
    )
    symbolic = f"symbolic.{at}"
    factors = [
        name
        for name in earlier
        if name.partition(".")[0] in ("kernel", "stride", "size")
        or name in ("groups", "in_channels_per_group", "out_channels_per_group", "batch")
    ]
    names = (size, kernel, stride, dilation, extra)

    def affordable(*values: int) -> bool:
        product = 1
        for value in values:
            product *= max(value, 1)
        return values[-1] == 1 or product <= MULTIPLY_ADDS

    return [
        Axis(kernel, KERNELS[rank], KERNEL_DEFAULTS[letter], familiar=(FAMILIAR_KERNEL,)),
        Axis(stride, (1, 2, 3), 1),
        Axis(dilation, (1, 2, 3), 1, least=(1,)),
        Axis(extra, (0, 1, 2), 0, Given((stride,), lambda step, value: value < step), least=(0,)),
        Axis(
            size,
            SIZES[rank],
            SIZE_DEFAULTS[letter],
            Given((*factors, kernel, stride), affordable),
            # The output is to be small: one element of data leaves no index to get wrong.
            least=(2, 1),
        ),
        toggle(symbolic),
        Axis(begin, PADDINGS, 0, Given(names, _leaves_output)),
        Axis(
            end,
            PADDINGS,
            0,
            Given((*names, begin), _leaves_output),
            least=tuple(reversed(PADDINGS)),
        ),
    ]


def _leaves_output(*arguments: int) -> bool:
    return output_extent(*arguments) >= 1


def _record(spatial: str) -> Operator:
    name, rank = name_of(spatial), len(spatial)
    lists = (("strides", 1), ("padding", 0), ("output_padding", 0), ("dilation", 1))
    letters = [letter.lower() for letter in spatial]
    return Operator(
        name,
        meaning=MEANING,
        source=f"the gradient of convolution (docstring of relax.op.{name}); ONNX "
        f"ConvTranspose-22; torch.nn.functional.conv_transpose{rank}d",
        operands=(
            Operand("data", ranks=(rank + 2, rank + 3), dtypes=OPERANDS),
            Operand("weight", ranks=tuple(range(rank + 2, rank + 5)), dtypes=OPERANDS),
        ),
        attributes=(
            *(Attribute(each, "ints", default) for each, default in lists),
            Attribute("groups", "int", 1),
            Attribute("data_layout", "layout", f"NC{spatial}"),
            Attribute("kernel_layout", "layout", f"IO{spatial}"),
            Attribute("out_layout", "layout", None),
            Attribute("out_dtype", "dtype", None),
        ),
        axes=_axes(spatial),
        apply=_apply(spatial),
        numerics=Numerics.ACCUMULATES,
        requires="an output padding below the stride; an output of at least one element",
        faults=faults(spatial),
        narrowed=True,
        # Data of one element have an output of the size of the kernel.
        window=Window(FAMILIAR_KERNEL, spatial, inside=False),
        layouts=(f"N{spatial}C", f"{spatial}IO"),
        own=OwnOperand(
            frozenset(
                (
                    *("data_layout", "kernel_layout", "out_layout", "dtype", "groups", "batch"),
                    *("in_channels_per_group", "symbolic.batch", "symbolic.in_channels"),
                    *("data", "result"),
                    *(f"{axis}.{at}" for axis in ("size", "symbolic") for at in letters),
                )
            ),
            start=lambda draft, point: _start(spatial, draft, point),
            bindings=lambda point: bindings_of(spatial, point),
            describe=lambda data: _described(spatial, data),
        ),
    )


OPERATORS = tuple(map(_record, SPATIAL))
