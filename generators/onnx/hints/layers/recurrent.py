"""Recurrent layers: RNN, GRU and LSTM."""

from collections.abc import Mapping
from functools import partial

from relaxcheck.generators.core.axes import Axis
from relaxcheck.generators.core.case import Value
from relaxcheck.generators.core.dims import Dim
from relaxcheck.generators.core.fills.kinds import Literal, Steps
from relaxcheck.generators.onnx.choices import decimal, decimals, whole, word
from relaxcheck.generators.onnx.hint import Hint, attribute, optional, with_
from relaxcheck.generators.onnx.model import Attribute
from relaxcheck.generators.onnx.sketch import ONE, SIZE, USUAL, Sketch

_DIRECTION, _LAYOUT, _ACTIVATIONS, _OUTPUTS = "direction", "layout", "activations", "outputs"
_INPUT, _HIDDEN, _LENGTH = 4, 3, 4
_LENGTHS = (4, 2)
"""The lengths of the sequences of a batch of two, where they are stated."""

_GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}
_FUNCTIONS = {"RNN": 1, "GRU": 2, "LSTM": 3}
"""The number of activations of one direction."""

_CHOICES: Mapping[str, tuple[tuple[str, ...], str, str]] = {
    "stated": (("Sigmoid", "Tanh", "Tanh"), "", ""),
    "others": (("HardSigmoid", "Softsign", "Tanh"), "", ""),
    "relu": (("Sigmoid", "Relu", "Relu"), "", ""),
    "numbers": (("HardSigmoid", "LeakyRelu", "LeakyRelu"), "0.25, 0.5, 0.125", "0.25"),
    "affine": (("Sigmoid", "Affine", "ScaledTanh"), "0.5, 0.5", "0.25, 1.5"),
}
"""Activations, and their numbers alpha and beta: of those alone that have such numbers."""

_OUTPUT_NAMES: Mapping[str, Mapping[Value, tuple[str, ...]]] = {
    "RNN": {"all": ("y", "h"), "first": ("y",), "last": ("", "h"), "states": ("", "h")},
    "LSTM": {
        "all": ("y", "h", "c"),
        "first": ("y",),
        "last": ("", "h"),
        "states": ("", "h", "c"),
    },
}


def _layer(operator: str, sketch: Sketch) -> None:
    directions = 2 if sketch.point[_DIRECTION] == "bidirectional" else 1
    gates, by_batch = _GATES[operator], sketch.point[_LAYOUT] == 1
    sized = sketch.has(with_("sequence_lens"))
    rows: Dim = 2 if sized else sketch.symbol(0, 2)
    steps = sketch.symbol(1, 1 if sketch.point[SIZE] == ONE and not sized else _LENGTH)
    if sized and isinstance(steps, str):
        sketch.least[steps] = max(_LENGTHS)
    shape = (rows, steps, _INPUT) if by_batch else (steps, rows, _INPUT)
    state = (rows, directions, _HIDDEN) if by_batch else (directions, rows, _HIDDEN)
    # Weights of a few quarters: saturated activations would hide what comes before them.
    small = Steps(4, 3)
    names = [
        sketch.data("x", shape),
        sketch.parameter("w", (directions, gates * _HIDDEN, _INPUT), fill=small),
        sketch.parameter("r", (directions, gates * _HIDDEN, _HIDDEN), fill=small),
        "",
        "",
        *("" for each in sketch.schema.inputs[5:]),
    ]
    if sketch.has(with_("B")):
        names[3] = sketch.parameter("bias", (directions, 2 * gates * _HIDDEN))
    if sized:
        names[4] = sketch.parameter("lengths", (2,), "int32", Literal(_LENGTHS))
    for at, name in ((5, "initial_h"), (6, "initial_c")):
        if sketch.has(with_(name)):
            names[at] = sketch.data(name, state)
    if sketch.has(with_("P")):
        names[7] = sketch.parameter("peepholes", (directions, 3 * _HIDDEN), fill=small)
    kind = "LSTM" if operator == "LSTM" else "RNN"
    sketch.node(
        *names,
        named=_OUTPUT_NAMES[kind][sketch.point[_OUTPUTS]],
        hidden_size=_HIDDEN if sketch.has("hidden_size") else None,
        direction=word(sketch, _DIRECTION),
        layout=whole(sketch, _LAYOUT),
        clip=decimal(sketch, "clip"),
        linear_before_reset=whole(sketch, "linear_before_reset"),
        input_forget=whole(sketch, "input_forget"),
        settings=_activations(operator, sketch, directions),
    )


def _activations(operator: str, sketch: Sketch, directions: int) -> Mapping[str, Attribute]:
    """The attributes of activations, for each direction in turn."""
    if not sketch.has(_ACTIVATIONS):
        return {}
    functions, alpha, beta = _CHOICES[sketch.text(_ACTIVATIONS)]
    count = _FUNCTIONS[operator]
    # An RNN has the last one alone: the others have a gate's first.
    own = functions[-1:] if count == 1 else functions[:count]
    skipped = len(functions) - count if count == 1 else 0
    alphas = _numbers_of(functions, decimals(alpha), _WITH_ALPHA)
    betas = _numbers_of(functions, decimals(beta), _WITH_BETA)
    kept = range(skipped, skipped + count)
    found: dict[str, Attribute] = {_ACTIVATIONS: own * directions}
    for name, numbers in (("activation_alpha", alphas), ("activation_beta", betas)):
        chosen = tuple(number for at, number in numbers if at in kept)
        if chosen:
            found[name] = chosen * directions
    return found


_WITH_ALPHA = ("HardSigmoid", "LeakyRelu", "Affine", "ScaledTanh")
_WITH_BETA = ("HardSigmoid", "Affine", "ScaledTanh")


def _numbers_of(
    functions: tuple[str, ...], numbers: tuple[float, ...], having: tuple[str, ...]
) -> list[tuple[int, float]]:
    """The numbers of the activations that have such, with the activation's place."""
    places = [at for at, name in enumerate(functions) if name in having]
    return list(zip(places, numbers, strict=False)) if numbers else []


def _recurrent(operator: str, *more: Axis) -> Hint:
    axes = (
        attribute(operator, _DIRECTION, ("forward", "reverse", "bidirectional")),
        attribute(operator, _LAYOUT, (0, 1)),
        attribute(operator, _ACTIVATIONS, tuple(_CHOICES)),
        attribute(operator, "clip", ("0.5", "2")),
        Axis("hidden_size", (True, False), True, default_weight=3),
        *more,
        *(optional(operator, each) for each in ("B", "sequence_lens", "initial_h")),
        Axis(_OUTPUTS, ("all", "first", "last", "states"), "all", default_weight=2),
    )
    return Hint(operator, partial(_layer, operator), axes, (), sizes=(USUAL, ONE))


HINTS = (
    _recurrent("RNN"),
    _recurrent("GRU", attribute("GRU", "linear_before_reset", (1, 0))),
    _recurrent(
        "LSTM",
        attribute("LSTM", "input_forget", (1, 0)),
        optional("LSTM", "initial_c"),
        optional("LSTM", "P"),
    ),
)
