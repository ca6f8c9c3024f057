"""Convolutions in the dtype of their operands, of one sample too, with paddings by name."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from tvm import relax

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework.fix import FaultPart, Fix
from relaxcheck.fixes.framework.patch import NewFile
from relaxcheck.fixes.frontends.torch import operands
from relaxcheck.fixes.frontends.torch.converting import Convert, Node, patch, rebindings
from relaxcheck.fixes.frontends.torch.probing import differs
from relaxcheck.fixes.tvm_api import Expr

UPSTREAM = NewFile("relax/frontend/torch/convolution.py")

_SPATIAL = {1: "W", 2: "HW", 3: "DHW"}


def convert_convolution(node: Node) -> Expr:
    """A convolution, or a transposed one, of 1 to 3 spatial axes."""
    name = node.operator.partition(".")[0]
    transposes = "transpose" in name or (name == "convolution" and node.argument("transposed"))
    data, weight, bias = (node.argument(each) for each in ("input", "weight", "bias"))
    rank = operands.rank_of(weight) - 2
    alone = operands.rank_of(data) == rank + 1
    if alone:
        data = node.emit(relax.op.expand_dims(data, 0))
    stride, dilation = (_each(node.argument(each), rank) for each in ("stride", "dilation"))
    settings: dict[str, Any] = {
        "strides": stride,
        "dilation": dilation,
        "groups": node.argument("groups"),
        "data_layout": f"NC{_SPATIAL[rank]}",
        "kernel_layout": f"{'IO' if transposes else 'OI'}{_SPATIAL[rank]}",
        "out_dtype": node.dtype,
    }
    kernel = [tvm_api.as_int(size) for size in tvm_api.shape_of(weight)[2:]]
    settings["padding"] = _padding(node.argument("padding"), kernel, dilation)
    beyond = [0] * rank
    if transposes:
        extra = _each(node.argument("output_padding"), rank)
        if all(more < step for more, step in zip(extra, stride, strict=True)):
            settings["output_padding"] = extra
        else:
            settings["padding"], beyond = _cropped(settings["padding"], extra)
    convolve = getattr(relax.op.nn, f"conv{rank}d{'_transpose' if transposes else ''}")
    result = node.emit(convolve(data, weight, **settings))
    if any(beyond):
        widths = [0] * 4 + [width for count in beyond for width in (0, count)]
        result = node.emit(relax.op.nn.pad(result, widths))
    if bias is not None:
        shaped = operands.reshaped(node, bias, [1, tvm_api.shape_of(bias)[0], *[1] * rank])
        result = node.emit(relax.op.add(result, shaped))
    return node.emit(relax.op.squeeze(result, [0])) if alone else result


def _each(value: Any, rank: int) -> list[int]:
    """``value`` for each spatial axis."""
    several = [int(each) for each in value] if isinstance(value, list | tuple) else [int(value)]
    return several * rank if len(several) == 1 else several


def _cropped(padding: Sequence[int], extra: Sequence[int]) -> tuple[list[int], list[int]]:
    """The ``padding`` of a transposed convolution, and the rows of 0 behind the result.

    The elements that ``extra`` adds behind each axis are those that the padding there cuts off,
    and then 0. PyTorch takes it up to the dilation, TVM below the stride alone.
    """
    rank = len(extra)
    behind = [max(cut - more, 0) for cut, more in zip(padding[rank:], extra, strict=True)]
    beyond = [max(more - cut, 0) for cut, more in zip(padding[rank:], extra, strict=True)]
    return [*padding[:rank], *behind], beyond


def _padding(padding: Any, kernel: Sequence[int | None], dilation: Sequence[int]) -> list[int]:
    """The padding before, then behind each axis; that of ``"same"`` is larger behind it."""
    if padding == "valid":
        return [0] * (2 * len(kernel))
    if padding != "same":
        return _each(padding, len(kernel)) * 2
    totals = []
    for size, gap in zip(kernel, dilation, strict=True):
        assert size is not None, "kernels are static"
        totals.append(gap * (size - 1))
    return [total // 2 for total in totals] + [total - total // 2 for total in totals]


CONVERSIONS: dict[str, Convert] = dict.fromkeys(
    (
        "convolution.default",
        *(f"conv{rank}d.{kind}" for rank in (1, 2, 3) for kind in ("default", "padding")),
        *("conv_transpose1d.default", "conv_transpose2d.input", "conv_transpose3d.input"),
    ),
    convert_convolution,
)

_DATA = np.array([[[0.1, 2, 3, -1]]])
_KERNEL = np.array([[[1, 0.1]]])

FIX = Fix(
    name="torch_convolution",
    operators=tuple(CONVERSIONS),
    fault=(
        "convolutions of PyTorch programs become float32; single samples, volumes and output"
        " paddings up to the dilation fail"
    ),
    issue=None,
    parts=(
        FaultPart("float64", partial(differs, "conv1d.default", _DATA, _KERNEL)),
        FaultPart(
            "one sample",
            partial(differs, "conv1d.default", np.float32(_DATA[0]), np.float32(_KERNEL)),
        ),
        FaultPart(
            "volumes",
            partial(
                differs,
                "conv_transpose3d.input",
                np.float32(_DATA[..., None, None]),
                np.float32(_KERNEL[..., None, None]),
            ),
        ),
        FaultPart(
            "output padding",
            partial(
                differs,
                "conv_transpose1d.default",
                np.float32(_DATA[0]),
                np.float32(_KERNEL),
                output_padding=[1],
                dilation=[2],
            ),
        ),
    ),
    rebindings=rebindings(CONVERSIONS),
    after="torch_products",
    patch=patch(CONVERSIONS),
)
