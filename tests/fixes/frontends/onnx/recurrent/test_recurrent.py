"""ONNX's LSTM, GRU and RNN agree with ONNX Runtime, PyTorch and a bounded reference.

All three must be within the same bounds of the reference.
"""

import itertools
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from relaxcheck.fixes.frontends.onnx import probing
from relaxcheck.oracles.answer import Bounded
from tests.fixes.recurrent_models import arrays, model, no_answer, onnxruntime_of, tvm_of
from tests.fixes.recurrent_reference import FUNCTIONS, Node, within

Array = NDArray[Any]

# The importer warns of models that ONNX's checker does not like.
pytestmark = [
    pytest.mark.usefixtures("importing"),
    pytest.mark.filterwarnings("ignore::UserWarning"),
]

DIRECTIONS = {"forward": 1, "reverse": 1, "bidirectional": 2}
SIZES = {
    (4, 3): (4, 0, 2),
    (1, 1): (1,),
    (2, 5): (1, 2, 1, 2, 1),
    (3, 1): (2,),
    (0, 2): (0, 0),
    (3, 0): (),
}
"""Length and batch, and the lengths of the sequences."""


def sized(
    base: Mapping[str, Array], operator: str, size: tuple[int, int], directions: int
) -> dict[str, Array]:
    """The weights of ``base`` with other sequences."""
    drawn = arrays(operator, *size, "initial_h", "initial_c", directions=directions)
    weights = ("W", "R", "B")
    result = {
        name: array if name in weights else drawn.get(name, array) for name, array in base.items()
    }
    if "sequence_lens" in base:
        result["sequence_lens"] = np.array(SIZES[size], "int32")
    return result


@pytest.mark.parametrize("operator", ["LSTM", "GRU", "RNN"])
@pytest.mark.parametrize("direction", list(DIRECTIONS))
@pytest.mark.parametrize(("lengths", "states"), list(itertools.product([False, True], repeat=2)))
def test_symbolic_batch_and_length(
    operator: str, direction: str, lengths: bool, states: bool
) -> None:
    """One compiled module at every size."""
    names = ["B"] + ["initial_h"] * states + ["initial_c"] * (states and operator == "LSTM")
    directions = DIRECTIONS[direction]
    base = arrays(
        operator, 4, 3, *names, directions=directions, lengths=SIZES[4, 3] if lengths else ()
    )
    result = model(operator, base, direction=direction)
    run, other = tvm_of(result), onnxruntime_of(result)
    for size in SIZES:
        feeds = sized(base, operator, size, directions)
        expected = Node(operator, feeds, direction).outputs()
        within(run(feeds), expected)
        if not no_answer(operator, *size):
            within(other(feeds), expected)


FEATURES: dict[str, tuple[str, tuple[str, ...], dict[str, Any]]] = {
    "no bias": ("LSTM", (), {}),
    "peepholes": ("LSTM", ("B", "P", "initial_c"), {}),
    "peepholes, clipped": ("LSTM", ("B", "P", "initial_c"), {"clip": 0.75}),
    "coupled gates": ("LSTM", ("B", "P"), {"input_forget": 1}),
    "linear before reset": ("GRU", ("B", "initial_h"), {"linear_before_reset": 1}),
    "linear without bias": ("GRU", ("initial_h",), {"linear_before_reset": 1}),
    "clipped GRU": ("GRU", ("B", "initial_h"), {"clip": 0.5}),
    "clipped RNN": ("RNN", ("B",), {"clip": 0.5}),
}


@pytest.mark.parametrize("name", FEATURES)
def test_features(name: str) -> None:
    operator, names, attributes = FEATURES[name]
    feeds = arrays(operator, 4, 3, *names, directions=2, lengths=(2, 4, 1))
    result = model(operator, feeds, direction="bidirectional", **attributes)
    flags = {
        key: bool(attribute) if key != "clip" else attribute
        for key, attribute in attributes.items()
    }
    expected = Node(operator, feeds, "bidirectional", **flags).outputs()
    within(tvm_of(result)(feeds), expected)
    within(onnxruntime_of(result)(feeds), expected)


