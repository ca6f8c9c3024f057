"""Transposed convolution in one, two and three dimensions: axes, cases, points.

Meaning: output element ``o`` of each spatial axis sums over inputs ``i`` and taps ``k`` with
``i * stride + k * dilation - pad_begin == o``; the output has ``(input - 1) * stride - pad_begin -
pad_end + dilation * (kernel - 1) + 1 + output_padding`` elements (ONNX ConvTranspose-22 and
``torch.nn.ConvTranspose2d``: output padding extends the end side, contributions included). The
weight is (input channels, output channels / groups, *kernel) in its layout's letters I, O.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from generators import faults
from generators.axes import Axis, Point, Value, run_axes
from generators.cases import AnyCase
from generators.layouts import data_layouts, kernel_layouts, kind, logical, packing, shape
from generators.points import Every, Given, integer, point_of, text, toggle
from generators.program import Attribute, Case, Input, Node, Program
from generators.transposed_conv_invalid import faults as faults_of
from generators.transposed_conv_sizes import (
    BATCHES,
    bindings_of,
    data_extents,
    output_extent,
    weight_extents,
)

SPATIAL = ("W", "HW", "DHW")
"""The spatial letters of each rank, in the order of strides, padding and the like."""

CHANNELS_LAST = {
    f"nn.conv{len(spatial)}d_transpose": (f"N{spatial}C", f"{spatial}IO") for spatial in SPATIAL
}
"""The data and kernel layout that each operator is converted to."""

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


@dataclass(frozen=True, slots=True)
class TransposedConvolution:
    """The family of one rank: ``spatial`` is "W", "HW" or "DHW"."""

    spatial: str
    axes: tuple[Axis, ...]

    @property
    def name(self) -> str:
        """``conv1d_transpose``, ``conv2d_transpose`` or ``conv3d_transpose``."""
        return f"conv{len(self.spatial)}d_transpose"

    @property
    def operator(self) -> str:
        """The Relax operator."""
        return f"nn.{self.name}"

    def build(self, point: Point, seed: int) -> Case:
        """The case at ``point``; its first binding gives every symbol the point's own size."""
        dtype, _, out_dtype = text(point, "dtype").partition("->")
        data, weight = data_extents(self.spatial, point), weight_extents(self.spatial, point)
        given, nodes, argument = _data(point, shape(text(point, "data_layout"), data), dtype)
        weights = Input(
            "weight",
            shape(text(point, "kernel_layout"), weight),
            dtype,
            constant=point["weight"] == "constant",
        )
        call = Node(
            "convolved",
            self.operator,
            (argument, "weight"),
            _attributes(self.spatial, point, out_dtype),
        )
        nodes = (*nodes, call)
        if point["result"] == "relu":
            nodes = (*nodes, Node("rectified", "nn.relu", ("convolved",)))
        return Case(
            family=self.name,
            program=Program((given, weights), nodes, (nodes[-1].name,)),
            bindings=bindings_of(self.spatial, point),
            seed=seed,
            **{name: point[name] for name in _run_names()},  # type: ignore[arg-type]
        )

    def point(self, case: AnyCase) -> Point:
        """The point of ``case``.

        Raises:
            ValueError: no point of this family builds ``case``.
        """
        return point_of(self, lambda case: _read(self.spatial, case), case)

    @property
    def faults(self) -> tuple[faults.Fault, ...]:
        """The ways to break a valid case (see ``generators.transposed_conv_invalid``)."""
        return faults_of(self.spatial)

    @property
    def invalid(self) -> tuple[st.SearchStrategy[Case], ...]:
        """For each fault, valid cases with it put in."""
        return faults.strategies(self)


def _run_names() -> tuple[str, ...]:
    return tuple(axis.name for axis in run_axes(("",)))


