"""RNN, GRU and LSTM, step by step, by the equations of their schemas."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from relaxcheck.generators.core.values import Array
from relaxcheck.oracles.onnx.reference.call import Call, composite, constant, integers, relax
from relaxcheck.oracles.onnx.reference.operators.arithmetic import extreme
from relaxcheck.oracles.onnx.reference.operators.elementwise import (
    clamped,
    elu,
    softplus,
    softsign,
    thresholded_relu,
)
from relaxcheck.oracles.onnx.reference.values import chosen, joined, moved
from relaxcheck.oracles.reference.bounds import unconstrain
from relaxcheck.oracles.reference.estimate import FORMATS, Estimate

Activation = Callable[[Estimate], Estimate]

_DEFAULTS = {
    "RNN": ("Tanh",),
    "GRU": ("Sigmoid", "Tanh"),
    "LSTM": ("Sigmoid", "Tanh", "Tanh"),
}

_PLAIN = {"Tanh": "tanh", "Sigmoid": "sigmoid", "Relu": "nn.relu"}


def _add(*operands: Estimate) -> Estimate:
    total = operands[0]
    for each in operands[1:]:
        total = relax("add", total, each)
    return total


def _times(a: Estimate, b: Estimate) -> Estimate:
    return relax("multiply", a, b)


def _product(x: Estimate, weights: Estimate) -> Estimate:
    return relax("matmul", x, moved(weights, np.transpose))


@dataclass(frozen=True, slots=True)
class _Direction:
    """One direction: its weights by gate, its state at the beginning, its activations."""

    weights: tuple[Estimate, ...]
    recurrent: tuple[Estimate, ...]
    biases: tuple[Estimate, ...]
    recurrent_biases: tuple[Estimate, ...]
    hidden: Estimate
    cell: Estimate | None
    peepholes: tuple[Estimate, ...] | None
    activations: tuple[Activation, ...]

    def gate(self, at: int, x: Estimate, hidden: Estimate) -> Estimate:
        """What enters the activation of a gate."""
        return _add(
            _product(x, self.weights[at]),
            _product(hidden, self.recurrent[at]),
            self.biases[at],
            self.recurrent_biases[at],
        )


_WITH_ALPHA = ("Affine", "LeakyRelu", "ScaledTanh", "HardSigmoid", "Elu", "ThresholdedRelu")
_WITH_BETA = ("Affine", "ScaledTanh", "HardSigmoid")
"""The activations that take a number of the attributes' lists, each in its turn."""


def _activation(
    call: Call, name: str, alphas: Iterator[float], betas: Iterator[float]
) -> Activation:
    limit = call.attribute("clip")
    if name in _PLAIN:
        function: Activation = lambda x: _approximated(relax(_PLAIN[name], x))  # noqa: E731
    else:
        alpha = next(alphas, None) if name in _WITH_ALPHA else None
        beta = next(betas, None) if name in _WITH_BETA else None
        function = _parametrised(name, alpha, beta)
    if limit is None:
        return function
    return lambda x: function(
        extreme(extreme(x, constant(-limit, x), np.maximum), constant(limit, x), np.minimum)
    )


_ROUNDINGS = 8
"""Roundings of 1 that a gate may be off by: fused kernels have polynomials of their own."""


def _approximated(x: Estimate) -> Estimate:
    off = _ROUNDINGS * FORMATS[x.dtype].unit
    return replace(x, error=np.where(np.isfinite(x.value), x.error + off, x.error))


def _parametrised(name: str, alpha: Any, beta: Any) -> Activation:
    match name:
        case "Affine":
            return lambda x: _add(_times(x, constant(alpha, x)), constant(beta, x))
        case "LeakyRelu":
            return lambda x: relax("nn.leakyrelu", x, alpha=0.01 if alpha is None else alpha)
        case "ScaledTanh":
            return lambda x: _times(
                constant(alpha, x), _approximated(relax("tanh", _times(x, constant(beta, x))))
            )
        case "HardSigmoid":
            return lambda x: clamped(
                x, 0.2 if alpha is None else alpha, 0.5 if beta is None else beta
            )
        case "Softsign":
            return softsign
        case "Softplus":
            return softplus
        case "Elu":
            return lambda x: elu(x, 1.0 if alpha is None else alpha)
        case "ThresholdedRelu":
            return lambda x: thresholded_relu(x, 1.0 if alpha is None else alpha)
    raise ValueError(f"the activation {name}")


