"""ConvertLayout on packed convolutions with the fix."""

from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import tvm
from tvm import relax

from relaxcheck import fixes
from relaxcheck.fixes.framework import probes
from relaxcheck.fixes.tvm_api import layout_decisions as tvm_api_layouts
from tests.fixes import compiled, reference
from tests.fixes import whole_programs as whole

DESIRED = {
    1: [None, ["NWC", "WIO"], ["NCW4c", "IOW4i4o"]],
    2: [None, ["NHWC", "HWIO"], ["NCHW4c", "IOHW4i4o"], ["NHWC", "HWIO", "NCHW2c"]],
    3: [None, ["NDHWC", "DHWIO"], ["NCDHW4c", "IODHW4i4o"]],
}
SPATIAL = {1: "W", 2: "HW", 3: "DHW"}


@pytest.mark.parametrize(
    ("rank", "desired"), [(rank, desired) for rank in DESIRED for desired in DESIRED[rank]]
)
@pytest.mark.parametrize("packed", ["data", "out", ""])
def test_values_stay(rank: int, desired: list[str] | None, packed: str) -> None:
    spatial = SPATIAL[rank]
    plain = f"NC{spatial}"
    data_layout = f"{plain}2c" if packed == "data" else plain
    out_layout = f"{plain}4c" if packed == "out" else plain
    data = compiled.sample((1, 4, *range(2, 2 + rank)), "int8").astype("float32")
    kernel = compiled.sample((4, 8, *[2] * rank), "int8", 1).astype("float32")
    stored = reference.stored(data, data_layout, plain)
    operator = getattr(relax.op.nn, f"conv{rank}d_transpose")
    strides = tuple(range(1, rank + 1))
    name = f"relax.nn.conv{rank}d_transpose"

    def make(x: Any, w: Any) -> Any:
        return operator(x, w, strides=strides, data_layout=data_layout, out_layout=out_layout)

    with fixes.install():
        module = compiled.module(make, stored.shape, kernel.shape)
        converted = relax.transform.ConvertLayout({name: desired} if desired else {})(module)
        out = compiled.build(converted)(stored, kernel)
    want = reference.conv_transpose(
        data, kernel, strides, (0,) * 2 * rank, (0,) * rank, (1,) * rank, 1
    )
    np.testing.assert_array_equal(out, reference.stored(want, out_layout, plain))


def test_whole_layouts_are_still_converted(fixes_on: None) -> None:
    module = compiled.module(relax.op.nn.conv2d_transpose, (1, 2, 3, 4), (2, 2, 2, 2))
    desired = {"relax.nn.conv2d_transpose": ["NHWC", "HWIO"]}
    assert "NHWC" in str(relax.transform.ConvertLayout(desired)(module))


def keeps_layouts(rank: int, desired: str = "", **layouts: str) -> None:
    """ConvertLayout leaves a convolution alone that is packed, or is to be."""
    spatial = whole.SPATIAL[rank]
    data = np.zeros((1, 2, *(3,) * rank))
    kernel = np.zeros((2, 2, *(2,) * rank))
    shapes = (
        reference.stored(data, layouts.get("data_layout", f"NC{spatial}"), f"NC{spatial}").shape,
        reference.stored(
            kernel, layouts.get("kernel_layout", f"IO{spatial}"), f"IO{spatial}"
        ).shape,
    )
    module = compiled.module(whole.convolution(rank, **layouts), *shapes)
    wanted = [desired or f"N{spatial}C", f"IO{spatial}"]
    relax.transform.ConvertLayout({f"relax.nn.conv{rank}d_transpose": wanted})(module)


def keeps_packed_tensors() -> None:
    """A transposed convolution accepts data that an earlier convolution packs."""

    def make(x: Any, w: Any, v: Any) -> Any:
        return relax.op.nn.conv2d_transpose(relax.op.nn.conv2d(x, w), v)

    builder = relax.BlockBuilder()
    variables = probes.inputs(((1, 4, 5, 5), (4, 4, 2, 2), (4, 4, 2, 2)))
    with builder.function("main", variables):
        with builder.dataflow():
            packed = builder.emit(relax.op.nn.conv2d(*variables[:2]))
            result = builder.emit_output(relax.op.nn.conv2d_transpose(packed, variables[2]))
        builder.emit_func_output(result)
    wanted = {"relax.nn.conv2d": ["NCHW4c", "OIHW4o"]}
    relax.transform.ConvertLayout(wanted)(builder.get())


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


