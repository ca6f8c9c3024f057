"""Normalization: of batches, of instances and groups, of the last dimensions, by norms."""

from collections.abc import Mapping
from dataclasses import replace

from relaxcheck.generators.core.axes import Axis, Point
from relaxcheck.generators.core.case import Value
from relaxcheck.generators.core.dims import Dim
from relaxcheck.generators.core.fills.kinds import Positive
from relaxcheck.generators.onnx.choices import (
    axes_choice,
    axis_choice,
    by_version,
    decimal,
    numbers,
    place,
    whole,
)
from relaxcheck.generators.onnx.hint import Hint, attribute, optional, with_
from relaxcheck.generators.onnx.proto import code_of
from relaxcheck.generators.onnx.schemas import Schema
from relaxcheck.generators.onnx.sketch import RANK, Sketch

_EPSILON, _OUTPUTS, _TRAINING, _STASH = "epsilon", "outputs", "training_mode", "stash_type"
_ALONE, _ALL = "alone", "all"
_IMAGES = (4, 3, 2, 5)


def _epsilon(operator: str) -> Axis:
    return attribute(operator, _EPSILON, ("0.01", "0.00001", "0"))


# Batches

_SPATIAL = "spatial"


def _batch(sketch: Sketch) -> None:
    schema = sketch.schema
    apart = sketch.point[_SPATIAL] == 0
    shape = sketch.shape(fixed=range(1, sketch.rank) if apart else (1,))
    own = shape[1:] if apart else shape[1:2] or (1,)
    names = [sketch.data("x", shape)]
    for at, name in enumerate(("scale", "bias", "mean", "variance"), 1):
        fill = Positive(0.5) if name == "variance" else None
        names.append(sketch.parameter(name, own, sketch.dtype(schema.inputs[at].type), fill))
    outputs = len(schema.outputs) if sketch.point[_OUTPUTS] == _ALL else 1
    sketch.node(
        *names,
        outputs=outputs,
        epsilon=decimal(sketch, _EPSILON),
        momentum=decimal(sketch, "momentum"),
        training_mode=whole(sketch, _TRAINING),
        spatial=whole(sketch, _SPATIAL),
    )


def _batch_axes() -> tuple[Axis, ...]:
    def several(version: Schema, point: Point, value: Value) -> bool:
        # Until opset 13 further outputs alone mean training; from then on it has them all.
        training = point.get(_TRAINING) == 1
        return version.since < 14 or training == (value == _ALL)

    def apart(point: Point, value: Value) -> bool:
        return value != 0 or point.get(RANK) != 1

    return (
        _epsilon("BatchNormalization"),
        attribute("BatchNormalization", "momentum", ("0.9", "0.5", "0", "1")),
        attribute("BatchNormalization", _TRAINING, (0, 1)),
        attribute("BatchNormalization", _SPATIAL, (1, 0), apart),
        by_version("BatchNormalization", _OUTPUTS, (_ALONE, _ALL), several, _ALONE),
    )


# Instances and groups


def _instance(sketch: Sketch) -> None:
    shape = sketch.shape(fixed=(1,))
    names = [sketch.parameter(name, shape[1:2]) for name in ("scale", "bias")]
    sketch.node(sketch.data("x", shape), *names, epsilon=decimal(sketch, _EPSILON))


_CHANNELS = 4


def _group(sketch: Sketch) -> None:
    first, _, *spatial = sketch.shape()
    shape = (first, _CHANNELS, *spatial)
    names = [sketch.parameter(name, (_CHANNELS,)) for name in ("scale", "bias")]
    sketch.node(
        sketch.data("x", shape),
        *names,
        num_groups=whole(sketch, "num_groups"),
        epsilon=decimal(sketch, _EPSILON),
        stash_type=_stash(sketch),
    )


# The last dimensions


def _stashes(operator: str) -> Axis:
    return attribute(operator, _STASH, ("float32", "bfloat16", "float16", "float64"), _stashed)


def _stashed(point: Point, value: Value) -> bool:
    return value in ("float32", "bfloat16") or value == point.get("T")


def _stash(sketch: Sketch) -> int | None:
    return code_of(sketch.text(_STASH)) if sketch.has(_STASH) else None


_SCALES = ("full", "last", "single", "ones")


def _scale_shape(sketch: Sketch, shape: tuple[Dim, ...], axis: int) -> tuple[Dim, ...]:
    """The shape of the scale: of all that is normalized, or one that broadcasts."""
    shapes: Mapping[Value, tuple[Dim, ...]] = {
        "full": shape[axis:],
        "last": shape[-1:],
        "single": (1,),
        "ones": (1,) * len(shape[axis:]),
    }
    return shapes[sketch.point["scale"]]