def _directions(call: Call, gates: int) -> list[_Direction]:
    """The directions of a call, each with its activations in their order."""
    names = call.attribute("activations") or ()
    operator = call.node.operator
    default = _DEFAULTS[operator]
    count = call[1].value.shape[0]
    names = tuple(names) or default * count
    alphas, betas = (
        iter(call.attribute(f"activation_{letter}") or ()) for letter in ("alpha", "beta")
    )
    activations = [_activation(call, name, alphas, betas) for name in names]
    x, hidden = call[0], call[2].value.shape[2]
    batch = x.value.shape[0 if call.attribute("layout") else 1]
    peepholes = call.optional(7)
    made = []
    for at in range(count):
        bias = _bias(call.optional(3), at, gates, hidden, x)
        own = activations[at * len(default) : (at + 1) * len(default)]
        made.append(
            _Direction(
                _parts(_at(call[1], at), gates),
                _parts(_at(call[2], at), gates),
                bias[:gates],
                bias[gates:],
                _state(call, 5, at, (batch, hidden)),
                _state(call, 6, at, (batch, hidden)) if operator == "LSTM" else None,
                None if peepholes is None else _parts(_at(peepholes, at), gates - 1),
                tuple(own),
            )
        )
    return made


def _at(x: Estimate, at: int) -> Estimate:
    return moved(x, lambda each: each[at])


def _parts(x: Estimate, count: int) -> tuple[Estimate, ...]:
    """``x`` cut into ``count`` equal parts along its first axis."""
    size = x.value.shape[0] // count
    return tuple(
        moved(x, lambda each, n=at: each[n * size : (n + 1) * size])  # type: ignore[misc]
        for at in range(count)
    )


def _bias(
    biases: Estimate | None, at: int, gates: int, hidden: int, x: Estimate
) -> tuple[Estimate, ...]:
    if biases is None:
        return (_zeros((hidden,), x),) * (2 * gates)
    return _parts(_at(biases, at), 2 * gates)


def _zeros(shape: tuple[int, ...], like: Estimate) -> Estimate:
    return Estimate(np.zeros(shape, np.longdouble), np.zeros(shape), like.dtype)


def _state(call: Call, number: int, at: int, shape: tuple[int, ...]) -> Estimate:
    state = call.optional(number)
    if state is None:
        return _zeros(shape, call[0])
    if call.attribute("layout"):
        state = moved(state, lambda each: each.swapaxes(0, 1))
    return _at(state, at)


Step = Callable[[Call, _Direction, Estimate, Estimate, Estimate | None], tuple[Estimate, ...]]
"""The hidden state, and that of the cell, after one step."""


def _rnn(
    call: Call, of: _Direction, x: Estimate, hidden: Estimate, cell: Estimate | None
) -> tuple[Estimate, ...]:
    return (of.activations[0](of.gate(0, x, hidden)),)


def _gru(
    call: Call, of: _Direction, x: Estimate, hidden: Estimate, cell: Estimate | None
) -> tuple[Estimate, ...]:
    first, second = of.activations
    update = first(of.gate(0, x, hidden))
    reset = first(of.gate(1, x, hidden))
    entering = _add(_product(x, of.weights[2]), of.biases[2])
    if call.flag("linear_before_reset"):
        kept = _add(_product(hidden, of.recurrent[2]), of.recurrent_biases[2])
        entering = _add(entering, _times(reset, kept))
    else:
        kept = _product(_times(reset, hidden), of.recurrent[2])
        entering = _add(entering, kept, of.recurrent_biases[2])
    new = second(entering)
    rest = relax("subtract", constant(1, update), update)
    return (_add(_times(rest, new), _times(update, hidden)),)


