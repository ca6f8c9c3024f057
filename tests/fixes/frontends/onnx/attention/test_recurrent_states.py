"""CausalConvWithState and LinearAttention against ONNX's evaluator."""

import itertools
import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from onnx.reference import ReferenceEvaluator

from relaxcheck.fixes.framework import installation
from relaxcheck.fixes.frontends.onnx import probing
from relaxcheck.fixes.frontends.onnx.attention import causal_convolution, linear
from tests.fixes import compiled
from tests.fixes import whole_programs as whole
from tests.fixes.onnx_results import computes, run

B, CHANNELS, LENGTH = 2, 3, 5
KEYS, VALUES = 4, 6


@pytest.fixture(autouse=True)
def fixed(fixes_off: None) -> Iterator[None]:
    with installation.install([causal_convolution.FIX, linear.FIX]):
        yield


def agrees(operator: str, inputs: list[Any], shapes: Any, **attributes: Any) -> None:
    """The outputs for sizes that are numbers, and that are symbols, are those of ONNX."""
    names = [f"input_{number}" for number in range(len(inputs))]
    named = dict(zip(names, inputs, strict=True))
    model = probing.node_model(operator, named, 27, outputs=2, **attributes)
    feeds = {name: array for name, array in named.items() if array is not None}
    expected = ReferenceEvaluator(model).run(None, feeds)
    tolerance = 5e-3 if inputs[0].itemsize == 2 else 1e-5
    computes(operator, 27, inputs, *expected, tolerance=tolerance, **attributes)
    symbolic = {number: shape for number, shape in shapes.items() if inputs[number] is not None}
    how = {**attributes, "symbolic": symbolic, "tolerance": tolerance}
    computes(operator, 27, inputs, *expected, **how)


@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize("activation", ["none", "silu", "swish"])
@pytest.mark.parametrize(("size", "has_past"), [(1, False), (3, False), (3, True), (7, False)])
def test_convolutions(size: int, has_past: bool, activation: str, dtype: str) -> None:
    shapes = [(B, CHANNELS, LENGTH), (CHANNELS, 1, size), (CHANNELS,), (B, CHANNELS, size - 1)]
    inputs: list[Any] = [
        compiled.sample(shape, dtype, seed=seed) for seed, shape in enumerate(shapes)
    ]
    if not has_past:
        inputs[2:] = [None, None]
    symbols = {0: ("batch", CHANNELS, "length"), 3: ("batch", CHANNELS, size - 1)}
    agrees("CausalConvWithState", inputs, symbols, activation=activation)


@pytest.mark.parametrize("rule", ["linear", "gated", "delta", "gated_delta"])
@pytest.mark.parametrize(("many", "few"), [(2, 2), (4, 2), (3, 1)])
def test_rules_and_heads(many: int, few: int, rule: str) -> None:
    for has_past, wide in itertools.product((False, True), repeat=2):
        shapes = {
            0: (B, LENGTH, many * KEYS),
            1: (B, LENGTH, few * KEYS),
            2: (B, LENGTH, few * VALUES),
            3: (B, few, KEYS, VALUES),
            4: (B, LENGTH, few * KEYS if wide else few),
            5: (B, LENGTH, few if wide else 1),
        }
        inputs: list[Any] = [
            compiled.sample(shape, "float32", seed=seed) / 2 for seed, shape in shapes.items()
        ]
        for number, there in ((3, has_past), (4, "gated" in rule), (5, "delta" in rule)):
            if not there:
                inputs[number] = None
        symbols = {
            number: ("batch", "length", shape[2]) for number, shape in shapes.items() if number != 3
        }
        symbols[3] = ("batch", *shapes[3][1:])  # type: ignore[assignment]
        how = {"q_num_heads": many, "kv_num_heads": few, "scale": 0.7 if wide else 0.0}
        agrees("LinearAttention", inputs, symbols, update_rule=rule, **how)


@pytest.mark.parametrize(
    ("attributes", "message"),
    [
        ({"update_rule": "odd"}, "update_rule='odd': it must be one of linear, gated, delta"),
        ({"update_rule": "gated"}, "update_rule='gated': decay is required"),
        ({"update_rule": "linear", "q_num_heads": 3}, "q_num_heads=3: it must divide"),
    ],
)
def test_invalid_attributes(attributes: dict[str, Any], message: str) -> None:
    inputs = [np.ones((1, 2, 8), "float32")] * 3
    how = {"q_num_heads": 2, "kv_num_heads": 2, **attributes}
    with pytest.raises(ValueError, match=re.escape(f"LinearAttention is invalid with {message}")):
        run("LinearAttention", 27, inputs, outputs=2, **how)


PROGRAMS: whole.Programs = {
    "onnx_causal_convolution": {
        "CausalConvWithState": (whole.upstream("onnx_causal_convolution", "a_past"),)
    },
    "onnx_linear_attention": {
        "LinearAttention": (whole.upstream("onnx_linear_attention", "rules"),)
    },
}
