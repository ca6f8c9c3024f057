"""ConvertLayout with the fix: calls that stay as they are, and what comes before and after."""

from types import SimpleNamespace
from typing import Any

import pytest
import tvm
from tvm import relax

import fixes
from fixes import probes, tvm_api
from tests.fixes import compiled

NAME = "relax.nn.conv2d_transpose"


def converted(make: Any, desired: list[str], *shapes: Any) -> Any:
    module = compiled.module(make, *shapes)
    return relax.transform.ConvertLayout({NAME: desired})(module)


def test_whole_layouts_are_converted_as_without_the_fix() -> None:
    def convert() -> str:
        return str(
            converted(
                lambda x, w: relax.op.nn.relu(relax.op.nn.conv2d_transpose(x, w)),
                ["NHWC", "HWIO"],
                (1, 2, 3, 4),
                (2, 2, 2, 2),
            )
        )

    want = convert()
    with fixes.install():
        assert convert() == want


@pytest.mark.parametrize(
    ("attributes", "desired"),
    [
        ({}, ["NCHW2c", "IOHW2i2o"]),
        ({}, ["NHWC", "IOHW2i2o"]),
        ({"out_layout": "NCHW4c"}, ["NHWC", "HWIO"]),
        ({"kernel_layout": "HWIO2o"}, ["NHWC", "HWIO"]),
    ],
)
def test_a_packed_call_stays_as_it_is(
    fixes_on: None, attributes: dict[str, Any], desired: list[str]
) -> None:
    packed = "kernel_layout" in attributes
    kernel = (2, 2, 2, 2, 2) if packed else (2, 4, 2, 2)

    def make(x: Any, w: Any) -> Any:
        return relax.op.nn.relu(relax.op.nn.conv2d_transpose(x, w, strides=2, **attributes))

    shapes = (1, 2, 3, 4), kernel
    assert str(converted(make, desired, *shapes)) == str(compiled.module(make, *shapes))


def decision(layout: str) -> Any:
    """What ConvertLayout has decided on for a tensor."""
    return tvm.ir.make_node(
        "relax.transform.LayoutDecision", layout=tvm.s_tir.slayout(layout), is_unknown_dim=False
    )


@pytest.mark.parametrize("number", [0, 1])
def test_an_argument_in_a_packed_layout_is_asked_for_as_written(
    fixes_on: None, number: int
) -> None:
    call = probes.one_call(
        lambda x, w: relax.op.nn.conv2d_transpose(x, w, strides=2), (1, 2, 3, 4), (2, 4, 2, 2)
    )
    desired = {NAME: ["NHWC", "HWIO"]}
    infer = call.op.get_attr("FRelaxInferLayout")
    found = infer(call, desired, {call.args[number]: decision("NCHW2c")})
    assert [tvm_api.layout_name(one) for one in found.input_layouts] == ["ABCD", "ABCD"]
    assert [tvm_api.layout_name(one) for one in found.output_layouts] == ["ABCD"]
    assert found.new_attrs.same_as(call.attrs)
    assert len(found.new_args) == 0
    whole = infer(call, desired, {call.args[number]: decision("NCHW")})
    assert whole.new_attrs.data_layout == "NHWC"


def test_the_name_of_a_layout() -> None:
    assert tvm_api.layout_name(decision("NCHW4c")) == "NCHW4c"
    unknown = tvm.ir.make_node(
        "relax.transform.LayoutDecision", layout=tvm.s_tir.slayout("N"), is_unknown_dim=True
    )
    assert tvm_api.layout_name(unknown) == ""
    assert tvm_api.layout_name(SimpleNamespace(layout=None, is_unknown_dim=False)) == ""