def _lstm(
    call: Call, of: _Direction, x: Estimate, hidden: Estimate, cell: Estimate | None
) -> tuple[Estimate, ...]:
    """Gates in the order of the weights: input, output, forget, cell."""
    if cell is None:
        raise ValueError("without a state of the cell")
    first, second, third = of.activations

    def peeking(at: int, state: Estimate) -> Estimate:
        entering = of.gate(at, x, hidden)
        return entering if of.peepholes is None else _add(
            entering, _times(of.peepholes[at], state)
        )  # fmt: skip

    entered = first(peeking(0, cell))
    if call.flag("input_forget"):
        forgotten = relax("subtract", constant(1, entered), entered)
    else:
        forgotten = first(peeking(2, cell))
    new = second(of.gate(3, x, hidden))
    cell = _add(_times(forgotten, cell), _times(entered, new))
    shown = first(peeking(1, cell))
    result = _times(shown, third(cell))
    limit = call.attribute("clip")
    if limit is not None:
        # Some clip the gates alone, others what enters the last activation as well.
        result = unconstrain(result, np.abs(cell.value) + cell.error > limit)
    return result, cell


def _unrolled(call: Call, gates: int, step: Step) -> tuple[Estimate, ...]:
    """All hidden states, the last one, and the last state of the cell."""
    x = call[0]
    if call.attribute("layout"):
        x = moved(x, lambda each: each.swapaxes(0, 1))
    steps, batch = x.value.shape[:2]
    stated = call.optional(4)
    lengths = np.full(batch, steps) if stated is None else np.array(integers(stated))
    if steps == 0:
        raise ValueError("of no steps")
    direction = call.attribute("direction")
    lines, finals, cells = [], [], []
    for at, of in enumerate(_directions(call, gates)):
        backward = direction == "reverse" or (direction == "bidirectional" and at == 1)
        hidden, cell, shown = of.hidden, of.cell, []
        for number in range(steps):
            active = (number < lengths)[:, None]
            # A sequence that is turned begins with its own last element.
            places = np.where(number < lengths, lengths - 1 - number if backward else number, 0)
            element = moved(x, lambda each, p=places: each[p, np.arange(batch)])  # type: ignore[misc]
            states = step(call, of, element, hidden, cell)
            hidden = chosen(active, states[0], hidden)
            if len(states) > 1 and cell is not None:
                cell = chosen(active, states[1], cell)
            shown.append(chosen(active, states[0], _zeros(states[0].value.shape, x)))
        line = joined(shown, np.stack)
        if backward:
            line = moved(line, lambda each: _turned(each, lengths))
        lines.append(line)
        finals.append(hidden)
        cells.append(cell)
    every = joined(lines, lambda each: np.stack(each, 1))
    last = joined(finals, np.stack)
    results = [every, last]
    if cells[0] is not None:
        results.append(joined([each for each in cells if each is not None], np.stack))
    if call.attribute("layout"):
        results[0] = moved(results[0], lambda each: each.transpose(2, 0, 1, 3))
        results[1:] = [moved(each, lambda array: array.swapaxes(0, 1)) for each in results[1:]]
    # Kernels that bound what enters an activation lose NaN there.
    return tuple(unconstrain(each, np.isnan(each.value)) for each in results)


def _turned(array: Array, lengths: Array) -> Array:
    result = array.copy()
    for at, length in enumerate(lengths):
        result[:length, at] = array[:length, at][::-1]
    return result


@composite("RNN")
def _rnn_layer(call: Call) -> tuple[Estimate, ...]:
    return _unrolled(call, 1, _rnn)


@composite("GRU")
def _gru_layer(call: Call) -> tuple[Estimate, ...]:
    return _unrolled(call, 3, _gru)


@composite("LSTM")
def _lstm_layer(call: Call) -> tuple[Estimate, ...]:
    return _unrolled(call, 4, _lstm)
