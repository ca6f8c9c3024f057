"""Transposed convolution in every layout and with every dilation.

TVM lowers conv1d/2d/3d_transpose only where data, kernel and output are in its canonical layouts,
and returns the call as it was otherwise; and it lets parameters through that leave no output.

The meaning: output element o of an axis is the sum over inputs i and taps k with
``i*stride + k*dilation - pad_begin == o``, and the output's size is
``(in - 1)*stride - pad_begin - pad_end + dilation*(k - 1) + 1 + output_padding``
(Dumoulin and Visin, "A guide to convolution arithmetic for deep learning", 2016; output padding
extends the end as in PyTorch's ``ConvTranspose2d``). It is computed by gathering, so that no
dilated copy of data or kernel is made and no read is out of bounds.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from tvm import te, tirx

from fixes import layouts, tvm_api
from fixes.fix import Fix, invalid, legalization, refuse, require_shapes
from fixes.layouts import Layout
from fixes.probes import conv_transpose_is_lowered
from fixes.tvm_api import BlockBuilder, Call, Expr, PrimExpr, Tensor

_SPATIAL = {1: "W", 2: "HW", 3: "DHW"}


@dataclass(frozen=True, slots=True)
class _Window:
    """The parameters along one spatial axis."""

    stride: int
    dilation: int
    pad_begin: int
    pad_end: int
    output_padding: int

    def size(self, extent: PrimExpr, taps: PrimExpr) -> PrimExpr:
        return (
            (extent - 1) * self.stride
            - self.pad_begin
            - self.pad_end
            + self.dilation * (taps - 1)
            + 1
            + self.output_padding
        )


@dataclass(frozen=True, slots=True)
class _Convolution:
    spatial: str
    windows: tuple[_Window, ...]
    groups: int
    data: Layout
    kernel: Layout
    out: Layout


def _lower(rank: int) -> Callable[[BlockBuilder, Call], Expr]:
    def lower(builder: BlockBuilder, call: Call) -> Expr:
        require_shapes(call)
        convolution = _read(call, _SPATIAL[rank])
        _check(call, convolution)

        def compute(data: Tensor, kernel: Tensor, shape: Sequence[PrimExpr]) -> Tensor:
            return _compute(data, kernel, shape, convolution, tvm_api.dtype_of(call))

        return builder.call_te(
            compute,
            call.args[0],
            call.args[1],
            tvm_api.shape_of(call),
            primfunc_name_hint=f"conv{rank}d_transpose",
        )

    return lower


def _read(call: Call, spatial: str) -> _Convolution:
    attrs = call.attrs
    rank = len(spatial)
    lists = {
        name: [int(value) for value in getattr(attrs, name)]
        for name in ("strides", "dilation", "padding", "output_padding")
    }
    for name, lowest in (("strides", 1), ("dilation", 1), ("padding", 0), ("output_padding", 0)):
        if min(lists[name]) < lowest:
            raise invalid(call, f"each must be at least {lowest}", **{name: lists[name]})
    for padding, stride in zip(lists["output_padding"], lists["strides"], strict=True):
        if padding >= stride:
            raise invalid(
                call,
                "output padding must be less than the stride",
                output_padding=lists["output_padding"],
                strides=lists["strides"],
            )
    windows = tuple(
        _Window(
            lists["strides"][axis],
            lists["dilation"][axis],
            lists["padding"][axis],
            lists["padding"][axis + rank],
            lists["output_padding"][axis],
        )
        for axis in range(rank)
    )

    def layout(name: str, text: str, channels: str) -> Layout:
        try:
            return layouts.parse(text, channels + spatial)
        except ValueError as error:
            raise invalid(call, str(error), **{name: text}) from error

    data_layout = str(attrs.data_layout)
    return _Convolution(
        spatial,
        windows,
        int(attrs.groups),
        layout("data_layout", data_layout, "NC"),
        layout("kernel_layout", str(attrs.kernel_layout), "IO"),
        layout("out_layout", str(attrs.out_layout) or data_layout, "NC"),
    )


def _check(call: Call, convolution: _Convolution) -> None:
    """Raise where shapes and attributes do not go together, as far as they are known."""
    spatial, groups = convolution.spatial, convolution.groups
    data_shape, kernel_shape = (tvm_api.shape_of(argument) for argument in call.args)
    for name, layout, shape in (
        ("data_layout", convolution.data, data_shape),
        ("kernel_layout", convolution.kernel, kernel_shape),
    ):
        if len(shape) != len(layout.axes):
            raise invalid(
                call, f"the tensor's shape is {tvm_api.show(shape)}", **{name: layout.text}
            )
        for (axis, split), extent in zip(layout.axes, shape, strict=True):
            if split and tvm_api.as_int(extent) != split:
                why = f"axis {axis.lower()} has extent {tvm_api.show(extent)}"
                raise invalid(call, why, **{name: layout.text})
        for extent in shape:
            if (tvm_api.as_int(extent) or 0) < 0:
                why = f"a dimension is negative in shape {tvm_api.show(shape)}"
                raise invalid(call, why, **{name: layout.text})
    data, kernel = convolution.data.extents(data_shape), convolution.kernel.extents(kernel_shape)
    analyzer = tvm_api.analyzer()
    if groups < 1:
        raise invalid(call, "there is at least one group", groups=groups)
    if analyzer.can_prove(tvm_api.floormod(kernel["I"], groups) != 0):
        raise invalid(
            call, f"{tvm_api.show(kernel['I'])} input channels are not divisible", groups=groups
        )
    if analyzer.can_prove(data["C"] != kernel["I"]):
        channels = [tvm_api.show(extent) for extent in (data["C"], kernel["I"])]
        why = f"data has {channels[0]} channels, the kernel {channels[1]}"
        raise invalid(call, why, data_layout=convolution.data.text)
    out = {"N": data["N"], "C": kernel["O"] * groups}
    for axis, window in zip(spatial, convolution.windows, strict=True):
        if tvm_api.as_int(kernel[axis]) == 0:
            why = f"the kernel has no taps along {axis}"
            raise invalid(call, why, kernel_layout=convolution.kernel.text)
        out[axis] = analyzer.simplify(window.size(data[axis], kernel[axis]))
        if analyzer.can_prove(out[axis] <= 0):
            raise invalid(
                call,
                f"the output dimension {axis} would be {tvm_api.show(out[axis])}",
                padding=[int(value) for value in call.attrs.padding],
                strides=[int(value) for value in call.attrs.strides],
                output_padding=[int(value) for value in call.attrs.output_padding],
            )
    for axis, extent in out.items():
        remainder = analyzer.simplify(tvm_api.floormod(extent, convolution.out.factor(axis)))
        if analyzer.can_prove_equal(remainder, 0):
            continue
        fail = invalid if tvm_api.as_int(extent) is not None else _unproved
        factor = convolution.out.factor(axis)
        why = f"the factor {factor} does not divide {axis} = {tvm_api.show(extent)}"
        raise fail(call, why, out_layout=convolution.out.text)


def _unproved(call: Call, why: str, **attributes: object) -> Exception:
    return refuse(call, **attributes, because=f"no proof, or {why}")


def _compute(
    data: Tensor,
    kernel: Tensor,
    out_shape: Sequence[PrimExpr],
    convolution: _Convolution,
    dtype: str,
) -> Tensor:
    """The output in its layout, each element one sum over channels of a group and taps."""
    groups, spatial = convolution.groups, convolution.spatial
    data_extents = convolution.data.extents(data.shape)
    taps = convolution.kernel.extents(kernel.shape)
    analyzer = tvm_api.analyzer()
    group_channels = analyzer.simplify(tvm_api.floordiv(taps["I"], groups))
    channel = te.reduce_axis((0, tvm_api.at_least_one(group_channels)), name="c")
    tap = [te.reduce_axis((0, taps[axis]), name=f"k{axis.lower()}") for axis in spatial]

    def element(*position: Any) -> Any:
        at = convolution.out.logical(position)
        group = tvm_api.floordiv(at["C"], taps["O"]) if groups > 1 else 0
        kernel_at = {"I": group * group_channels + channel.var, "O": at["C"] - group * taps["O"]}
        data_at = {"N": at["N"], "C": kernel_at["I"]}
        inside = [channel.var < group_channels]
        for axis, window, k in zip(spatial, convolution.windows, tap, strict=True):
            scaled = at[axis] + window.pad_begin - k.var * window.dilation
            data_at[axis] = tvm_api.floordiv(scaled, window.stride)
            kernel_at[axis] = k.var
            inside += [
                scaled >= 0,
                tvm_api.equal(tvm_api.floormod(scaled, window.stride), 0),
                data_at[axis] < data_extents[axis],
            ]
        product = data(*convolution.data.storage(data_at)).astype(dtype) * kernel(
            *convolution.kernel.storage(kernel_at)
        ).astype(dtype)
        guarded = tirx.if_then_else(tirx.all(*inside), product, tirx.const(0, dtype))
        return te.sum(guarded, axis=[channel, *tap])

    return te.compute(out_shape, element, name="conv_transpose")


FIXES = tuple(
    Fix(
        name=f"conv{rank}d_transpose",
        operators=(f"relax.nn.conv{rank}d_transpose",),
        fault=(
            "the legalization returns the call as it was for any data, kernel or output layout"
            " but the canonical one, packed ones included (and up to 0.26 for any dilation);"
            " it lowers parameters that leave an output of size zero or less"
        ),
        issue="apache/tvm#19694",
        needed=lambda rank=rank: not conv_transpose_is_lowered(rank),  # type: ignore[misc]
        attributes=legalization(f"relax.nn.conv{rank}d_transpose", _lower(rank)),
    )
    for rank in (1, 2, 3)
)
