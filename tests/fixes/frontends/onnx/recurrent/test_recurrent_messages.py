"""Errors in a node of LSTM, GRU or RNN name operator and attribute."""

import re
from typing import Any

import numpy as np
import pytest

from relaxcheck.fixes import tvm_api
from tests.fixes.compiled import whole
from tests.fixes.recurrent_models import arrays, imported, model, tvm_of

# The importer warns of models that ONNX's checker does not like.
pytestmark = [
    pytest.mark.usefixtures("importing"),
    pytest.mark.filterwarnings("ignore::UserWarning"),
]


def refused(
    kind: type[Exception], message: str, operator: str, feeds: Any = None, **more: Any
) -> None:
    feeds = arrays(operator, 2, 2) if feeds is None else feeds
    with pytest.raises(kind, match=whole(message)):
        imported(model(operator, feeds, **more))


@pytest.mark.parametrize(
    ("operator", "attributes", "message"),
    [
        (
            "LSTM",
            {"direction": "up"},
            "direction='up': it must be one of forward, reverse, bidirectional",
        ),
        ("GRU", {"hidden_size": 4}, "hidden_size=4: the last dimension of R is 3"),
        ("RNN", {"clip": 0.0}, "clip=0.0: it must be greater than 0"),
        ("LSTM", {"clip": -1.0}, "clip=-1.0: it must be greater than 0"),
        ("LSTM", {"input_forget": 2}, "input_forget=2: it must be 0 or 1"),
        ("GRU", {"linear_before_reset": -1}, "linear_before_reset=-1: it must be 0 or 1"),
        ("RNN", {"layout": 2}, "layout=2: it must be 0 or 1"),
        ("GRU", {"input_forget": 1}, "input_forget=1: it has no such attribute"),
        ("LSTM", {"output_sequence": 1}, "output_sequence=1: it has no such attribute"),
        ("GRU", {"activations": ["Tanh"]}, "activations=['Tanh']: there must be 2 of them"),
        (
            "RNN",
            {"activations": ["Gelu"]},
            "activations=['Gelu']: ONNX has Affine, Elu, HardSigmoid, LeakyRelu, Relu, ScaledTanh,"
            " Sigmoid, Softplus, Softsign, Tanh, ThresholdedRelu",
        ),
        (
            "RNN",
            {"activations": ["Elu"], "activation_alpha": [0.5, 0.25]},
            "activation_alpha=[0.5, 0.25]: the functions Elu take 1 of them",
        ),
        (
            "GRU",
            {"activation_beta": [0.5]},
            "activation_beta=[0.5]: the functions Sigmoid, Tanh take 0 of them",
        ),
    ],
)
def test_attributes(operator: str, attributes: dict[str, Any], message: str) -> None:
    refused(ValueError, f"{operator} is invalid with {message}", operator, **attributes)


@pytest.mark.parametrize(
    ("name", "values", "missing"),
    [("ScaledTanh", {}, "alpha"), ("Affine", {"activation_alpha": [0.5]}, "beta")],
)
def test_functions_without_a_default(name: str, values: dict[str, Any], missing: str) -> None:
    message = f"RNN cannot be lowered with activations=['{name}'], activation_{missing}=None"
    refused(tvm_api.OpNotImplemented, message, "RNN", activations=[name], **values)


@pytest.mark.parametrize(
    ("name", "shape", "wanted"),
    [
        ("W", (1, 12, 3), None),
        ("B", (1, 23), (1, 24)),
        ("B", (24,), (1, 24)),
        ("P", (1, 8), (1, 9)),
        ("sequence_lens", (3,), (2,)),
        ("initial_h", (2, 2, 3), (1, 2, 3)),
        ("initial_c", (1, 2, 4), (1, 2, 3)),
    ],
)
def test_shapes(name: str, shape: tuple[int, ...], wanted: Any) -> None:
    feeds = arrays("LSTM", 2, 2)
    feeds[name] = np.zeros(shape, "int32" if name == "sequence_lens" else "float32")
    shapes = {each: array.shape for each, array in feeds.items() if each in ("X", name)}
    where, result = (name, tvm_api.show(shape)) if wanted else ("X", "(2, 2, 2)")
    message = f"LSTM is invalid with shape of {where}={result!r}"
    message += f": it must be {tvm_api.show(wanted or (2, 2, 3))}"
    refused(ValueError, message, "LSTM", feeds, shapes=shapes)


def test_weights_without_elements_or_of_another_rank() -> None:
    feeds = arrays("RNN", 2, 2)
    message = "RNN is invalid with shape of W='(1, 3, 0)': no dimension may be 0"
    refused(ValueError, message, "RNN", {**feeds, "W": np.zeros((1, 3, 0), "f4")})
    message = "RNN is invalid with shape of R='(3, 3)': it must be of 3 dimensions"
    refused(ValueError, message, "RNN", {**feeds, "R": feeds["R"][0]})


def test_dtypes() -> None:
    feeds = arrays("GRU", 2, 2, "initial_h")
    message = "GRU is invalid with dtype of sequence_lens='int64': it must be int32"
    refused(ValueError, message, "GRU", {**feeds, "sequence_lens": np.ones(2, "int64")})
    message = "GRU is invalid with dtype of initial_h='float64': it must be float32"
    refused(ValueError, message, "GRU", {**feeds, "initial_h": feeds["initial_h"].astype("f8")})
    integers = {name: array.astype("int32") for name, array in feeds.items()}
    message = "GRU cannot be lowered with dtype of X='int32'"
    refused(tvm_api.OpNotImplemented, message, "GRU", integers)


def test_models_of_an_old_opset() -> None:
    message = "LSTM cannot be lowered with opset=6"
    refused(tvm_api.OpNotImplemented, message, "LSTM", opset=6)


def test_weights_must_be_there() -> None:
    feeds = arrays("RNN", 2, 2)
    del feeds["R"]
    feeds["B"] = np.zeros((1, 6), "f4")
    refused(ValueError, "RNN is invalid with R=None: it is required", "RNN", feeds)


@pytest.mark.parametrize("lengths", [(3, 1), (1, -1)])
def test_lengths_beyond_the_input(lengths: tuple[int, ...]) -> None:
    feeds = arrays("GRU", 2, 2, lengths=lengths)
    run = tvm_of(model("GRU", feeds))
    message = "GRU: sequence_lens must be within 0 and the length of X"
    with pytest.raises(ValueError, match=re.escape(message)):
        run(feeds)


def test_sizes_that_differ_at_run_time() -> None:
    """Each input has its own symbol for the batch, and for the features."""
    feeds = arrays("LSTM", 2, 2, "initial_h", "initial_c", lengths=(2, 1))
    shapes = {
        "X": ("length", "batch", "features"),
        "sequence_lens": ("sequences",),
        "initial_h": (1, "states", 3),
        "initial_c": (1, "cells", 3),
    }
    run = tvm_of(model("LSTM", feeds, shapes=shapes))
    run(feeds)
    for name, message in (
        ("sequence_lens", "LSTM: dimension 0 of sequence_lens, sequences, must be batch"),
        ("initial_h", "LSTM: dimension 1 of initial_h, states, must be batch"),
        ("initial_c", "LSTM: dimension 1 of initial_c, cells, must be batch"),
    ):
        array = feeds[name]
        short = array[:1] if name == "sequence_lens" else array[:, :1]
        with pytest.raises(ValueError, match=re.escape(message)):
            run({**feeds, name: short})
    with pytest.raises(Exception, match=r"features|match"):
        run({**feeds, "X": np.zeros((2, 2, 3), "f4")})
