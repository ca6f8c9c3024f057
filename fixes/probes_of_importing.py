"""What the running TVM's importer makes of ONNX's LSTM, GRU and RNN.

Each probe imports a model whose sequences, states and inputs are of one number, compiles and runs
it, and compares what comes out with the recurrence in plain Python.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import tvm
from tvm import relax

from fixes.probes import Array

Numbers = Sequence[float]
Steps = Callable[[Numbers], list[float]]

_GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}
_INPUTS = ("X", "W", "R", "B", "sequence_lens", "initial_h", "initial_c", "P")
_W = np.array([0.5, -0.7, 0.9, 0.4])
_R = np.array([0.3, 0.8, -0.6, 0.7])
_PEEPHOLES = np.array([0.9, -0.5, 0.6])
_STATE, _CELL = 0.25, -0.5
_DATA = np.array([[0.5, -1.0], [2.0, 1.5], [-0.5, 1.0]])
"""The numbers of two sequences, by time."""


def _logistic(x: float) -> float:
    return 1 / (1 + math.exp(-x))


def _rnn(data: Numbers) -> list[float]:
    state, found = _STATE, []
    for x in data:
        state = math.tanh(_W[0] * x + _R[0] * state)
        found.append(state)
    return found


def _gru(data: Numbers) -> list[float]:
    state, found = _STATE, []
    for x in data:
        update, reset = (_logistic(_W[gate] * x + _R[gate] * state) for gate in (0, 1))
        new = math.tanh(_W[2] * x + _R[2] * reset * state)
        state = (1 - update) * new + update * state
        found.append(state)
    return found


def _lstm(data: Numbers, peepholes: Array = 0 * _PEEPHOLES) -> list[float]:
    state, cell, found = _STATE, _CELL, []
    for x in data:
        entry, output, forget, new = (_W[gate] * x + _R[gate] * state for gate in range(4))
        kept = _logistic(forget + peepholes[2] * cell) * cell
        cell = kept + _logistic(entry + peepholes[0] * cell) * math.tanh(new)
        state = _logistic(output + peepholes[1] * cell) * math.tanh(cell)
        found.append(state)
    return found


_STEPS: dict[str, Steps] = {"LSTM": _lstm, "GRU": _gru, "RNN": _rnn}


def model(
    nodes: Sequence[str],
    given: Mapping[str, Array],
    shape: Sequence[int | str] = (3, 2, 1),
    **attributes: Any,
) -> Any:
    """A model with a node of each operator of ``nodes``, all of them of an input X of ``shape``.

    ``given`` are constants, by ONNX's names, of rows for as many gates as an operator may have.
    The outputs are Y of each node.
    """
    from onnx import TensorProto, helper, numpy_helper

    constants, calls = [], []
    for operator in nodes:
        names = []
        for name in _INPUTS[: 8 if operator == "LSTM" else 6]:
            names.append(f"{operator}_{name}" if name in given else "")
            if name in given:
                rows = slice(_GATES[operator] if name in ("W", "R") else None)
                array = given[name][:, rows] if name in ("W", "R") else given[name]
                constants.append(numpy_helper.from_array(array, names[-1]))
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
        [helper.make_tensor_value_info(f"{one}_Y", TensorProto.FLOAT, [None] * 4) for one in nodes],
        constants,
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 14)], ir_version=8)


def outputs(model: Any, data: Array) -> list[Array]:
    """What ``model`` makes of ``data``, imported and compiled by ``relax.build``.

    Raises:
        Exception: whatever TVM says where it cannot import, compile or run it.
    """
    from tvm.relax.frontend.onnx import from_onnx

    target = tvm.target.Target({"kind": "llvm", "opt-level": 0})
    executable = relax.build(from_onnx(model), target)
    found = relax.VirtualMachine(executable, tvm.cpu())["main"](tvm.runtime.tensor(data))
    several = [found] if hasattr(found, "numpy") else list(found)
    return [np.asarray(one.numpy()) for one in several]


def lacks(
    operator: str,
    *,
    direction: str = "forward",
    lengths: Sequence[int] = (),
    peepholes: bool = False,
    symbolic: bool = False,
) -> bool:
    """Whether nodes of ``operator``, or of several with commas between, are not computed."""
    nodes = operator.split(",")
    if not _known(nodes):
        return True
    reverse = {"forward": [False], "reverse": [True], "bidirectional": [False, True]}[direction]
    given = {
        "W": np.stack([_W[:, None]] * len(reverse)),
        "R": np.stack([_R[:, None]] * len(reverse)),
        "initial_h": np.full((len(reverse), 2, 1), _STATE),
        "initial_c": np.full((len(reverse), 2, 1), _CELL),
    }
    if peepholes:
        given["P"] = np.stack([_PEEPHOLES] * len(reverse))
    arrays = {name: one.astype("float32") for name, one in given.items()}
    if lengths:
        arrays["sequence_lens"] = np.array(lengths, "int32")
    shape = ("length", "batch", 1) if symbolic else (3, 2, 1)
    data = _DATA[..., None].astype("float32")
    try:
        found = outputs(model(nodes, arrays, shape, direction=direction), data)
    except Exception:
        return True
    for name, one in zip(nodes, found, strict=True):
        steps: Steps = (lambda x: _lstm(x, _PEEPHOLES)) if peepholes else _STEPS[name]
        if not np.allclose(one, _expected(steps, reverse, lengths or (3, 3)), atol=1e-3):
            return True
    return False


def _known(operators: Sequence[str]) -> bool:
    """Whether the importer has ``operators`` at all; it may leave warnings where it has not."""
    from tvm.relax.frontend.onnx import onnx_frontend

    return set(operators) <= set(onnx_frontend._get_convert_map())


def _expected(steps: Steps, reverse: Sequence[bool], lengths: Sequence[int]) -> Array:
    """Y, (length, directions, batch, 1)."""
    found = np.zeros((3, len(reverse), 2, 1))
    for direction, back in enumerate(reverse):
        for batch, length in enumerate(lengths):
            order = slice(None, None, -1 if back else 1)
            numbers = steps(list(_DATA[:length, batch][order]))
            found[:length, direction, batch, 0] = numbers[order]
    return found


def lacks_lengths() -> bool:
    """Whether the lengths of sequences do not count in one of the operators."""
    return lacks("LSTM,GRU,RNN", direction="reverse", lengths=(2, 1))


def lacks_peepholes() -> bool:
    """Whether LSTM does without peepholes."""
    return lacks("LSTM", peepholes=True)