def _layer(sketch: Sketch) -> None:
    axis = place(sketch)
    shape = sketch.shape(fixed=range(axis, sketch.rank))
    own = _scale_shape(sketch, shape, axis)
    names = [sketch.parameter("scale", own)]
    if sketch.has(with_("B")):
        names.append(sketch.parameter("bias", own))
    named: Mapping[Value, tuple[str, ...]] = {
        _ALONE: ("y",),
        _ALL: ("y", "mean", "inverse"),
        "mean": ("y", "mean"),
        "inverse": ("y", "", "inverse"),
    }
    sketch.node(
        sketch.data("x", shape),
        *names,
        named=named[sketch.point[_OUTPUTS]],
        axis=whole(sketch, "axis"),
        epsilon=decimal(sketch, _EPSILON),
        stash_type=_stash(sketch),
    )


def _root(sketch: Sketch) -> None:
    axis = place(sketch)
    shape = sketch.shape(fixed=range(axis, sketch.rank))
    sketch.node(
        sketch.data("x", shape),
        sketch.parameter("scale", _scale_shape(sketch, shape, axis)),
        axis=whole(sketch, "axis"),
        epsilon=decimal(sketch, _EPSILON),
        stash_type=_stash(sketch),
    )


def _last(operator: str) -> tuple[Axis, ...]:
    return (
        axis_choice(operator, (-1, 1, 0, -2)),
        Axis("scale", _SCALES, "full", default_weight=3),
        _epsilon(operator),
    )


# Norms


def _mean_variance(sketch: Sketch) -> None:
    axes = numbers(sketch.text("axes")) if sketch.has("axes") else None
    sketch.node(sketch.data("x", sketch.shape()), axes=axes)


_AXES = ("1", "0, 2, 3", "0", "-1", "0, 1", "2, -1", "0, 1, 2, 3")
"""The axes are always stated: ONNX's strict inference cannot expand the node without them."""


_WINDOW = "window"


def _response(sketch: Sketch) -> None:
    sketch.node(
        sketch.data("x", sketch.shape()),
        size=whole(sketch, _WINDOW),
        settings={name: decimal(sketch, name) for name in ("alpha", "beta", "bias")},
    )


def _norm(sketch: Sketch) -> None:
    data = sketch.data("x", sketch.shape())
    sketch.node(data, axis=whole(sketch, "axis"), p=whole(sketch, "p"))


HINTS = (
    Hint("BatchNormalization", _batch, _batch_axes(), (*_IMAGES, 1)),
    Hint("InstanceNormalization", _instance, (_epsilon("InstanceNormalization"),), (4, 3, 5)),
    Hint(
        "GroupNormalization",
        _group,
        (
            attribute("GroupNormalization", "num_groups", (2, 1, _CHANNELS), always=True),
            _epsilon("GroupNormalization"),
            attribute("GroupNormalization", _STASH, ("float32",)),
        ),
        (4, 3, 5),
    ),
    Hint(
        "LayerNormalization",
        _layer,
        (
            *_last("LayerNormalization"),
            # No oracle computes in bfloat16.
            replace(
                attribute("LayerNormalization", _STASH, ("float32", "bfloat16")), default_weight=4
            ),
            optional("LayerNormalization", "B"),
            Axis(_OUTPUTS, (_ALONE, _ALL, "mean", "inverse"), _ALONE, default_weight=2),
        ),
        (3, 2, 4, 1),
    ),
    Hint(
        "RMSNormalization",
        _root,
        (*_last("RMSNormalization"), _stashes("RMSNormalization")),
        (3, 2, 4, 1),
        # The scale has the dtype of the data: inference gives that to the result.
        types={"V": ("float32",)},
    ),
    Hint(
        "MeanVarianceNormalization",
        _mean_variance,
        (axes_choice("MeanVarianceNormalization", _AXES, required=True),),
        (4, 3, 2, 5),
        # ONNX expands it to a function with constants of float32 alone.
        types={"T": ("float32",)},
        held=(),
    ),
    Hint(
        "LRN",
        _response,
        (
            Axis(_WINDOW, (3, 1, 5, 2), 3),
            attribute("LRN", "alpha", ("0.5", "0.0001")),
            attribute("LRN", "beta", ("0.5", "0.75", "1")),
            attribute("LRN", "bias", ("2", "1", "0.5")),
        ),
        (4, 3),
        held=(),
    ),
    Hint(
        "LpNormalization",
        _norm,
        (
            axis_choice("LpNormalization", (-1, 1, 0, -2), counted=1),
            attribute("LpNormalization", "p", (1, 2)),
        ),
        (2, 1, 3, 4),
        held=(),
    ),
)
