"""Convolution in every layout.

TOPI takes the spatial axes of data, kernel and parameters in the order in which each layout has
them: between NCWH data and an OIHW kernel it swaps height and width. The result has a wrong shape
or wrong values, or an error speaks of a negative shape. Calls whose layouts are packed, or whose
output has another layout than the data, are left unlowered without an error. Such calls are
computed here; TVM lowers all others.

Semantics: output element o of an axis is the sum over the taps k of the data at ``o*stride +
k*dilation - pad_begin`` times the kernel at k; data outside count as zeros. The size of the output
is ``(in + pad_begin + pad_end - dilation*(k - 1) - 1) // stride + 1`` (PyTorch's ``Conv2d``, ONNX
Conv-22).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from tvm import relax, te, tirx

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework import probes
from relaxcheck.fixes.framework.fix import LEGALIZE, FaultPart, Fix, OperatorAttribute, invalid
from relaxcheck.fixes.framework.patch import NewFile, Wrapping
from relaxcheck.fixes.framework.requirements import Requirement, call_te
from relaxcheck.fixes.lowerings.convolution import layouts
from relaxcheck.fixes.lowerings.convolution.arguments import SPATIAL
from relaxcheck.fixes.lowerings.convolution.layouts import Layout
from relaxcheck.fixes.lowerings.convolution.transposed import arranged
from relaxcheck.fixes.tvm_api import BlockBuilder, Call, Expr, Legalization, PrimExpr, Tensor

UPSTREAM = NewFile(
    "relax/transform/legalize_ops/conv.py",
    """Convolution in every layout.

