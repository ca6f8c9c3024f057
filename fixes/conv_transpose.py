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

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from tvm import te, tirx

from fixes import probes_of_convolutions as probes
from fixes import tvm_api
from fixes.conv_transpose_arguments import (
    SPATIAL,
    Convolution,
    check_dtypes,
    read,
    requirements,
)
from fixes.fix import Fix, Part, legalization, require_shapes
from fixes.requirements import Requirement, call_te
from fixes.tvm_api import BlockBuilder, Call, Expr, Legalization, PrimExpr, Tensor


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
    """The output in its layout, each element one sum over channels of a group and taps."""
    groups, spatial = convolution.groups, convolution.spatial
    data_extents = convolution.data.extents(data.shape)
    taps = convolution.kernel.extents(kernel.shape)
    analyzer = tvm_api.analyzer()
    group_channels = analyzer.simplify(tvm_api.floordiv(taps["I"], groups))
    channel = te.reduce_axis((0, tvm_api.at_least_one(group_channels)), name="c")
    # Without output channels nothing is computed, but division by zero is an error even so.
    outs = 1 if tvm_api.as_int(taps["O"]) == 0 else taps["O"]
    tap = [te.reduce_axis((0, taps[axis]), name=f"k{axis.lower()}") for axis in spatial]

    def element(*position: Any) -> Any:
        at = convolution.out.logical(position)
        group = tvm_api.floordiv(at["C"], outs) if groups > 1 else 0
        kernel_at = {"I": group * group_channels + channel.var, "O": at["C"] - group * taps["O"]}
        data_at = {"N": at["N"], "C": kernel_at["I"]}
        inside = [channel.var < group_channels]
        for axis, window, reverse in zip(spatial, convolution.windows, tap, strict=True):
            # From the last tap to the first: FlattenBuffer takes (3 - k) // 2 for 1 + k // -2.
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


FIXES = tuple(
    Fix(
        name=f"conv{rank}d_transpose",
        operators=(f"relax.nn.conv{rank}d_transpose",),
        fault=(
            "the legalization returns the call as it was for any data, kernel or output layout"
            " but the canonical one, packed ones included, and, as first reported, any dilation;"
            " groups of a symbolic number of channels fail in a Python comparison; parameters that"
            " leave an output of size zero or less are lowered; no input channel gives what memory"
            " held"
        ),
        issue="apache/tvm#19694",
        parts=tuple(
            Part(name, partial(_lacks, probe, rank))
            for name, probe in (
                ("data layouts", probes.computes_data_layouts),
                ("kernel layouts", probes.computes_kernel_layouts),
                ("output layouts", probes.computes_output_layouts),
                ("packed layouts", probes.computes_packed_layouts),
                ("groups of symbols", probes.computes_groups_of_symbols),
                ("outputs without elements", probes.refuses_empty_outputs),
                ("empty axes", probes.initializes_sums),
                ("dilation", probes.computes_dilation),
            )
        ),
        attributes=legalization(f"relax.nn.conv{rank}d_transpose", _lower(rank)),
    )
    for rank in SPATIAL
)
