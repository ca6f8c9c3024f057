"""Losses of classes: their targets are places on the axis of classes."""

from collections.abc import Mapping
from itertools import cycle, islice
from math import prod

from relaxcheck.generators.core.axes import Axis
from relaxcheck.generators.core.case import Value
from relaxcheck.generators.core.fills.kinds import Below, Fill, Literal, Positive
from relaxcheck.generators.onnx.choices import whole, word
from relaxcheck.generators.onnx.hint import Hint, attribute, optional, with_
from relaxcheck.generators.onnx.sketch import Sketch

_IGNORED, _REDUCTION, _OUTPUTS = "ignore_index", "reduction", "outputs"
_CLASSES = 4
_TARGETS = (0, -1, 3, 1, -1, 2)
"""Targets some of which are to be ignored."""


def _loss(sketch: Sketch) -> None:
    inputs = sketch.schema.inputs
    ignored = whole(sketch, _IGNORED)
    outside = ignored is not None and ignored < 0
    rows, _, *others = sketch.shape(fixed=range(sketch.rank) if outside else ())
    fill: Fill = Below(_CLASSES)
    if outside:
        count = prod(sketch.size(dim) for dim in (rows, *others))
        fill = Literal(tuple(islice(cycle(_TARGETS), count)))
    data = sketch.data("x", (rows, _CLASSES, *others))
    kind = sketch.dtype(inputs[1].type)
    # Labels that are written out are parameters: their number is known.
    make = sketch.parameter if outside else sketch.data
    names = [data, make("target", (rows, *others), kind, fill)]
    if sketch.has(with_(inputs[2].name)):
        names.append(sketch.parameter("weight", (_CLASSES,), fill=Positive(0.5)))
    named: Mapping[Value, tuple[str, ...]] = {"alone": ("y",), "all": ("y", "log")}
    sketch.node(
        *names,
        named=named[sketch.point.get(_OUTPUTS, "alone")],
        reduction=word(sketch, _REDUCTION),
        ignore_index=ignored,
    )


def _axes(operator: str, weight: str) -> tuple[Axis, ...]:
    return (
        attribute(operator, _REDUCTION, ("none", "sum", "mean")),
        attribute(operator, _IGNORED, (1, 0, -1)),
        optional(operator, weight),
    )


_CROSS = "SoftmaxCrossEntropyLoss"
_RANKS = (2, 3, 4, 5)

HINTS = (
    Hint("NegativeLogLikelihoodLoss", _loss, _axes("NegativeLogLikelihoodLoss", "weight"), _RANKS),
    Hint(
        _CROSS,
        _loss,
        (*_axes(_CROSS, "weights"), Axis(_OUTPUTS, ("alone", "all"), "alone")),
        _RANKS,
    ),
)