def family(spatial: str, pipelines: Sequence[str]) -> TransposedConvolution:
    """The family over the spatial letters ``spatial``, compiled by ``pipelines``."""
    rank = len(spatial)
    layouts = data_layouts(spatial)
    kernels = kernel_layouts(spatial)

    def layout(name: str, values: tuple[str | None, ...]) -> Axis:
        # Half of all draws keep each layout at its default: most others meet the same faults.
        return Axis(
            name,
            values,
            values[0],
            default_weight=len(values) - 1,
            cell=lambda value: kind(None if value is None else str(value), spatial),
            # Packed channels are more than one.
            least=(values[0],),
        )

    axes = [
        layout("data_layout", layouts),
        layout("kernel_layout", kernels),
        layout("out_layout", (None, *layouts)),
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
    return TransposedConvolution(spatial, (*axes, *run_axes(pipelines)))


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
        Axis(kernel, KERNELS[rank], KERNEL_DEFAULTS[letter]),
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


def _data(point: Point, wanted: tuple[Any, ...], dtype: str) -> tuple[Input, tuple[Node, ...], str]:
    """The run-time input behind the data, the nodes that make the data of it, and its name."""
    match point["data"]:
        case "relu":
            return (
                Input("x", wanted, dtype),
                (Node("data", "nn.relu", ("x",)),),
                "data",
            )
        case "permute_dims":
            axes = tuple(reversed(range(len(wanted))))
            node = Node("data", "permute_dims", ("x",), {"axes": axes})
            return Input("x", wanted[::-1], dtype), (node,), "data"
    return Input("data", wanted, dtype), (), "data"


def _attributes(spatial: str, point: Point, out_dtype: str) -> dict[str, Attribute]:
    def each(name: str) -> tuple[int, ...]:
        return tuple(integer(point, f"{name}.{letter.lower()}") for letter in spatial)

    begin, end = each("pad_begin"), each("pad_end")
    attributes: dict[str, Attribute] = {
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


def _read(spatial: str, case: Case) -> dict[str, Value]:
    """The only point that can build ``case``; whether it does is for the caller to see."""
    program = case.program
    [call] = [node for node in program.nodes if node.name == "convolved"]
    attributes: dict[str, Any] = dict(call.attributes)
    before = {node.name: node.operator for node in program.nodes}.get("data", "variable")
    given, weights = program.inputs
    concrete = case.shape(given.name, case.bindings[0])
    data = logical(
        attributes["data_layout"], concrete[::-1] if before == "permute_dims" else concrete
    )
    weight = logical(attributes["kernel_layout"], case.shape("weight", case.bindings[0]))
    out_dtype = attributes.get("out_dtype")
    rank = len(spatial)
    padding = attributes["padding"]
    symbols = program.symbols
    point: dict[str, Value] = {
        **{name: attributes[name] for name in ("data_layout", "kernel_layout", "groups")},
        "out_layout": attributes.get("out_layout"),
        "dtype": f"{given.dtype}->{out_dtype}" if out_dtype else given.dtype,
        "in_channels_per_group": weight["I"] // attributes["groups"],
        "out_channels_per_group": weight["O"],
        "batch": data["N"],
        "symbolic.batch": "B" in symbols,
        "symbolic.in_channels": "C" in symbols,
        "symbolic.out_channels": "K" in symbols,
        "weight": "constant" if weights.constant else "variable",
        "data": before.removeprefix("nn."),
        "result": "bare" if program.nodes[-1] is call else "relu",
        **{name: getattr(case, name) for name in _run_names()},
    }
    for at, letter in enumerate(spatial):
        point |= {
            f"kernel.{letter.lower()}": weight[letter],
            f"stride.{letter.lower()}": attributes["strides"][at],
            f"dilation.{letter.lower()}": attributes["dilation"][at],
            f"output_padding.{letter.lower()}": attributes["output_padding"][at],
            f"size.{letter.lower()}": data[letter],
            f"symbolic.{letter.lower()}": letter in symbols,
            f"pad_begin.{letter.lower()}": padding[at],
            f"pad_end.{letter.lower()}": padding[at - rank],
        }
    return point
