"""Transposed convolution in every layout and with every dilation.

TVM lowers conv1d/2d/3d_transpose only if data, kernel and output are in its canonical layouts, and
otherwise returns the call unchanged. It accepts parameters that leave no output.

Semantics: output element o of an axis is the sum over inputs i and taps k with ``i*stride +
k*dilation - pad_begin == o``. The size of the output is ``(in - 1)*stride - pad_begin - pad_end +
dilation*(k - 1) + 1 + output_padding`` (Dumoulin and Visin, "A guide to convolution arithmetic for
deep learning", 2016; output padding extends the end, as in PyTorch's ``ConvTranspose2d``). Each
output element gathers its terms, which needs no dilated copy of data or kernel and no read out of
bounds.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
from tvm import relax, te, tirx

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework import probes
from relaxcheck.fixes.framework.fix import FaultPart, Fix, legalization, require_shapes
from relaxcheck.fixes.framework.patch import Lowering, NewFile
from relaxcheck.fixes.framework.requirements import Requirement, call_te
from relaxcheck.fixes.lowerings.convolution.arguments import (
    SPATIAL,
    Convolution,
    check_dtypes,
    read,
    requirements,
)
from relaxcheck.fixes.tvm_api import BlockBuilder, Call, Expr, Legalization, PrimExpr, Tensor

UPSTREAM = NewFile(
    "relax/transform/legalize_ops/conv_transpose.py",
    """Transposed convolution in every layout and with every dilation.

