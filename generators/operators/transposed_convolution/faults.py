"""Faults of transposed convolutions: each makes a valid call invalid.

TVM's own definition of the operator, PyTorch and ONNX Runtime all refuse each fault. ONNX and TVM
require output padding below the stride, PyTorch below the stride *or* the dilation; so the fault
reaches both.

Calls that only convention forbids are left out, because TVM computes their natural result: an
output of size 0 and negative output padding, which crops the output (PyTorch and ONNX Runtime
refuse both), and negative padding, which only PyTorch refuses.
"""

from collections.abc import Callable
from typing import Any

from relaxcheck.generators.core.axes import Point
from relaxcheck.generators.core.dims import Dim
from relaxcheck.generators.core.faults import Fault, with_attributes, with_dtype, with_shape
from relaxcheck.generators.core.layouts import parts
from relaxcheck.generators.core.points import integer, text
from relaxcheck.generators.core.program import Attribute, Program

_STRIDES = ("stride",)
_DILATION = ("dilation",)
_OUTPUT_PADDING = ("output_padding", "output padding")
_PADDING = ("padding", "pads")
_GROUPS = ("groups",)
_OUTPUT = (*_PADDING, "output size", "output shape", "output dim", "spatial")
_LAYOUT = ("layout",)
_RANK = ("dimension", "ndim", "rank", "layout")
_DTYPE = ("dtype", "data type", "datatype")
_CHANNELS = ("channel",)

_Breaking = Callable[[Program, Point], Program]


def faults(spatial: str) -> tuple[Fault, ...]:
    """Every fault of the transposed convolution over the letters ``spatial``, kinds distinct."""
    operator = f"nn.conv{len(spatial)}d_transpose"
    channels: Point = {"symbolic.in_channels": False, "symbolic.out_channels": False}

    def first(name: str, value: int) -> _Breaking:
        return _changed(operator, lambda old, _: {name: (value, *old[name][1:])})

    def longer(name: str) -> _Breaking:
        return _changed(operator, lambda old, _: {name: (*old[name], 1, 1)})

    return (
        Fault("strides-zero", _STRIDES, first("strides", 0)),
        Fault("strides-negative", _STRIDES, first("strides", -1)),
        Fault("strides-length", _STRIDES, longer("strides")),
        Fault("dilation-zero", _DILATION, first("dilation", 0)),
        Fault("dilation-negative", _DILATION, first("dilation", -1)),
        Fault("dilation-length", _DILATION, longer("dilation")),
        Fault("output-padding-too-large", _OUTPUT_PADDING, _changed(operator, _overreaching)),
        Fault("output-padding-length", _OUTPUT_PADDING, longer("output_padding")),
        # No rank of padding list has five numbers: they have 1, r or 2r.
        Fault("padding-length", _PADDING, _changed(operator, lambda *_: {"padding": (0,) * 5})),
        Fault(
            "output-negative",
            _OUTPUT,
            _padded(operator, spatial, -1),
            {f"symbolic.{spatial[0].lower()}": False},
        ),
        Fault("groups-zero", _GROUPS, _changed(operator, lambda *_: {"groups": 0})),
        Fault("groups-negative", _GROUPS, _changed(operator, lambda *_: {"groups": -1})),
        Fault("groups-do-not-divide", _GROUPS, _changed(operator, _indivisible), channels),
        Fault("channels-differ", _CHANNELS, _more_channels, channels),
        Fault(
            "packing-does-not-divide",
            (*_LAYOUT, *_CHANNELS),
            _changed(operator, lambda *_: {"out_layout": f"NC{spatial}4c"}),
            {
                **channels,
                "data_layout": "NC" + spatial,
                "kernel_layout": "IO" + spatial,
                "out_layout": None,
                "groups": 1,
                "out_channels_per_group": 3,
            },
        ),
        *_layout_faults(operator, spatial),
        Fault("data-rank", _RANK, _flattened("data"), {**channels, "data": "variable"}),
        Fault("weight-rank", _RANK, _flattened("weight"), channels),
        Fault(
            "dtypes-differ",
            _DTYPE,
            lambda program, _: with_dtype(program, "weight", "float64"),
            {"dtype": "float32"},
        ),
    )


def _changed(
    operator: str, change: Callable[[dict[str, Any], Point], dict[str, Attribute]]
) -> _Breaking:
    return lambda program, point: with_attributes(program, operator, lambda old: change(old, point))


def _overreaching(old: dict[str, Any], _: Point) -> dict[str, Attribute]:
    least = max(old["strides"][0], old["dilation"][0])
    return {"output_padding": (least, *old["output_padding"][1:])}


def _indivisible(_: dict[str, Any], point: Point) -> dict[str, Attribute]:
    return {"groups": integer(point, "groups") * integer(point, "in_channels_per_group") + 1}


def _padded(operator: str, spatial: str, wanted: int) -> _Breaking:
    """Pads the end of the first spatial axis until its output has ``wanted`` elements."""
    at = spatial[0].lower()

    def change(old: dict[str, Any], point: Point) -> dict[str, Attribute]:
        unpadded = (
            (integer(point, f"size.{at}") - 1) * integer(point, f"stride.{at}")
            + integer(point, f"dilation.{at}") * (integer(point, f"kernel.{at}") - 1)
            + integer(point, f"output_padding.{at}")
            + 1
        )
        begin = [integer(point, f"pad_begin.{letter.lower()}") for letter in spatial]
        end = [integer(point, f"pad_end.{letter.lower()}") for letter in spatial]
        end[0] = unpadded - begin[0] - wanted
        return {"padding": (*begin, *end)}

    return _changed(operator, change)


def _more_channels(program: Program, point: Point) -> Program:
    at = parts(text(point, "kernel_layout")).index(("I", 0))

    def change(shape: list[Dim]) -> list[Dim]:
        outer = shape[at]
        if not isinstance(outer, int):
            raise ValueError(f"the input channels {outer!r} of the weight are symbolic")
        return [*shape[:at], outer + 1, *shape[at + 1 :]]

    return with_shape(program, "weight", change)


def _flattened(name: str) -> _Breaking:
    return lambda program, _: with_shape(program, name, lambda shape: shape[:-1])


def _layout_faults(operator: str, spatial: str) -> list[Fault]:
    def relaid(name: str, letter: str, instead: str) -> _Breaking:
        return _changed(
            operator,
            lambda old, _: {name: old.get(name, "NC" + spatial).replace(letter, instead)},
        )

    return [
        Fault(f"{name}-{kind}", _LAYOUT, relaid(name, letter, instead))
        for name, letter in (("data_layout", "C"), ("kernel_layout", "I"), ("out_layout", "C"))
        for kind, instead in (("unknown-letter", "X"), ("repeated-letter", spatial[-1]))
    ]
