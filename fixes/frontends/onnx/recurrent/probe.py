"""The probe of the importer for ONNX's LSTM, GRU and RNN.

It imports a model whose sequences, states and inputs have a single unit, compiles and runs it, and
compares the result with the recurrence in plain Python.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from relaxcheck.fixes.framework.probes import Array
from relaxcheck.fixes.frontends.onnx.probing import outputs

Numbers = Sequence[float]
Steps = Callable[[Numbers], list[float]]

_GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}
_INPUTS = ("X", "W", "R", "B", "sequence_lens", "initial_h", "initial_c", "P")
_W = np.array([0.5, -0.7, 0.9, 0.4])
_R = np.array([0.3, 0.8, -0.6, 0.7])
_PEEPHOLES = np.array([0.9, -0.5, 0.6])
_STATE, _CELL = 0.25, -0.5
_DATA = np.array([[0.5, -1.0], [2.0, 1.5], [-0.5, 1.0]])
"""The values of two sequences, by time."""


def _logistic(x: float) -> float:
    return 1 / (1 + math.exp(-x))


def _rnn(data: Numbers) -> list[float]:
    state, states = _STATE, []
    for x in data:
        state = math.tanh(_W[0] * x + _R[0] * state)
        states.append(state)
    return states


def _gru(data: Numbers) -> list[float]:
    state, states = _STATE, []
    for x in data:
        update, reset = (_logistic(_W[gate] * x + _R[gate] * state) for gate in (0, 1))
        new = math.tanh(_W[2] * x + _R[2] * reset * state)
        state = (1 - update) * new + update * state
        states.append(state)
    return states


def _lstm(data: Numbers, peepholes: Array = 0 * _PEEPHOLES) -> list[float]:
    state, cell, states = _STATE, _CELL, []
    for x in data:
        entry, output, forget, new = (_W[gate] * x + _R[gate] * state for gate in range(4))
        kept = _logistic(forget + peepholes[2] * cell) * cell
        cell = kept + _logistic(entry + peepholes[0] * cell) * math.tanh(new)
        state = _logistic(output + peepholes[1] * cell) * math.tanh(cell)
        states.append(state)
    return states


_STEPS: dict[str, Steps] = {"LSTM": _lstm, "GRU": _gru, "RNN": _rnn}


def model(
    nodes: Sequence[str],
    constants: Mapping[str, Array],
    shape: Sequence[int | str] = (3, 2, 1),
    **attributes: Any,
) -> Any:
    """A model with a node for each operator in ``nodes``, all with the input X of ``shape``.

    ``constants`` by ONNX name have rows for the largest number of gates. The outputs are the Y of
    each node.
    """
    from onnx import TensorProto, helper, numpy_helper

    initializers, calls = [], []
    for operator in nodes:
        names = []
        for name in _INPUTS[: 8 if operator == "LSTM" else 6]:
            names.append(f"{operator}_{name}" if name in constants else "")
            if name in constants:
                rows = slice(_GATES[operator] if name in ("W", "R") else None)
                array = constants[name][:, rows] if name in ("W", "R") else constants[name]
                initializers.append(numpy_helper.from_array(array, names[-1]))
        names[0] = "X"
        while not names[-1]:
            names.pop()
        calls.append(
            helper.make_node(operator, names, [f"{operator}_Y"], hidden_size=1, **attributes)
        )
    graph = helper.make_graph(
        calls,
        "sequences",
        [helper.make_tensor_value_info("X", TensorProto.FLOAT, list(shape))],
        [
            helper.make_tensor_value_info(f"{node}_Y", TensorProto.FLOAT, [None] * 4)
            for node in nodes
        ],
        initializers,
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 14)], ir_version=8)


def lacks(
    operator: str,
    *,
    direction: str = "forward",
    lengths: Sequence[int] = (),
    peepholes: bool = False,
    symbolic: bool = False,
) -> bool:
    """True if TVM does not compute nodes of ``operator``, or of several joined by commas."""
    nodes = operator.split(",")
    if not _known(nodes):
        return True
    reverse = {"forward": [False], "reverse": [True], "bidirectional": [False, True]}[direction]
    weights = {
        "W": np.stack([_W[:, None]] * len(reverse)),
        "R": np.stack([_R[:, None]] * len(reverse)),
        "initial_h": np.full((len(reverse), 2, 1), _STATE),
        "initial_c": np.full((len(reverse), 2, 1), _CELL),
    }
    if peepholes:
        weights["P"] = np.stack([_PEEPHOLES] * len(reverse))
    arrays = {name: weight.astype("float32") for name, weight in weights.items()}
    if lengths:
        arrays["sequence_lens"] = np.array(lengths, "int32")
    shape = ("length", "batch", 1) if symbolic else (3, 2, 1)
    data = _DATA[..., None].astype("float32")
    try:
        actual = outputs(model(nodes, arrays, shape, direction=direction), data)
    except Exception:
        return True
    for name, output in zip(nodes, actual, strict=True):
        steps: Steps = (lambda x: _lstm(x, _PEEPHOLES)) if peepholes else _STEPS[name]
        if not np.allclose(output, _expected(steps, reverse, lengths or (3, 3)), atol=1e-3):
            return True
    return False


def _known(operators: Sequence[str]) -> bool:
    """True if the importer knows ``operators``; importing unknown ones leaves warnings."""
    from tvm.relax.frontend.onnx import onnx_frontend

    return set(operators) <= set(onnx_frontend._get_convert_map())


def _expected(steps: Steps, reverse: Sequence[bool], lengths: Sequence[int]) -> Array:
    """Y, (length, directions, batch, 1)."""
    expected = np.zeros((3, len(reverse), 2, 1))
    for direction, back in enumerate(reverse):
        for batch, length in enumerate(lengths):
            order = slice(None, None, -1 if back else 1)
            numbers = steps(list(_DATA[:length, batch][order]))
            expected[:length, direction, batch, 0] = numbers[order]
    return expected


def lacks_lengths() -> bool:
    """True if one of the operators ignores sequence lengths."""
    return lacks("LSTM,GRU,RNN", direction="reverse", lengths=(2, 1))


def lacks_peepholes() -> bool:
    """True if LSTM ignores peepholes."""
    return lacks("LSTM", peepholes=True)