ACTIVATIONS: dict[str, tuple[list[str], list[float], list[float]]] = {
    "LSTM": (
        ["HardSigmoid", "ScaledTanh", "Softsign", "Sigmoid", "Elu", "Affine"],
        [0.3, 1.2, 0.7, 0.5],
        [0.4, 0.6, 0.1],
    ),
    "GRU": (["Softsign", "LeakyRelu", "hardsigmoid", "Softplus"], [0.05], []),
    "RNN": (["ThresholdedRelu", "Relu"], [0.4], []),
}


@pytest.mark.parametrize("operator", ACTIVATIONS)
def test_activation_functions_take_alpha_and_beta_in_order(operator: str) -> None:
    names, alpha, beta = ACTIVATIONS[operator]
    feeds = arrays(operator, 3, 2, "B", directions=2)
    attributes = {
        name: values
        for name, values in (("activation_alpha", alpha), ("activation_beta", beta))
        if values
    }
    result = model(operator, feeds, direction="bidirectional", activations=names, **attributes)
    functions = {
        "LSTM": [
            FUNCTIONS["HardSigmoid"](0.3, 0.4),
            FUNCTIONS["ScaledTanh"](1.2, 0.6),
            FUNCTIONS["Softsign"](),
            FUNCTIONS["Sigmoid"](),
            FUNCTIONS["Elu"](0.7),
            FUNCTIONS["Affine"](0.5, 0.1),
        ],
        "GRU": [
            FUNCTIONS["Softsign"](),
            FUNCTIONS["LeakyRelu"](0.05),
            FUNCTIONS["HardSigmoid"](),
            FUNCTIONS["Softplus"](),
        ],
        "RNN": [FUNCTIONS["ThresholdedRelu"](0.4), FUNCTIONS["Relu"]()],
    }[operator]
    expected = Node(operator, feeds, "bidirectional", tuple(functions)).outputs()
    within(tvm_of(result)(feeds), expected)
    within(onnxruntime_of(result)(feeds), expected)


@pytest.mark.parametrize("name", ["Softplus", "Elu"])
def test_an_activation_far_from_zero_does_not_overflow(name: str) -> None:
    feeds = arrays("RNN", 2, 1)
    feeds["X"] *= np.float32(200)
    feeds["R"] *= np.float32(0.01)
    result = tvm_of(model("RNN", feeds, activations=[name]))(feeds)
    within(result, Node("RNN", feeds, functions=(FUNCTIONS[name](),)).outputs())


@pytest.mark.parametrize("operator", ["LSTM", "GRU"])
def test_packed_sequences_of_pytorch(operator: str) -> None:
    """Gates in ONNX's order, padding as ``pad_packed_sequence`` leaves it: zeros."""
    names = ["B", "initial_h"] + ["initial_c"] * (operator == "LSTM")
    feeds = arrays(operator, 5, 3, *names, directions=2, lengths=(2, 5, 3))
    attributes = {"linear_before_reset": 1} if operator == "GRU" else {}
    layer = getattr(torch.nn, operator)(2, 3, bidirectional=True)
    # PyTorch has i, f, g, o and r, z, n.
    order = [0, 2, 3, 1] if operator == "LSTM" else [1, 0, 2]
    with torch.no_grad():
        for direction, suffix in enumerate(("l0", "l0_reverse")):
            halves = np.split(feeds["B"][direction], 2)
            for name, rows in (
                ("weight_ih", feeds["W"][direction]),
                ("weight_hh", feeds["R"][direction]),
                ("bias_ih", halves[0]),
                ("bias_hh", halves[1]),
            ):
                parts = np.split(rows, len(order))
                ours = np.concatenate([parts[gate] for gate in order])
                getattr(layer, f"{name}_{suffix}").copy_(torch.from_numpy(ours))
        packed = torch.nn.utils.rnn.pack_padded_sequence(
            torch.from_numpy(feeds["X"]),
            torch.from_numpy(feeds["sequence_lens"]),
            enforce_sorted=False,
        )
        states = [torch.from_numpy(feeds[name]) for name in names[1:]]
        out, last = layer(packed, tuple(states) if operator == "LSTM" else states[0])
        padded, _ = torch.nn.utils.rnn.pad_packed_sequence(out)
    y = padded.numpy().reshape(5, 3, 2, 3).transpose(0, 2, 1, 3)
    finals = [state.numpy() for state in (last if operator == "LSTM" else [last])]
    expected = Node(
        operator, feeds, "bidirectional", linear_before_reset=bool(attributes)
    ).outputs()
    within([y, *finals], expected)
    within(tvm_of(model(operator, feeds, direction="bidirectional", **attributes))(feeds), expected)


