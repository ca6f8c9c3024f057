"""Faults of convolutions with layouts: each makes a valid call invalid.

TVM's definition of the operator, PyTorch and ONNX Runtime all refuse each of them. A dilation of 0
is left out, because TVM computes its natural result; negative padding, because only PyTorch refuses
it.
"""

from collections.abc import Callable
from typing import Any

from relaxcheck.generators.core.axes import Point
from relaxcheck.generators.core.dims import Dim
from relaxcheck.generators.core.faults import Fault, with_attributes, with_dtype, with_shape
from relaxcheck.generators.core.layouts import parts
from relaxcheck.generators.core.points import integer, text
from relaxcheck.generators.core.program import Attribute, Program
from relaxcheck.generators.operators.sliding.convolution_sizes import reach

_STRIDES = ("stride",)
_DILATION = ("dilation",)
_PADDING = ("padding", "pads")
_GROUPS = ("groups", "channel")
_OUTPUT = (*_PADDING, "output size", "output shape", "kernel", "window", "spatial")
_LAYOUT = ("layout",)
_RANK = ("dimension", "ndim", "rank", "layout")
_DTYPE = ("dtype", "data type", "datatype")
_CHANNELS = ("channel",)

_Breaking = Callable[[Program, Point], Program]


def faults(operator: str, spatial: str) -> tuple[Fault, ...]:
    """Every fault of the convolution ``operator`` over the letters ``spatial``, kinds distinct."""
    channels: Point = {"symbolic.in_channels": False, "symbolic.out_channels": False}

    def changed(change: Callable[[dict[str, Any], Point], dict[str, Attribute]]) -> _Breaking:
        return lambda program, point: with_attributes(
            program, operator, lambda old: change(old, point)
        )

    def first(name: str, value: int) -> _Breaking:
        return changed(lambda old, _: {name: (value, *old[name][1:])})

    def longer(name: str) -> _Breaking:
        return changed(lambda old, _: {name: (*old[name], 1, 1)})

    def relaid(name: str, letter: str, instead: str) -> _Breaking:
        return changed(
            lambda old, _: {name: old.get(name, "NC" + spatial).replace(letter, instead)}
        )

    return (
        Fault("strides-zero", _STRIDES, first("strides", 0)),
        Fault("strides-negative", _STRIDES, first("strides", -1)),
        Fault("strides-length", _STRIDES, longer("strides")),
        Fault("dilation-negative", _DILATION, first("dilation", -1)),
        Fault("dilation-length", _DILATION, longer("dilation")),
        # No rank of padding list has five numbers: they have 1, r or 2r.
        Fault("padding-length", _PADDING, changed(lambda *_: {"padding": (0,) * 5})),
        Fault(
            "output-zero",
            _OUTPUT,
            changed(lambda old, point: _dilated(spatial, old, point)),
            {
                f"symbolic.{spatial[0].lower()}": False,
                f"kernel.{spatial[0].lower()}": 2,
                f"stride.{spatial[0].lower()}": 1,
            },
        ),
        Fault("groups-zero", _GROUPS, changed(lambda *_: {"groups": 0})),
        Fault("groups-negative", _GROUPS, changed(lambda *_: {"groups": -1})),
        Fault("groups-do-not-divide", _GROUPS, changed(_indivisible), channels),
        Fault("channels-differ", _CHANNELS, _more_channels, channels),
        Fault(
            "packing-does-not-divide",
            (*_LAYOUT, *_CHANNELS),
            changed(lambda *_: {"out_layout": f"NC{spatial}4c"}),
            {
                **channels,
                "data_layout": "NC" + spatial,
                "kernel_layout": "OI" + spatial,
                "out_layout": None,
                "groups": 1,
                "out_channels_per_group": 3,
            },
        ),
        *(
            Fault(f"{name}-{kind}", _LAYOUT, relaid(name, letter, instead))
            for name, letter in (("data_layout", "C"), ("kernel_layout", "I"), ("out_layout", "C"))
            for kind, instead in (("unknown-letter", "X"), ("repeated-letter", spatial[-1]))
        ),
        Fault("data-rank", _RANK, _flattened("data"), {**channels, "data": "variable"}),
        Fault("weight-rank", _RANK, _flattened("weight"), channels),
        Fault(
            "dtypes-differ",
            _DTYPE,
            lambda program, _: with_dtype(program, "weight", "float64"),
            {"dtype": "float32"},
        ),
    )


def _dilated(spatial: str, old: dict[str, Any], point: Point) -> dict[str, Attribute]:
    """Dilates a window of two taps until it is one element longer than the padded axis."""
    at = spatial[0].lower()
    whole = sum(integer(point, f"{name}.{at}") for name in ("size", "pad_begin", "pad_end"))
    assert reach(2, whole) == whole + 1
    return {"dilation": (whole, *old["dilation"][1:])}


def _indivisible(_: dict[str, Any], point: Point) -> dict[str, Attribute]:
    return {"groups": integer(point, "groups") * integer(point, "in_channels_per_group") + 1}


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