Output element o of an axis is the sum over the taps k of the data at
``o*stride + k*dilation - pad_begin`` times the kernel at k; data outside count as zeros.
""",
)

OPERATORS = tuple(f"relax.nn.conv{rank}d" for rank in SPATIAL)


@dataclass(frozen=True, slots=True)
class _Window:
    """The parameters along one spatial axis."""

    stride: int
    dilation: int
    pad_begin: int
    pad_end: int

    def size(self, extent: PrimExpr, taps: PrimExpr) -> PrimExpr:
        """The size of the output, for inputs of size ``extent`` and ``taps`` kernel taps."""
        free = extent + self.pad_begin + self.pad_end - self.dilation * (taps - 1) - 1
        return tvm_api.floordiv(free, self.stride) + 1


@dataclass(frozen=True, slots=True)
class _Convolution:
    """The parsed attributes of a call."""

    operator: str
    spatial: str
    windows: tuple[_Window, ...]
    groups: int
    data: Layout
    kernel: Layout
    out: Layout


def _read(operator: str, attributes: Mapping[str, Any]) -> _Convolution:
    """Parse the attributes of a call.

    Raises:
        ValueError: a stride is less than 1, a dilation less than 0, or a layout is invalid.
    """
    numbers = {
        name: [int(value) for value in attributes[name]]
        for name in ("strides", "dilation", "padding")
    }
    strides, dilation, padding = numbers.values()
    for name, lowest in (("strides", 1), ("dilation", 0)):
        if min(numbers[name]) < lowest:
            raise invalid(operator, f"a number is less than {lowest}", **{name: numbers[name]})
    rank = len(strides)
    windows = zip(strides, dilation, padding[:rank], padding[rank:], strict=True)

    def layout(name: str, letters: str) -> Layout:
        text = str(attributes[name])
        try:
            return layouts.parse(text, letters + SPATIAL[rank])
        except ValueError as error:
            raise invalid(operator, str(error), **{name: text}) from error

    return _Convolution(
        operator,
        SPATIAL[rank],
        tuple(_Window(*window) for window in windows),
        int(attributes["groups"]),
        layout("data_layout", "NC"),
        layout("kernel_layout", "OI"),
        layout("out_layout", "NC"),
    )


def _in_every_layout(original: Legalization) -> Legalization:
    """``original``, except for layouts that TOPI does not have, or mistakes for others."""

    def lower(builder: BlockBuilder, call: Call) -> Expr:
        convolution = _read(str(call.op.name), tvm_api.attribute_values(call.attrs))
        if _is_right_in_topi(convolution):
            return original(builder, call)
        dtype = tvm_api.dtype_of(call)

        def require(data: Tensor, kernel: Tensor, _: object) -> Iterator[Requirement]:
            return _requirements(convolution, data.shape, kernel.shape)

        def compute(data: Tensor, kernel: Tensor, shape: Sequence[PrimExpr]) -> Tensor:
            return _compute(data, kernel, shape, convolution, dtype)

        return call_te(builder, call, require, compute, *call.args, tvm_api.shape_of(call))

    return lower


def _is_right_in_topi(convolution: _Convolution) -> bool:
    """True if no layout is packed, data and output have the same, and spatial axes are in order."""

    def order(layout: Layout) -> str:
        return "".join(axis for axis, _ in layout.axes if axis in convolution.spatial)

    return convolution.out.text == convolution.data.text and all(
        order(layout) == convolution.spatial and not any(split for _, split in layout.axes)
        for layout in (convolution.data, convolution.kernel)
    )


def _requirements(
    convolution: _Convolution, data_shape: Sequence[PrimExpr], kernel_shape: Sequence[PrimExpr]
) -> Iterator[Requirement]:
    """Requirements on the shapes of data and kernel, in their layouts."""
    groups = convolution.groups
    for name, layout, shape in (
        ("data_layout", convolution.data, data_shape),
        ("kernel_layout", convolution.kernel, kernel_shape),
    ):
        for (axis, split), extent in zip(layout.axes, shape, strict=True):
            if split:
                why = f"axis {axis.lower()} has extent {tvm_api.show(extent)}"
                yield Requirement(tvm_api.equal(extent, split), why, {name: layout.text})
    data, kernel = convolution.data.extents(data_shape), convolution.kernel.extents(kernel_shape)
    inputs = tvm_api.analyzer().simplify(kernel["I"] * groups)
    yield Requirement(
        tvm_api.equal(data["C"], inputs),
        f"data has {tvm_api.show(data['C'])} channels, {groups} groups of the kernel"
        f" {tvm_api.show(inputs)}",
        {"data_layout": convolution.data.text, "kernel_layout": convolution.kernel.text},
    )
    yield Requirement(
        tvm_api.equal(tvm_api.floormod(kernel["O"], groups), 0),
        f"{tvm_api.show(kernel['O'])} output channels are not divisible",
        {"groups": groups},
    )
    out = {"N": data["N"], "C": kernel["O"]}
    for axis, window in zip(convolution.spatial, convolution.windows, strict=True):
        why = f"the kernel has {tvm_api.show(kernel[axis])} taps along {axis}, not at least 1"
        yield Requirement(kernel[axis] >= 1, why, {"kernel_layout": convolution.kernel.text})
        out[axis] = tvm_api.analyzer().simplify(window.size(data[axis], kernel[axis]))
        why = f"the output dimension {axis} would be {tvm_api.show(out[axis])}, not at least 1"
        yield Requirement(
            out[axis] >= 1,
            why,
            {"padding": [window.pad_begin, window.pad_end], "dilation": window.dilation},
        )
    for axis, extent in out.items():
        factor = convolution.out.factor(axis)
        why = f"the factor {factor} does not divide {axis} = {tvm_api.show(extent)}"
        remainder = tvm_api.floormod(extent, factor)
        yield Requirement(tvm_api.equal(remainder, 0), why, {"out_layout": convolution.out.text})


def _compute(
    data: Tensor,
    kernel: Tensor,
    out_shape: Sequence[PrimExpr],
    convolution: _Convolution,
    dtype: str,
) -> Tensor:
    """The output in its layout; each element is one sum over taps and the channels of a group."""
    groups, spatial = convolution.groups, convolution.spatial
    extents = convolution.data.extents(data.shape)
    taps = convolution.kernel.extents(kernel.shape)
    analyzer = tvm_api.analyzer()
    inputs = analyzer.simplify(taps["I"])
    channel = te.reduce_axis((0, tvm_api.at_least_one(inputs)), name="c")
    outs = tvm_api.at_least_one(analyzer.simplify(tvm_api.floordiv(taps["O"], groups)))
    tap = [te.reduce_axis((0, taps[axis]), name=f"k{axis.lower()}") for axis in spatial]

    def element(*position: Any) -> Any:
        at = convolution.out.logical(position)
        group = tvm_api.floordiv(at["C"], outs) if groups > 1 else 0
        kernel_at = {"O": at["C"], "I": channel.var}
        data_at = {"N": at["N"], "C": group * inputs + channel.var}
        # Without input channels the sum is 0; its axis has an element for it to be written.
        inside = [] if tvm_api.proves(inputs >= 1) else [channel.var < inputs]
        for axis, window, k in zip(spatial, convolution.windows, tap, strict=True):
            kernel_at[axis] = k.var
            data_at[axis] = at[axis] * window.stride + k.var * window.dilation - window.pad_begin
            if window.pad_begin > 0:
                inside.append(data_at[axis] >= 0)
            if window.pad_end > 0:
                inside.append(data_at[axis] < extents[axis])
        product = data(*convolution.data.storage(data_at)).astype(dtype) * kernel(
            *convolution.kernel.storage(kernel_at)
        ).astype(dtype)
        if inside:
            product = tirx.if_then_else(tirx.all(*inside), product, tirx.const(0, dtype))
        return te.sum(product, axis=[channel, *tap])

    return te.compute(out_shape, element, name="conv")


def computes_orders(rank: int) -> bool:
    """True if data and kernels whose spatial axes are in reverse order are computed."""
    reverse = SPATIAL[rank][::-1]
    return _computes_in(rank, data_layout=f"NC{reverse}") and _computes_in(
        rank, kernel_layout=f"OI{reverse}"
    )


def computes_output_layouts(rank: int) -> bool:
    """True if an output in another layout than the data is computed."""
    return _computes_in(rank, out_layout=f"N{SPATIAL[rank]}C")


def computes_packed_layouts(rank: int) -> bool:
    """True if packed data and output, a packed kernel, and a packed output alone are computed."""
    spatial = SPATIAL[rank]
    return all(
        _computes_in(rank, **packed)
        for packed in (
            {"data_layout": f"NC{spatial}2c"},
            {"kernel_layout": f"OI{spatial}2i"},
            {"out_layout": f"NC{spatial}2c"},
        )
    )


def _computes_in(rank: int, **chosen: str) -> bool:
    """True if the convolution in the ``chosen`` layouts, else canonical ones, is computed."""
    generator = np.random.default_rng(0)
    # All extents differ but for the channels, so that swapped axes show.
    shapes = ((1, 2, 3, 4, 5)[: rank + 2], (2, 2, 2, 1, 3)[: rank + 2])
    data, kernel = (generator.integers(-4, 5, shape).astype("float32") for shape in shapes)
    spatial = SPATIAL[rank]
    plain = {"data_layout": f"NC{spatial}", "kernel_layout": f"OI{spatial}"}
    asked = {**plain, "out_layout": chosen.get("data_layout", plain["data_layout"]), **chosen}
    expected = arranged(_expected_output(data, kernel), f"NC{spatial}", asked["out_layout"])
    data = arranged(data, f"NC{spatial}", asked["data_layout"])
    kernel = arranged(kernel, f"OI{spatial}", asked["kernel_layout"])
    operator = getattr(relax.op.nn, f"conv{rank}d")
    call = probes.one_call(lambda *tensors: operator(*tensors, **chosen), data.shape, kernel.shape)
    return probes.computes(call, (data, kernel), expected)


def _expected_output(data: probes.Array, kernel: probes.Array) -> probes.Array:
    """The output without padding in the canonical layout, window by window."""
    taps = kernel.shape[2:]
    sizes = [extent - k + 1 for extent, k in zip(data.shape[2:], taps, strict=True)]
    output = np.zeros((data.shape[0], kernel.shape[0], *sizes))
    for at in np.ndindex(*sizes):
        window: tuple[Any, ...] = tuple(
            slice(start, start + k) for start, k in zip(at, taps, strict=True)
        )
        summed = range(1, kernel.ndim)
        output[..., *at] = np.tensordot(data[..., *window], kernel, (summed, summed))
    return output


def _lacks(probe: Any, *ranks: int) -> bool:
    return not all(map(probe, ranks))


FIX = Fix(
    name="convolution_layouts",
    operators=OPERATORS,
    fault=(
        "convolutions whose layouts have the spatial axes in another order get a wrong shape, wrong"
        " values or an error about another one; packed layouts, and an output in another layout"
        " than the data, are left unlowered without an error"
    ),
    issue=None,
    parts=(
        FaultPart("orders of spatial axes", partial(_lacks, computes_orders, 2, 3)),
        FaultPart("output layouts", partial(_lacks, computes_output_layouts, *SPATIAL)),
        FaultPart("packed layouts", partial(_lacks, computes_packed_layouts, *SPATIAL)),
    ),
    attributes=tuple(OperatorAttribute(name, LEGALIZE, _in_every_layout) for name in OPERATORS),
    after="conv3d_transpose",
    patch=tuple(Wrapping(name, _in_every_layout) for name in OPERATORS),
)