def test_the_bounds_are_narrow() -> None:
    feeds = arrays("LSTM", 4, 3, "B", "P", "initial_h", "initial_c", directions=2)
    assert (
        max(output.bound.max() for output in Node("LSTM", feeds, "bidirectional").outputs()) < 1e-4
    )


@pytest.mark.parametrize("operator", ["LSTM", "GRU", "RNN"])
def test_batch_first(operator: str) -> None:
    """Layout 1, which ONNX Runtime refuses: axes exchanged, and nothing else."""
    names = ["B", "initial_h"] + ["initial_c"] * (operator == "LSTM")
    feeds = arrays(operator, 4, 3, *names, directions=2, lengths=(2, 4, 1))
    expected = Node(operator, feeds, "bidirectional").outputs()
    states = ("X", "initial_h", "initial_c")
    swapped = {
        n: array.swapaxes(0, 1).copy() if n in states else array for n, array in feeds.items()
    }
    shapes = {
        "X": ("batch", "length", 2),
        **{name: ("batch", 2, 3) for name in names if name != "B"},
    }
    result = model(operator, swapped, shapes=shapes, direction="bidirectional", layout=1)
    y, *finals = tvm_of(result)(swapped)
    within([y.transpose(1, 2, 0, 3), *(final.swapaxes(0, 1) for final in finals)], expected)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64"])
def test_other_dtypes(dtype: str) -> None:
    """float64 throughout; others are computed in float32 and rounded once at the end."""
    feeds = arrays("GRU", 3, 2, "B", "initial_h", dtype=dtype)
    result = tvm_of(model("GRU", feeds))(feeds)
    assert {array.dtype for array in result} == {np.dtype(dtype)}
    if dtype == "float64":
        within(result, Node("GRU", feeds, dtype=dtype).outputs())
        return
    wide = {name: array.astype("float32") for name, array in feeds.items()}
    expected = Node("GRU", wide).outputs()
    unit = 2.0**-11 if dtype == "float16" else 2.0**-8
    widened = [
        Bounded(
            array.value,
            array.bound + unit * (np.abs(array.value) + array.bound) + 2.0**-24,
            "float32",
        )
        for array in expected
    ]
    within([array.astype("float32") for array in result], widened)


@pytest.mark.parametrize("name", ["Tanh", "ScaledTanh"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_small_numbers_keep_their_digits(name: str, dtype: str) -> None:
    scale = {"activation_alpha": [0.5], "activation_beta": [1.5]} if name == "ScaledTanh" else {}
    x = np.array([[[1e-4, 0.3, 0.7, -1e-9]]], dtype).reshape(1, 4, 1)
    weights = {"W": np.ones((1, 1, 1), dtype), "R": np.zeros((1, 1, 1), dtype)}
    (every,) = probing.outputs(
        probing.node_model(
            "RNN", {"X": x, **weights}, 14, hidden_size=1, activations=[name], **scale
        ),
        x,
        *weights.values(),
    )
    expected = 0.5 * np.tanh(1.5 * x) if scale else np.tanh(x)
    unit = np.finfo(dtype).eps
    np.testing.assert_allclose(every.reshape(x.shape), expected, rtol=8 * unit)