@pytest.mark.parametrize("rank", [1, 2, 3])
@pytest.mark.parametrize("name", ["data_layout", "kernel_layout", "out_layout"])
@pytest.mark.parametrize("last", [True, False])
def test_a_packed_convolution_stays_as_it_is(
    fixes_on: None, rank: int, name: str, last: bool
) -> None:
    module = packed_convolution(rank, name)
    spatial = SPATIAL[rank]
    wanted = [f"N{spatial}C", f"{spatial}IO"] if last else [f"NC{spatial}2c", f"OI{spatial}2o"]
    converted = relax.transform.ConvertLayout({f"relax.nn.conv{rank}d": wanted})(module)
    assert str(converted) == str(module)


def packed_convolution(rank: int, name: str) -> Any:
    """A program of one convolution, packed in the layout ``name``."""
    axes = ("OI" if name == "kernel_layout" else "NC") + SPATIAL[rank]
    shapes = {"data_layout": (1, 2, *[3] * rank), "kernel_layout": (2, 2, *[2] * rank)}
    if name in shapes:
        outer, inner, *rest = shapes[name]
        shapes[name] = (outer, inner // 2, *rest, 2)
    operator = getattr(relax.op.nn, f"conv{rank}d")
    attributes = {name: f"{axes}2{axes[1].lower()}"}
    return compiled.module(lambda x, w: operator(x, w, **attributes), *shapes.values())


def keeps_packed_convolution(rank: int, name: str) -> None:
    """ConvertLayout to channels last leaves a packed convolution alone."""
    spatial = SPATIAL[rank]
    wanted = {f"relax.nn.conv{rank}d": [f"N{spatial}C", f"{spatial}IO"]}
    relax.transform.ConvertLayout(wanted)(packed_convolution(rank, name))


def decision(layout: str) -> Any:
    """ConvertLayout's record of a decision."""
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
    result = infer(call, desired, {call.args[number]: decision("NCHW2c")})
    assert [tvm_api_layouts.name(layout) for layout in result.input_layouts] == ["ABCD", "ABCD"]
    assert [tvm_api_layouts.name(layout) for layout in result.output_layouts] == ["ABCD"]
    assert result.new_attrs.same_as(call.attrs)
    assert len(result.new_args) == 0
    whole = infer(call, desired, {call.args[number]: decision("NCHW")})
    assert whole.new_attrs.data_layout == "NHWC"


def test_the_name_of_a_layout() -> None:
    assert tvm_api_layouts.name(decision("NCHW4c")) == "NCHW4c"
    unknown = tvm.ir.make_node(
        "relax.transform.LayoutDecision", layout=tvm.s_tir.slayout("N"), is_unknown_dim=True
    )
    assert tvm_api_layouts.name(unknown) == ""
    assert tvm_api_layouts.name(SimpleNamespace(layout=None, is_unknown_dim=False)) == ""


PROGRAMS: whole.Programs = {
    "convert_layout_packed": {
        "packed data": tuple(
            partial(keeps_layouts, rank, data_layout=f"NC{whole.SPATIAL[rank]}2c")
            for rank in (1, 2, 3)
        ),
        "packed kernels": tuple(
            partial(keeps_layouts, rank, kernel_layout=f"IO{whole.SPATIAL[rank]}2i")
            for rank in (1, 2, 3)
        ),
        "packed outputs": tuple(
            partial(keeps_layouts, rank, out_layout=f"NC{whole.SPATIAL[rank]}2c")
            for rank in (1, 2, 3)
        ),
        "packed convolutions": tuple(
            partial(keeps_packed_convolution, rank, name)
            for name in ("data_layout", "kernel_layout", "out_layout")
            for rank in (1, 2, 3)
        ),
        "packed arguments": (keeps_packed_tensors,),
        "packed layouts desired": tuple(
            partial(keeps_layouts, rank, desired=f"NC{whole.SPATIAL[rank]}2c") for rank in (1, 2, 3)
        ),
    },
}

CURES: whole.Cures = {
    "conv1d-transpose-packed-convert-layout": (("convert_layout_packed", "packed data"),),
    "conv1d-transpose-packed-kernel-convert-layout": (("convert_layout_packed", "packed kernels"),),
    "conv2d-transpose-packed-convert-layout": (("convert_layout_packed", "packed data"),),
    "conv2d-transpose-packed-out-convert-layout": (("convert_layout_packed", "packed outputs"),),
    "conv2d-packed-convert-layout": (("convert_layout_packed", "packed convolutions"),),
    "conv2d-packed-output-convert-layout": (("convert_layout_packed", "packed convolutions"),),
    "conv3d-transpose-packed-convert-layout": (("convert_layout_packed", "packed kernels"),),
}
