"""Calls of operators: the records agree with the signatures of TVM's functions."""

import inspect
from typing import Any

import pytest

from relaxcheck.generators.calls import attributes_of_type, form, grouped, required, telling
from relaxcheck.generators.core.program import Node
from relaxcheck.generators.operators import OPERATORS
from relaxcheck.generators.operators.record import REQUIRED

FUNCTIONS = [name for name, record in OPERATORS.items() if record.form == "call"]


def parameters(operator: str) -> dict[str, Any]:
    """The parameters of TVM's function and their defaults; a list of equal items is one of them."""
    from tvm import relax

    function: Any = relax.op
    for part in operator.split("."):
        function = getattr(function, part)
    defaults = {
        name: parameter.default
        for name, parameter in inspect.signature(function).parameters.items()
    }
    return {
        name: REQUIRED
        if default is inspect.Parameter.empty
        else default[0]
        if isinstance(default, list | tuple) and len(set(default)) == 1
        else default
        for name, default in defaults.items()
    }


@pytest.mark.tvm
@pytest.mark.parametrize("operator", FUNCTIONS)
def test_attributes_operands_and_defaults_are_those_of_tvm(operator: str) -> None:
    record, stated = OPERATORS[operator], parameters(operator)
    for attribute in record.attributes:
        default = stated.pop(attribute.name)
        assert (type(default), default) == (type(attribute.default), attribute.default)
    # The others are operands, in their order.
    assert list(stated) == [operand.name for operand in record.operands]
    for default, operand in zip(stated.values(), record.operands, strict=True):
        assert (default is None) == operand.optional


def test_calls_of_no_function_have_a_form_of_their_own() -> None:
    forms = {name: record.form for name, record in OPERATORS.items() if record.form != "call"}
    bare = {name for name, form in forms.items() if form == "bare"}
    assert all(name.startswith("inspect.tensor_") for name in bare)
    assert {name: forms[name] for name in forms.keys() - bare} == {
        "match_cast": "cast",
        **dict.fromkeys(("call_tir", "call_tir_inplace", "call_tir_with_grad"), "tir"),
        **dict.fromkeys(("call_dps_packed", "call_inplace_packed", "call_pure_packed"), "packed"),
        **dict.fromkeys(("invoke_closure", "invoke_pure_closure"), "closure"),
    }
    assert form("match_cast") == "cast"
    assert form("unheard.of") == "call"


def test_operands_of_many_are_one_list() -> None:
    assert grouped("concat", ["x", "y", "z"]) == [["x", "y", "z"]]
    assert grouped("add", ["x", "y"]) == ["x", "y"]
    assert grouped("unheard.of", ["x", "y"]) == ["x", "y"]


def test_attributes_by_type() -> None:
    assert set(attributes_of_type("strided_slice", "expressions")) == {"begin", "end", "strides"}
    assert attributes_of_type("full", "constant") == ("fill_value",)
    assert attributes_of_type("unheard.of", "constant") == ()


def test_only_attributes_off_default_are_listed() -> None:
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


def test_attributes_without_a_default_are_required() -> None:
    assert required("call_tir") == {"function", "of", "shape", "dtype"}
    assert required("reshape") == {"shape"}
    assert required("nn.conv2d") == required("no.such_operator") == frozenset()
