"""The defaults that scripts leave out are TVM's own."""

import inspect
from typing import Any

import pytest

from generators.program import Node
from oracles import (
    pytorch,
    pytorch_elementwise,
    pytorch_movement,
    pytorch_normalization,
    pytorch_reductions,
    pytorch_windows,
)
from oracles.pytorch_source import DEFAULTS, SOURCES, telling

GROUPS = (
    pytorch_elementwise,
    pytorch_movement,
    pytorch_normalization,
    pytorch_reductions,
    pytorch_windows,
)


def function(operator: str) -> Any:
    from tvm import relax

    found = relax.op
    for part in operator.split("."):
        found = getattr(found, part)
    return found


def one(value: Any) -> Any:
    return value[0] if isinstance(value, tuple) and len(set(value)) == 1 else value


@pytest.mark.parametrize("operator", SOURCES)
def test_defaults_are_tvm_s(operator: str) -> None:
    parameters = inspect.signature(function(operator)).parameters.values()
    operands = {"bias", "seqstart_k", "max_seqlen_k"}
    given = {
        each.name: one(each.default)
        for each in parameters
        if each.default is not inspect.Parameter.empty and each.name not in operands
    }
    assert DEFAULTS.get(operator, {}) == given


def test_every_operator_of_the_pytorch_oracle_has_a_text() -> None:
    # Groups that only families not yet registered draw have none so far.
    grouped = set().union(*(group.OPERATORS for group in GROUPS))
    assert SOURCES.keys() == pytorch.OPERATORS.keys() - grouped


def test_only_what_is_off_default_is_told() -> None:
    attributes = {
        "strides": (1, 1),
        "dilation": (1, 2),
        "groups": 1,
        "padding": (),
        "out_layout": None,
        "data_layout": "NCHW",
        "kernel_layout": "HWIO",
    }
    node = Node("y", "nn.conv2d_transpose", ("x", "w"), attributes)
    assert telling(node) == {"dilation": (1, 2), "padding": (), "kernel_layout": "HWIO"}
    assert telling(Node("y", "unheard.of", ("x",), {"axis": 0})) == {"axis": 0}
    assert telling(Node("y", "matmul", ("x", "w"), {"out_dtype": "int32"})) == {
        "out_dtype": "int32"
    }