Output element o of an axis is the sum over inputs i and taps k with
``i*stride + k*dilation - pad_begin == o``. It is computed by gathering, so that no dilated copy of
data or kernel is made and no read is out of bounds.
""",
)


def _lower(rank: int) -> Legalization:
    def lower(builder: BlockBuilder, call: Call) -> Expr:
        require_shapes(call)
        attributes = tvm_api.attribute_values(call.attrs)
        convolution = read(str(call.op.name), attributes, SPATIAL[rank])
        check_dtypes(convolution.operator, *call.args)
        dtype = tvm_api.dtype_of(call)

        def require(data: Tensor, kernel: Tensor, _: object) -> Iterator[Requirement]:
            return requirements(convolution, data.shape, kernel.shape)

        def compute(data: Tensor, kernel: Tensor, shape: Sequence[PrimExpr]) -> Tensor:
            return _compute(data, kernel, shape, convolution, dtype)

        return call_te(builder, call, require, compute, *call.args, tvm_api.shape_of(call))

    return lower


def _compute(
    data: Tensor,
    kernel: Tensor,
    out_shape: Sequence[PrimExpr],
    convolution: Convolution,
    dtype: str,
) -> Tensor:
    """The output in its layout; each element is one sum over taps and the channels of a group."""
    groups, spatial = convolution.groups, convolution.spatial
    data_extents = convolution.data.extents(data.shape)
    taps = convolution.kernel.extents(kernel.shape)
    analyzer = tvm_api.analyzer()
    group_channels = analyzer.simplify(tvm_api.floordiv(taps["I"], groups))
    channel = te.reduce_axis((0, tvm_api.at_least_one(group_channels)), name="c")
    # Without output channels nothing is computed, but division by zero is still an error.
    outs = 1 if tvm_api.as_int(taps["O"]) == 0 else taps["O"]
    tap = [te.reduce_axis((0, taps[axis]), name=f"k{axis.lower()}") for axis in spatial]

    def element(*position: Any) -> Any:
        at = convolution.out.logical(position)
        group = tvm_api.floordiv(at["C"], outs) if groups > 1 else 0
        kernel_at = {"I": group * group_channels + channel.var, "O": at["C"] - group * taps["O"]}
        data_at = {"N": at["N"], "C": kernel_at["I"]}
        inside = [channel.var < group_channels]
        for axis, window, reverse in zip(spatial, convolution.windows, tap, strict=True):
            # From the last tap to the first: FlattenBuffer rewrites (3 - k) // 2 to 1 + k // -2.
            k = taps[axis] - 1 - reverse.var
            scaled = at[axis] + window.pad_begin - k * window.dilation
            data_at[axis] = tvm_api.floordiv(scaled, window.stride)
            kernel_at[axis] = k
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


def _lacks(probe: Callable[[int], bool], rank: int) -> bool:
    return not probe(rank)


def computes_dilation(rank: int) -> bool:
    """True if a dilated convolution in canonical layouts is computed."""
    data, kernel = sample_operands(rank)
    call = sample_call(rank, data.shape, kernel.shape, dilation=(2,) * rank)
    return probes.computes(call, (data, kernel), _expected_output(data, kernel, 2))


def computes_data_layouts(rank: int) -> bool:
    """True if data and output with channels last are computed."""
    return _computes_in(rank, data_layout=f"N{SPATIAL[rank]}C")


def computes_kernel_layouts(rank: int) -> bool:
    """True if a kernel with output channels first is computed."""
    return _computes_in(rank, kernel_layout=f"OI{SPATIAL[rank]}")


def computes_output_layouts(rank: int) -> bool:
    """True if an output in another layout than the data is computed."""
    return _computes_in(rank, out_layout=f"N{SPATIAL[rank]}C")


def computes_packed_layouts(rank: int) -> bool:
    """True if packed data, output and kernel are computed, and a packed output alone is lowered."""
    spatial = SPATIAL[rank]
    data, kernel = sample_operands(rank)
    alone = sample_call(rank, data.shape, kernel.shape, out_layout=f"NC{spatial}2c")
    packed = {"data_layout": f"NC{spatial}2c", "kernel_layout": f"IO{spatial}2i"}
    return probes.is_lowered(alone) and _computes_in(rank, **packed)


def computes_groups_of_symbols(rank: int) -> bool:
    """True if groups of a symbolic number of channels are computed."""
    data, kernel = sample_operands(rank)
    channels = tvm_api.shape_var("channels")
    call = sample_call(
        rank,
        (1, channels, *data.shape[2:]),
        (channels, 2, *kernel.shape[2:]),
        groups=2,
    )
    halves = [_expected_output(data[:, i : i + 1], kernel[i : i + 1], 1) for i in (0, 1)]
    return probes.computes(call, (data, kernel), np.concatenate(halves, axis=1))


def initializes_sums(rank: int) -> bool:
    """True if the output is initialized without input channels."""
    spatial = (3,) * rank
    return probes.sums_are_initialized(sample_call(rank, (1, 0, *spatial), (0, 2, *spatial)))


def refuses_empty_outputs(rank: int) -> bool:
    """True if calls whose output would have a size of 0 or less are not lowered."""

    def accepted(padding: int) -> bool:
        try:
            call = sample_call(
                rank, (1, 2, *(3,) * rank), (2, 2, *(2,) * rank), padding=(padding,) * rank
            )
        except Exception:
            return False
        return probes.is_lowered(call)

    # (3 - 1) - 2*padding + 1 + 1
    return not any(map(accepted, (2, 3)))


def sample_call(rank: int, data: probes.Shape, kernel: probes.Shape, **attributes: object) -> Call:
    """The call of a transposed convolution with ``rank`` spatial axes."""
    operator = getattr(relax.op.nn, f"conv{rank}d_transpose")
    return probes.one_call(lambda *tensors: operator(*tensors, **attributes), data, kernel)


def sample_operands(rank: int) -> tuple[probes.Array, probes.Array]:
    """Random data (1, 2, 3, …) and kernel (2, 2, 2, …) in canonical layouts."""
    generator = np.random.default_rng(0)
    shapes = ((1, 2, *(3,) * rank), (2, 2, *(2,) * rank))
    data, kernel = (generator.integers(-4, 5, shape).astype("float32") for shape in shapes)
    return data, kernel


def _expected_output(data: probes.Array, kernel: probes.Array, dilation: int) -> probes.Array:
    """The output in the canonical layout, scattered tap by tap."""
    extents, taps = data.shape[2:], kernel.shape[2:]
    sizes = (extent + dilation * (k - 1) for extent, k in zip(extents, taps, strict=True))
    output = np.zeros((data.shape[0], kernel.shape[1], *sizes))
    for at in np.ndindex(*taps):
        reached: tuple[Any, ...] = tuple(
            slice(dilation * k, dilation * k + extent)
            for k, extent in zip(at, extents, strict=True)
        )
        output[..., *reached] += np.einsum("nc...,co->no...", data, kernel[..., *at])
    return output


def _computes_in(rank: int, **layouts: str) -> bool:
    """True if the convolution in ``layouts``, else canonical ones, is computed."""
    data, kernel = sample_operands(rank)
    spatial = SPATIAL[rank]
    data_layout = layouts.get("data_layout", f"NC{spatial}")
    expected = _expected_output(data, kernel, 1)
    data = arranged(data, f"NC{spatial}", data_layout)
    kernel = arranged(kernel, f"IO{spatial}", layouts.get("kernel_layout", f"IO{spatial}"))
    call = sample_call(rank, data.shape, kernel.shape, **layouts)
    return probes.computes(
        call,
        (data, kernel),
        arranged(expected, f"NC{spatial}", layouts.get("out_layout", data_layout)),
    )


def arranged(array: probes.Array, axes: str, layout: str) -> probes.Array:
    """``array``, whose axes are ``axes``, in ``layout``, whose last axis may be a packed ``2c``."""
    if layout[-1].islower():
        at = axes.index(layout[-1].upper())
        packed = array.reshape(*array.shape[:at], -1, 2, *array.shape[at + 1 :])
        return np.moveaxis(packed, at + 1, -1)
    return array.transpose([axes.index(letter) for letter in layout])


FIXES = tuple(
    Fix(
        name=f"conv{rank}d_transpose",
        operators=(f"relax.nn.conv{rank}d_transpose",),
        fault=(
            "layouts other than the canonical ones, packed ones included, and, as first reported,"
            " dilation are left unlowered without an error; groups of a symbolic number of channels"
            " fail in a Python comparison; parameters that leave an output of size 0 or less are"
            " lowered; without input channels the output is never written"
        ),
        issue="apache/tvm#19694",
        parts=tuple(
            FaultPart(name, partial(_lacks, probe, rank))
            for name, probe in (
                ("data layouts", computes_data_layouts),
                ("kernel layouts", computes_kernel_layouts),
                ("output layouts", computes_output_layouts),
                ("packed layouts", computes_packed_layouts),
                ("groups of symbols", computes_groups_of_symbols),
                ("outputs without elements", refuses_empty_outputs),
                ("empty axes", initializes_sums),
                ("dilation", computes_dilation),
            )
        ),
        attributes=legalization(f"relax.nn.conv{rank}d_transpose", _lower(rank)),
        after="conv_transpose_arguments" if rank == 1 else f"conv{rank - 1}d_transpose",
        patch=(Lowering(f"relax.nn.conv{rank}d_transpose", _lower, str(rank)),),
    )
    for rank in SPATIAL
)
